/* fuzz_jobs.c: libFuzzer's door to the jobs: whatever may be asked of a model that opened. The input is a head
   of options, times and weights, and a block behind it. */
#include "use_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 16 + (2 * TIMES + 9) * sizeof(double) };

/* What the boundary lets through: finite times, weights from 0 to SK_CROWD_WEIGHT. */
static double tame(double value, double least, double most) {
  return !(value >= least) ? least : value > most ? most : value;
}

static void read_options(const uint8_t *head, use_options *o) {
  double rest[9];
  size_t i;
  o->loop = (sk_loop)(head[0] % SK_LOOP_COUNT);
  o->rotation = (sk_rotation)(head[1] % SK_ROTATION_COUNT);
  o->result = (sk_result)(head[2] % (SK_PALETTE + 1));
  o->affine = head[3] & 1;
  o->inverse_root = head[4] & 1;
  o->mode = (sk_blend_mode)(head[5] % SK_BLEND_MODE_COUNT);
  o->iterations = head[6] % 12;
  for (i = 0; i < 3; i++) { /* SK_NONE, a joint, or none of a small model's */
    o->joints[i] = head[8 + 2 * i] | head[9 + 2 * i] << 8;
    o->joints[i] = o->joints[i] % (MOST_JOINTS + 2) - 1;
  }
  memcpy(o->times, head + 16, sizeof o->times);
  memcpy(o->weights, head + 16 + sizeof o->times, sizeof o->weights);
  memcpy(rest, head + 16 + sizeof o->times + sizeof o->weights, sizeof rest);
  memcpy(o->targets, rest, sizeof o->targets); /* as they are: validating is what is to be seen */
  o->priority_blend = tame(rest[6], 0.0, 1.0);
  o->soften = isfinite(rest[7]) ? fabs(rest[7]) : 1.0;
  o->tolerance = rest[8];
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
