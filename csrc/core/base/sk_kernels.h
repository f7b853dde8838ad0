/* sk_kernels.h: the table of SIMD kernels, which is all that the plain path knows of them.

   A job of pose/ or skin/ asks sk_kernels_chosen() for the table. Where that is NULL, or where the kernel for its work
   says that it does not fit, the job does the work in plain C, which defines what is right. The kernels stand in
   simd/, above the rooms that call them; this table stands below both, so its functions take types of those rooms,
   of which nothing is needed here but the names. */
#ifndef SK_KERNELS_H
#define SK_KERNELS_H

#include "sk_base.h"

struct sk_sampling;
struct sk_pose;
struct sk_compiled;
struct sk_blend_job;
struct sk_palette_job;
struct sk_crowd_job;
struct sk_crowd_group;
struct sk_influences;
struct sk_deform_block;

/* One constant table for each instruction set (simd/sk_kernel_table.c). Scratch belongs to the caller, is aligned to
   32 bytes and is used by one thread at a time; functions named ..._scratch say how many bytes it takes. */
typedef struct sk_kernels {
  /* One pose of a compiled clip: T, R and S at `time`, in seconds within the clip; weights of morph targets stay.
     Returns false, and writes nothing, where the clip needs more memory than the kernel has on its stack or where
     chains of joints are too deep for float. */
  bool (*sample)(const struct sk_sampling *sampling, double time, struct sk_pose pose);

  /* T, R and S of pose n of the job; weights of morph targets stay. Returns false, and writes nothing, where sources
     of two priorities meet or weights are beyond 1e30. */
  bool (*blend)(const struct sk_blend_job *job, size_t n);

  /* Globals, positions or palettes of poses first to first + count - 1 of a job that samples a compiled clip. The
     scratch serves runs of up to `count` poses. */
  size_t (*palette_scratch)(const struct sk_compiled *compiled, size_t count);
  void (*palette)(const struct sk_palette_job *job, size_t first, size_t count, void *scratch);

  /* The same for poses that are given, or for the rest pose where the job samples no clip; locals too. */
  size_t (*given_scratch)(int32_t joint_count);
  void (*given)(const struct sk_palette_job *job, size_t first, size_t count, void *scratch);

  /* Palettes of a group of instances that blend the same compiled clips. The scratch serves any group of the job; 0
     bytes mean that none of the job's clips is compiled. crowd_begin comes before the first group that uses some
     scratch, which then keeps from group to group what they have in common. */
  size_t (*crowd_scratch)(const struct sk_crowd_job *job);
  void (*crowd_begin)(void *scratch);
  void (*crowd)(const struct sk_crowd_job *job, const struct sk_crowd_group *group, void *scratch);

  /* Points and normals of a block of vertices: by `deform` where the influences keep the mesh's order, by
     `deform_shared` where they regroup vertices that share slots (sk_influences.shares_slots). deform_end comes after the
     blocks of a range that were stored past the caches, and before another thread reads the results; after each block
     it made the whole take two thirds longer. */
  size_t (*deform_scratch)(const struct sk_influences *influences);
  void (*deform)(const struct sk_deform_block *block);
  void (*deform_shared)(const struct sk_deform_block *block);
  void (*deform_end)(void);
} sk_kernels;

/* The kernels of the instruction set in use (sk_simd_chosen), or NULL on the plain path. A job asks anew for each run:
   tests change the set between jobs, but never while one runs. */
const sk_kernels *sk_kernels_chosen(void);

#endif
