/* fuzz_jobs.c: libFuzzer's door to the jobs: whatever may be asked of a model that opened. The input is a head
   of options, times and weights, and a block behind it. */
#include "use_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 8 + 2 * TIMES * sizeof(double) };

/* What the boundary lets through: finite times, weights from 0 to SK_CROWD_WEIGHT. */
static double tame(double value, double least, double most) {
  return !(value >= least) ? least : value > most ? most : value;
}

static void read_options(const uint8_t *head, use_options *o) {
  size_t i;
  o->loop = (sk_loop)(head[0] % SK_LOOP_COUNT);
  o->rotation = (sk_rotation)(head[1] % SK_ROTATION_COUNT);
  o->result = (sk_result)(head[2] % (SK_PALETTE + 1));
  o->affine = head[3] & 1;
  o->inverse_root = head[4] & 1;
  memcpy(o->times, head + 8, sizeof o->times);
  memcpy(o->weights, head + 8 + sizeof o->times, sizeof o->weights);
  for (i = 0; i < TIMES; i++) {
    o->times[i] = isfinite(o->times[i]) ? o->times[i] : 0.0;
    o->weights[i] = tame(o->weights[i], 0.0, SK_CROWD_WEIGHT);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  use_options options;
  void *memory;
  sk_model model;
  sk_error error;
  if (size < HEAD || !(memory = sk_alloc(size - HEAD))) return 0;
  memcpy(memory, data + HEAD, size - HEAD);
  read_options(data, &options);
  if (!sk_model_open(memory, size - HEAD, &model, &error)) use_model(&model, &options);
  sk_free(memory);
  return 0;
}
