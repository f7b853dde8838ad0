/* rummaging_importer.c: an importer that was taken over, as it were, and looks in its heap for what the one before it
   left there, before it leaves something itself. Its error says what it found. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../../csrc/import/sk_import.h"

#define PIECES 8
#define PIECE ((size_t)1 << 20)
#define LEFT ((uint64_t)0x5449534F50584521)

static bool is_lent(const void *at) {
  char line[512];
  FILE *maps = fopen("/proc/self/maps", "r");
  bool found = false;
  while (maps && !found && fgets(line, sizeof line, maps)) {
    size_t from, to;
    found = strstr(line, "skinpy-heap") && sscanf(line, "%zx-%zx", &from, &to) == 2 && (size_t)at >= from &&
            (size_t)at < to;
  }
  if (maps) fclose(maps);
  return found;
}

static size_t count_left(const uint64_t *words) {
  size_t i, count = 0;
  for (i = 0; i < PIECE / sizeof *words; i++) count += words[i] == LEFT;
  return count;
}

static sk_status run(const sk_import_request *request, sk_import_result *result, sk_error *error) {
  uint64_t *pieces[PIECES];
  size_t i, k, left = 0, lent = 0;
  int removed;
  (void)request, (void)result;
  for (i = 0; i < PIECES; i++) {
    if (!(pieces[i] = malloc(PIECE))) return sk_fail_memory(error, PIECE);
    lent += is_lent(pieces[i]);
    left += count_left(pieces[i]);
  }
  for (i = 0; i < PIECES; i++)
    for (k = 0; k < PIECE / sizeof **pieces; k++) pieces[i][k] = LEFT;
  removed = madvise((char *)(((uintptr_t)pieces[1] + 4095) / 4096 * 4096), PIECE / 2, MADV_REMOVE) == 0;
  return sk_fail(error, SK_ERROR_IMPORT, "done: lent %zu left %zu removed %d", lent, left, removed);
}

static sk_status start(const char *const *paths, const sk_import_request *request, sk_error *error) {
  (void)paths, (void)request, (void)error;
  return SK_OK;
}

static size_t appetite(const sk_import_request *request) {
  (void)request;
  return 0;
}

static const char *nothing(void) { return ""; }

const sk_importer *sk_importer_open(void);
const sk_importer *sk_importer_open(void) {
  static const sk_importer importer = {SK_IMPORT_ABI, start, run, free, appetite, nothing, nothing, nothing};
  return &importer;
}
