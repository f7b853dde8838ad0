/* pausing_importer.c: an importer that never ends, and takes no time of the processor. Loaded by the worker in place of
   the true one. */
#include <stdlib.h>
#include <unistd.h>

#include "../../csrc/import/sk_import.h"

static sk_status run(const sk_import_request *request, sk_import_result *result, sk_error *error) {
  (void)request, (void)result, (void)error;
  for (;;) pause();
}

static sk_status start(const char *const *paths, const sk_import_request *request, sk_error *error) {
  (void)paths, (void)request, (void)error;
  return SK_OK;
}

static size_t appetite(const sk_import_request *request) { return request->size; }

static const char *nothing(void) { return ""; }

const sk_importer *sk_importer_open(void);
const sk_importer *sk_importer_open(void) {
  static const sk_importer importer = {SK_IMPORT_ABI, start, run, free, appetite, nothing, nothing, nothing};
  return &importer;
}
