/* memory.c: imports files while one allocation after another fails.

   usage: memory ASSIMP STEP FILE...   Each file is imported with allocation number 1, 1 + STEP, 1 + 2 * STEP, ...
   failing, until no allocation fails any more. Every import must end with SK_ERROR_MEMORY or with a block that opens,
   and must give all memory back. Then the file is imported to a sink, as a worker does: the block must be the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../csrc/import/sk_import.h"

const sk_importer *sk_importer_open(void);

#define TRIES_AFTER_SUCCESS 3 /* an import may succeed although an allocation failed, where the memory was not needed */

/* 1 where the import succeeded, 0 where it said that memory was missing, -1 for everything else. */
static int import_once(const sk_importer *importer, const char *path, long failing) {
  sk_import_request request = {.path = path, .max_influences = 4, .join_vertices = SK_NONE};
  sk_import_result result;
  sk_error error = {SK_OK, ""};
  sk_block block;
  size_t before = sk_bytes_in_use();
  sk_status status;
  sk_fail_allocation(failing);
  status = importer->run(&request, &result, &error);
  sk_fail_allocation(0);
  if (!status) {
    status = sk_block_open(result.block, result.size, &block, &error);
    importer->release(result.block);
    if (!status) status = sk_bytes_in_use() == before ? SK_OK : SK_STATUS_COUNT;
    if (!status) return 1;
  } else if (status == SK_ERROR_MEMORY && sk_bytes_in_use() == before) {
    return 0;
  }
  printf("%s, allocation %ld: status %d, %zu bytes kept: %s\n", path, failing, (int)status,
         sk_bytes_in_use() - before, error.message);
  return -1;
}

/* ---- a block that goes to a sink ----------------------------------------------------------- */

static bool take(void *context, const sk_block_piece *pieces, size_t count, size_t size) {
  char **block = context;
  size_t i, offset = 0;
  *block = sk_alloc(size);
  for (i = 0; *block && i < count; offset += pieces[i].size, i++)
    memcpy(*block + offset, pieces[i].data, pieces[i].size);
  return *block != NULL;
}

/* Whether a sink gets the same block as the caller. */
static bool poured_is_the_same(const sk_importer *importer, const char *path) {
  char *poured_block = NULL;
  const sk_block_sink sink = {take, &poured_block};
  sk_import_request request = {.path = path, .max_influences = 4, .join_vertices = 0};
  sk_import_result whole, poured;
  sk_error error = {SK_OK, ""};
  bool same = !importer->run(&request, &whole, &error);
  request.sink = &sink;
  same = same && !importer->run(&request, &poured, &error) && poured.size == whole.size &&
         !memcmp(poured_block, whole.block, whole.size);
  printf("%s: %zu bytes, %s %s\n", path, same ? whole.size : 0, same ? "the same block" : "another block",
         error.message);
  importer->release(whole.block);
  sk_free(poured_block);
  return same;
}

int main(int count, char **arguments) {
  const sk_importer *importer = sk_importer_open();
  const char *paths[] = {count > 1 ? arguments[1] : NULL, NULL};
  sk_error error = {SK_OK, ""};
  int i, bad = 0;
  if (count < 4 || importer->start(paths, &error)) {
    printf("%s\n", count < 4 ? "usage: memory ASSIMP STEP FILE..." : error.message);
    return 2;
  }
  for (i = 3; i < count; i++) {
    long failing = 1;
    int well = 0;
    while (well < TRIES_AFTER_SUCCESS && !bad) {
      int outcome = import_once(importer, arguments[i], failing);
      well = outcome > 0 ? well + 1 : 0;
      bad |= outcome < 0;
      failing += atol(arguments[2]);
    }
    printf("%s: %ld allocations tried\n", arguments[i], failing);
    bad |= !poured_is_the_same(importer, arguments[i]);
  }
  return bad;
}
