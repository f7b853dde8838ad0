/* fuzz_import.c: libFuzzer's door to the reader of a format, FUZZ_FORMAT, which trusts nothing in a file. What it makes
   of a file must be a block that opens; every refusal is explained, and all memory is given back. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../csrc/import/sk_import.h"

const sk_importer *sk_importer_open(void);
int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *format;

/* The importer wants Assimp to be there, also where it reads a format without it; FUZZ_ASSIMP is its path. */
int LLVMFuzzerInitialize(int *count, char ***arguments) {
  const char *paths[] = {getenv("FUZZ_ASSIMP"), NULL};
  (void)count, (void)arguments;
  format = getenv("FUZZ_FORMAT");
  if (!paths[0] || !format || sk_importer_open()->start(paths, NULL)) abort();
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const sk_importer *importer = sk_importer_open();
  const sk_import_request request = {.bytes = data,
                                     .size = size,
                                     .format = format,
                                     .formats = format,
                                     .max_influences = 4,
                                     .join_vertices = SK_NONE,
                                     .frame = SK_NONE,
                                     .limits = {.nodes = 1000, .depth = 500, .vertices = 100000, .keys = 100000}};
  sk_import_result result;
  sk_error error = {SK_OK, ""};
  sk_block block;
  if (importer->run(&request, &result, &error)) {
    if (strlen(error.message) < 10) abort();
  } else {
    if (sk_block_open(result.block, result.size, &block, &error)) fprintf(stderr, "%s\n", error.message), abort();
    importer->release(result.block);
  }
  if (sk_bytes_in_use()) abort();
  return 0;
}
