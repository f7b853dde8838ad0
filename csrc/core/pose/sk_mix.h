/* sk_mix.h: lays a layer of a player over the poses below it: a job of sk_blend.h whose fades do not jump in time.

      The sources of a layer are generations: what played when a cross-fade began, and what it goes to, which the next
   one may interrupt. The first source of a generation has signs. The result of the generations before and the mean of a
   new one are blended pair by pair (sk_fade.h), by the sums of their weights, so that an interrupted fade goes on from
   the pose that it has reached. T, S and morph weights are thereby what one mean of all sources is. */
#ifndef SK_MIX_H
#define SK_MIX_H

#include "sk_blend.h"
#include "sk_fade.h"

/* Relations of two poses (sk_fade): (2, J, 4), those of the frame before and those of this frame. */
typedef float *sk_signs;

typedef struct sk_mix_layer {
  sk_blend_job blend;    /* of one pose; all sources must hold poses, which are overwritten */
  const sk_signs *signs; /* (K,): of the pair that a source begins; NULL where it belongs to the generation before */
  sk_signs cover;        /* of the layer and what is below it; NULL: the shorter arc */
  const sk_inertia *inertia; /* (3 J + M,): added to the result; or NULL */
  double seconds, span;      /* of the inertia */
} sk_mix_layer;

/* Memory of the caller for the layers of one pose. */
typedef struct sk_mix_scratch {
  sk_pose pose;
  sk_blend_source *sources; /* (K,) */
  double *weights;          /* (K,) */
  float *masks;             /* (4, J) */
} sk_mix_scratch;

/* Runs the job of a layer. */
void sk_mix_run(const sk_mix_layer *layer, const sk_mix_scratch *scratch);

#endif
