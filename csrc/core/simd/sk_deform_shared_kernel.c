/* sk_deform_shared_kernel.c: skins a block of vertices that are regrouped by the slots that they share.

   An octet reads each number of a matrix once for its eight vertices: blended matrices are made where they are used, in
   registers, and only results are transposed. Singles are blended one by one. Then normals are normalized, and in the
   end the results of the block, which are in scratch in the order of lanes, are stored in the order of the mesh. */
#include "sk_deform_kernel.h"

#if SK_HAS_KERNELS

#include <string.h>

SK_KERNEL_BEGIN

/* ---- octets --------------------------------------------------------------------------------------------- */

SK_INLINE void add_row(matrix_row *m, const float *numbers, sk_f8 weight, bool first) {
  if (first) {
    m->x = f8_mul(weight, f8_load_one(numbers));
    m->y = f8_mul(weight, f8_load_one(numbers + 1));
    m->z = f8_mul(weight, f8_load_one(numbers + 2));
    m->w = f8_mul(weight, f8_load_one(numbers + 3));
    return;
  }
  m->x = f8_fma(weight, f8_load_one(numbers), m->x);
  m->y = f8_fma(weight, f8_load_one(numbers + 1), m->y);
  m->z = f8_fma(weight, f8_load_one(numbers + 2), m->z);
  m->w = f8_fma(weight, f8_load_one(numbers + 3), m->w);
}

/* Stores x y z of eight vertices in the layout of sk_octet_offset. */
SK_INLINE void store_octet(char *out, vectors v) { f8_store_cells((float *)out, (const sk_f8[3]){v.x, v.y, v.z}); }

SK_INLINE vectors load_octet(const float *points) {
  return (vectors){f8_load(points), f8_load(points + 8), f8_load(points + 16)};
}

/* Stores points in that layout; normals are stored number by number, with their squared length, to be normalized. */
SK_INLINE void apply_octet(matrix_row m0, matrix_row m1, matrix_row m2, const float *points, char *out, bool normals) {
  vectors p = load_octet(points);
  store_octet(out, (vectors){move(m0, p), move(m1, p), move(m2, p)});
  if (normals) {
    lane_normals t = transform_normals(m0, m1, m2, load_octet(points + 24));
    float *to = (float *)(out + SK_OCTET_BYTES / 2);
    f8_store(to, t.normals.x);
    f8_store(to + 8, t.normals.y);
    f8_store(to + 16, t.normals.z);
    f8_store(to + 24, t.length);
  }
}

/* What advances from octet to octet. */
typedef struct walk {
  const float *palette;
  const uint16_t *codes;
  const float *weights, *points;
  char *out;
  const char *positions, *normals; /* addresses of the block's results that come next for prefetching; NULL: none */
  bool far;
} walk;

#define AHEAD 32 /* octets */

/* Prefetches what will be read AHEAD octets later, which may be behind the last one of the mesh, and where the block's
   results will be stored. A million vertices that no cache holds took a quarter less time. */
SK_INLINE void fetch_ahead(walk *w, uint32_t k) {
  const float *points = w->points + AHEAD * 48, *weights = w->weights + AHEAD * 8 * k;
  uint32_t i;
  for (i = 0; i < 48; i += 16) __builtin_prefetch(points + i, 0, 2);
  for (i = 0; i < k; i += 2) __builtin_prefetch(weights + 8 * i, 0, 2);
  for (i = 0; w->positions && i < 2; i++, w->positions += 48, w->normals += 48) {
    __builtin_prefetch(w->positions, 1);
    __builtin_prefetch(w->normals, 1);
  }
}

/* `k`, `shift` and `normals` are constants where this is inlined. */
SK_INLINE void run_octets(walk *w, size_t count, uint32_t k, unsigned shift, bool normals) {
  for (; count; count--) {
    matrix_row m0, m1, m2;
    uint32_t i;
    if (w->far) fetch_ahead(w, k);
    for (i = 0; i < k; i++) {
      const float *matrix = (const float *)((const char *)w->palette + ((size_t)w->codes[i] << shift));
      sk_f8 weight = f8_load(w->weights + 8 * i);
      add_row(&m0, matrix, weight, i == 0);
      add_row(&m1, matrix + 4, weight, i == 0);
      add_row(&m2, matrix + 8, weight, i == 0);
    }
    apply_octet(m0, m1, m2, w->points, w->out, normals);
    w->codes += k;
    w->weights += 8 * k;
    w->points += 48;
    w->out += SK_OCTET_BYTES;
  }
}

SK_INLINE void run_singles(walk *w, const uint16_t *counts, unsigned shift, bool normals, char *rows) {
  size_t k, count = 0;
  blend_singles(w->codes, w->weights, counts, w->palette, shift, rows);
  for (k = 1; k <= SK_MAX_INFLUENCES; k++) count += counts[k];
  for (; count; count -= 8) {
    apply_octet(load_row(rows), load_row(rows + 128), load_row(rows + 256), w->points, w->out, normals);
    rows += 384;
    w->points += 48;
    w->out += SK_OCTET_BYTES;
  }
}

SK_INLINE void run_all(const sk_deform_block *block, const float *points, unsigned shift, bool normals) {
  const sk_influences *influences = block->influences;
  const sk_influence_block *own = &influences->blocks[block->number];
  walk w = {block->palette,
            influences->codes + own->code,
            influences->weights + own->weight,
            points,
            block->scratch,
            NULL,
            NULL,
            block->store_hint != SK_STORE_CACHED};
  const char *end;
  if (block->store_hint == SK_STORE_PREFETCHED) {
    w.positions = (const char *)block->positions;
    w.normals = normals ? (const char *)block->normals : w.positions;
  }
#define OCTETS(k) run_octets(&w, own->counts.octets[k], k, shift, normals);
  OCTETS(1)
  OCTETS(2)
  OCTETS(3)
  OCTETS(4)
  OCTETS(5)
  OCTETS(6)
  OCTETS(7)
  OCTETS(8)
#undef OCTETS
  run_singles(&w, own->counts.singles, shift, normals, block->scratch + influences->octets * SK_OCTET_BYTES);
  if (!normals) return;
  end = w.out;
  for (w.out = block->scratch; w.out < end; w.out += SK_OCTET_BYTES) {
    char *offset = w.out + SK_OCTET_BYTES / 2;
    const float *kept = (const float *)offset;
    lane_normals t = {load_octet(kept), f8_load(kept + 24)};
    store_octet(offset, unit(t));
  }
}

/* ---- in the order of the mesh --------------------------------------------------------------------------- */

/* Packs four points of 16 bytes, x y z and one number without meaning, into twelve numbers. */
SK_INLINE void pack_four(const char *p, const char *q, const char *r, const char *s, float *out, bool stream) {
  f4_store_packed(out, f4_load((const float *)p), f4_load((const float *)q), f4_load((const float *)r),
                  f4_load((const float *)s), stream);
}

/* `stream` and `normals` are constants where this is inlined. */
SK_INLINE void put_in_order(const sk_deform_block *block, const uint16_t *offsets, bool stream, bool normals) {
  const char *scratch = block->scratch, *normal_scratch = scratch + SK_OCTET_BYTES / 2;
  float *positions = block->positions, *directions = block->normals;
  size_t i, count = block->count, whole = count / 4 * 4;
  for (i = 0; i < whole; i += 4) {
    size_t a = offsets[i], b = offsets[i + 1], c = offsets[i + 2], d = offsets[i + 3];
    pack_four(scratch + a, scratch + b, scratch + c, scratch + d, positions + 3 * i, stream);
    if (normals)
      pack_four(normal_scratch + a, normal_scratch + b, normal_scratch + c, normal_scratch + d, directions + 3 * i,
                stream);
  }
  for (; i < count; i++) {
    memcpy(positions + 3 * i, scratch + offsets[i], 3 * sizeof(float));
    if (normals) memcpy(directions + 3 * i, normal_scratch + offsets[i], 3 * sizeof(float));
  }
}

/* Copies morphed points and normals into the order of lanes. Lanes that repeat a vertex keep the mesh's, because nobody
   reads their results. */
static const float *regroup(const sk_deform_block *block, const float *rest, const uint16_t *offsets, float *points) {
  const sk_influences *influences = block->influences;
  size_t i, octets = sk_lane_count(&influences->blocks[block->number].counts) / 8;
  memcpy(points, rest, octets * 48 * sizeof(float));
  for (i = 0; i < block->count; i++) {
    size_t offset = offsets[i], lane = offset % 128 / 32 + offset % 32 / 16 * 4; /* inverse of sk_octet_offset */
    float *to = points + offset / SK_OCTET_BYTES * 48 + lane;
    const float *point = block->points + 3 * i, *normal = block->directions + 3 * i;
    to[0] = point[0], to[8] = point[1], to[16] = point[2];
    if (block->normals) to[24] = normal[0], to[32] = normal[1], to[40] = normal[2];
  }
  return points;
}

size_t SK_KERNEL(sk_deform_kernel_scratch)(const sk_influences *influences) {
  return influences->octets * SK_OCTET_BYTES + influences->singles * 384 + influences->octets * 48 * sizeof(float);
}

void SK_KERNEL(sk_deform_shared_kernel)(const sk_deform_block *block) {
  const sk_influences *influences = block->influences;
  const uint16_t *offsets = influences->offsets + block->number * SK_SHARED_BLOCK_VERTICES;
  const float *points = influences->points + influences->blocks[block->number].octet * 48;
  if (block->morphed)
    points = regroup(block, points, offsets,
                     (float *)(block->scratch + influences->octets * SK_OCTET_BYTES + influences->singles * 384));
  if (influences->shift == 3) {
    if (block->normals) run_all(block, points, 3, true);
    else run_all(block, points, 3, false);
  } else {
    run_all(block, points, 6, block->normals != NULL);
  }
  if (block->store_hint == SK_STORE_STREAMED) {
    if (block->normals) put_in_order(block, offsets, true, true);
    else put_in_order(block, offsets, true, false);
  } else {
    if (block->normals) put_in_order(block, offsets, false, true);
    else put_in_order(block, offsets, false, false);
  }
}

SK_KERNEL_END

#endif
