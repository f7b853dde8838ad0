/* import_fbx_shape.c: see import_fbx_shape.h. */
#include "import_fbx_shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE 100.0 /* percent at which a shape without neighbors is whole */

/* ---- weights ------------------------------------------------------------------------------------ */

/* How many shapes are whole below the percent. */
static int64_t count_below(const fbx_shape *shapes, int64_t count, double percent) {
  int64_t low = 0, high = count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (shapes[middle].full < percent) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* The shapes between which the percent lies get weights that sum to 1; no shape at 0 % counts as one. Percents beyond
   the last shape belong to the last span, so that its lines go on. */
double fbx_target_weight(const fbx_target *t, double percent) {
  const fbx_shape *shapes = t->shape - t->shape->index;
  int64_t count = t->shape->count, negative = count_below(shapes, count, 0.0),
          below = count_below(shapes, count, percent);
  int64_t from, to; /* shapes of the span, or -1 for no shape */
  double low, high, part;
  if (percent > 0.0) {
    while (below < count && shapes[below].full == percent) below++;
    to = below < count ? below : count - 1;
    from = negative == count ? to : to > negative ? to - 1 : -1;
    if (negative == count) to = -1;
  } else {
    to = below > 0 ? below - 1 : 0;
    from = !negative ? 0 : to + 1 < negative ? to + 1 : -1;
    if (!negative) to = -1;
  }
  low = from < 0 ? 0.0 : shapes[from].full, high = to < 0 ? 0.0 : shapes[to].full;
  part = high != low ? (percent - low) / (high - low) : 1.0; /* of two shapes at one percent, the later one */
  if (to == (int64_t)t->shape->index) return part;
  return from == (int64_t)t->shape->index ? 1.0 - part : 0.0;
}

size_t fbx_corners(const fbx_target *t, double corners[FBX_MAX_CORNERS]) {
  size_t count = 0;
  if (t->shape->count < 2) return 0;
  corners[count++] = 0.0;
  corners[count++] = t->shape->full;
  if (t->shape->index > 0) corners[count++] = t->shape[-1].full;
  if (t->shape->index + 1 < t->shape->count) corners[count++] = t->shape[1].full;
  return count;
}

/* ---- reading -------------------------------------------------------------------------------------- */

/* By the percent at which they are whole; equal ones keep their order. */
static int compare_shapes(const void *a, const void *b) {
  const fbx_shape *x = a, *y = b;
  if (x->full != y->full) return x->full < y->full ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

/* The percents at which the shapes of a channel are whole: one number for each shape. */
static sk_status add_channel(import_job *job, fbx_mesh *mesh, uint32_t channel) {
  const fbx_document *d = &job->fbx->scene.document;
  const fbx_object *object = fbx_object_at(d, channel);
  size_t first = mesh->targets.count, at = 0, count, i;
  fbx_numbers full;
  fbx_shape *shapes;
  uint32_t index;
  sk_status status = fbx_find_numbers(job, &d->file, object->inside, object->inside_end, "FullWeights", &full);
  while (!status && (index = fbx_next_child(d, channel, FBX_SHAPE, &at, NULL)) != FBX_NONE) {
    const fbx_object *shape = fbx_object_at(d, index);
    fbx_shape *added = sk_array_extend(&mesh->targets, 1);
    if (!added) status = import_no_memory(job, sizeof *added);
    else
      *added = (fbx_shape){.channel = channel,
                           .inside = shape->inside,
                           .inside_end = shape->inside_end,
                           .name = shape->name,
                           .name_length = shape->name_length,
                           .full = WHOLE,
                           .count = 1};
  }
  count = mesh->targets.count - first;
  if (!count || status) {
    fbx_free_numbers(&full);
    return status;
  }
  shapes = (fbx_shape *)mesh->targets.data + first;
  for (i = 0; i < count; i++) {
    bool has = i < full.count && full.values[i] != 0.0 && isfinite(full.values[i]);
    if (has && (count > 1 || full.count == 1)) shapes[i].full = full.values[i];
  }
  for (i = 0; i < count; i++) shapes[i].index = (uint32_t)i; /* in the file, until they are sorted */
  if (count > 1) qsort(shapes, count, sizeof *shapes, compare_shapes);
  for (i = 0; i < count; i++) shapes[i].index = (uint32_t)i, shapes[i].count = (uint32_t)count;
  if (count == 1) shapes->name = object->name, shapes->name_length = object->name_length;
  if (count == 1 && full.count > 1) shapes->shares = full;
  else fbx_free_numbers(&full);
  return status;
}

static sk_status add_inner_shapes(import_job *job, fbx_mesh *mesh) {
  const fbx_scene *scene = &job->fbx->scene;
  const fbx_inner_shape *inner = scene->inner_shapes.data;
  size_t i;
  for (i = fbx_first_inner_shape(scene, mesh->object);
       i < scene->inner_shapes.count && inner[i].geometry == mesh->object; i++) {
    fbx_shape *added = sk_array_extend(&mesh->targets, 1);
    if (!added) return import_no_memory(job, sizeof *added);
    *added = (fbx_shape){.channel = (uint32_t)(scene->document.objects.count + i),
                         .inside = inner[i].inside,
                         .inside_end = inner[i].inside_end,
                         .name = inner[i].name,
                         .name_length = inner[i].name_length,
                         .full = WHOLE,
                         .count = 1};
  }
  return SK_OK;
}

sk_status fbx_read_shapes_of(import_job *job, fbx_mesh *mesh) {
  const fbx_document *d = &job->fbx->scene.document;
  size_t at = 0;
  uint32_t blend, channel;
  sk_status status = SK_OK;
  while (!status && (blend = fbx_next_child(d, mesh->object, FBX_BLEND, &at, NULL)) != FBX_NONE) {
    size_t inner = 0;
    while (!status && (channel = fbx_next_child(d, blend, FBX_BLEND_CHANNEL, &inner, NULL)) != FBX_NONE)
      status = add_channel(job, mesh, channel);
  }
  return status ? status : add_inner_shapes(job, mesh);
}

void fbx_free_shapes(fbx_mesh *mesh) {
  size_t i;
  for (i = 0; i < mesh->targets.count; i++) fbx_free_numbers(&((fbx_shape *)mesh->targets.data)[i].shares);
  sk_array_free(&mesh->targets);
}

/* ---- submeshes ------------------------------------------------------------------------------------ */

static const fbx_shape *shape_at(const import_submesh *submesh, uint32_t target) {
  return (const fbx_shape *)submesh->source.mesh->targets.data + target;
}

uint32_t fbx_target_count(const import_job *job, const import_submesh *submesh) {
  (void)job;
  return (uint32_t)submesh->source.mesh->targets.count;
}

/* The rows of a shape by control point: number in its list plus 1, or 0. */
static sk_status index_points(import_job *job, const fbx_mesh *mesh, const fbx_shape *shape, uint32_t *row_of) {
  const fbx_document *d = &job->fbx->scene.document;
  sk_array points = SK_ARRAY(int64_t);
  fbx_record record;
  size_t i;
  sk_status status = SK_OK;
  memset(row_of, 0, fbx_point_count(mesh) * sizeof *row_of);
  if (fbx_find(&d->file, shape->inside, shape->inside_end, "Indexes", &record))
    status = fbx_read_wholes(job, &d->file, &record, &points);
  for (i = 0; i < points.count && i < UINT32_MAX; i++) {
    int64_t point = ((const int64_t *)points.data)[i];
    if (point >= 0 && (uint64_t)point < fbx_point_count(mesh)) row_of[point] = (uint32_t)i + 1;
  }
  sk_array_free(&points);
  return status;
}

/* Differences of a rigid mesh go through its geometric transform, as its positions do. */
static void put_difference(const import_submesh *submesh, const double *from, double share, float *out) {
  const float *m = submesh->own_offset;
  float v[3] = {(float)(from[0] * share), (float)(from[1] * share), (float)(from[2] * share)};
  int i;
  for (i = 0; i < 3; i++)
    out[i] =
        submesh->rigid && submesh->has_own_offset ? m[4 * i] * v[0] + m[4 * i + 1] * v[1] + m[4 * i + 2] * v[2] : v[i];
}

static sk_status read_shape(import_job *job, const import_submesh *submesh, const fbx_shape *shape, uint32_t *row_of,
                            import_shapes *shapes, float *rows) {
  const fbx_document *d = &job->fbx->scene.document;
  const fbx_mesh *mesh = submesh->source.mesh;
  fbx_numbers moved = {0}, normals = {0};
  uint32_t v;
  sk_status status = index_points(job, mesh, shape, row_of);
  if (!status) status = fbx_find_numbers(job, &d->file, shape->inside, shape->inside_end, "Vertices", &moved);
  if (!status) status = fbx_find_numbers(job, &d->file, shape->inside, shape->inside_end, "Normals", &normals);
  for (v = 0; v < submesh->vertex_count && !status; v++, rows += IMPORT_SHAPE_WIDTH) {
    uint32_t row = row_of[fbx_point_of(mesh, submesh->source.part, v)];
    double share = 1.0;
    if (!row--) continue;
    if (row < shape->shares.count) share = shape->shares.values[row] / WHOLE;
    if (3 * (size_t)row + 2 < moved.count) put_difference(submesh, moved.values + 3 * (size_t)row, share, rows);
    if (3 * (size_t)row + 2 < normals.count) put_difference(submesh, normals.values + 3 * (size_t)row, share, rows + 3);
  }
  shapes->has_normals |= normals.count > 0;
  fbx_free_numbers(&moved);
  fbx_free_numbers(&normals);
  return status;
}

sk_status fbx_read_shapes(import_job *job, const import_submesh *submesh, import_shapes *shapes) {
  uint32_t *row_of = sk_alloc((fbx_point_count(submesh->source.mesh) + 1) * sizeof *row_of), t;
  float *rows = shapes->moved;
  sk_status status = row_of ? SK_OK : import_no_memory(job, sizeof *row_of);
  for (t = 0; t < shapes->count && !status; t++) {
    status = read_shape(job, submesh, shape_at(submesh, t), row_of, shapes, rows);
    rows += IMPORT_SHAPE_WIDTH * (size_t)submesh->vertex_count;
  }
  sk_free(row_of);
  return status;
}

static fbx_target target_of(const import_job *job, const fbx_shape *shape) {
  return (fbx_target){shape->channel, fbx_rest_percent(&job->fbx->scene, shape->channel), shape};
}

float fbx_default_weight(const import_job *job, const import_submesh *submesh, uint32_t number) {
  fbx_target target = target_of(job, shape_at(submesh, number));
  float weight = (float)fbx_target_weight(&target, target.rest_percent);
  return import_is_bad(weight) ? 0.0f : weight;
}

bool fbx_name_target(import_job *job, const import_submesh *submesh, uint32_t number, sk_text *name) {
  const fbx_shape *shape = shape_at(submesh, number);
  return sk_text_append(&job->model.text, shape->name, shape->name_length, name);
}

/* The block has the targets of each node once, over all its submeshes, in the order of the submeshes. */
sk_status fbx_list_targets(import_job *job) {
  const sk_target *targets = job->model.targets.data;
  import_fbx *fbx = job->fbx;
  const fbx_mesh *mesh = NULL;
  size_t at = 0, within = 0, i; /* the next child of the node, and the next target of the mesh */
  fbx->targets = SK_ARRAY(fbx_target);
  for (i = 0; i < job->model.targets.count; i++) {
    const fbx_joint *joint = (const fbx_joint *)fbx->joints.data + targets[i].node;
    const fbx_node *node = fbx_node_at(&fbx->scene, (size_t)joint->node);
    uint32_t geometry;
    fbx_target *added = sk_array_extend(&fbx->targets, 1);
    if (!added) return import_no_memory(job, sizeof *added);
    if (i && targets[i - 1].node != targets[i].node) mesh = NULL, at = 0;
    while ((!mesh || within == mesh->targets.count) &&
           (geometry = fbx_next_child(&fbx->scene.document, node->object, FBX_MESH, &at, NULL)) != FBX_NONE)
      mesh = fbx_mesh_of(fbx, geometry), within = 0;
    if (mesh && within < mesh->targets.count) *added = target_of(job, (const fbx_shape *)mesh->targets.data + within++);
    else *added = (fbx_target){.channel = FBX_NONE};
  }
  return SK_OK;
}
