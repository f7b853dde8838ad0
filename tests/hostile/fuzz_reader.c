/* fuzz_reader.c: libFuzzer's door to the reader of blocks, and to all that is done with those that open. */
#include "use_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const use_options options = {.times = {-1.0, 0.0, 0.25, 0.7, 1.2, 2.0, 1e9, 1e300, -1e300},
                                      .weights = {1.0, 0.5, 0.0, 1e-3, 1.0, 2.0, 0.1, 0.2, 0.3},
                                      .result = SK_PALETTE, .affine = true, .inverse_root = true,
                                      .mode = SK_BLEND_OVERRIDE, .priority_blend = 0.25, .joints = {0, 1, 2},
                                      .iterations = 4, .targets = {{1.0, 0.5, 0.0}, {0.0, 0.0, 1.0}},
                                      .soften = 0.9, .tolerance = 1e-3};
  void *memory = sk_alloc(size);
  sk_model model;
  sk_error error;
  if (!memory) return 0;
  memcpy(memory, data, size);
  if (!sk_model_open(memory, size, &model, &error)) use_model(&model, &options);
  else if (error.status != SK_ERROR_BLOCK || strlen(error.message) < 10) abort(); /* every refusal is explained */
  sk_free(memory);
  return 0;
}
