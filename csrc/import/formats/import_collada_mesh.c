/* import_collada_mesh.c: primitives of COLLADA as triangles, and the attributes of their corners.

   A corner of a primitive is a row of indices, one for each offset of its inputs. Corners with the same indices become
   one vertex. */
#include <math.h>
#include <string.h>

#include "../../core/base/sk_math.h"
#include "../import_limit.h"
#include "../import_polygon.h"
#include "import_collada.h"

#define MAX_SHARED \
  64 /* meshes of one primitive, with its skins and sets, that are looked through; others are made anew */

enum { POSITION, NORMAL, TEXCOORD, COLOR, TANGENT, BINORMAL, ATTRIBUTES };

typedef struct primitive { /* one while it is read */
  import_job *job;
  uint32_t element, geometry;
  dae_source sources[ATTRIBUTES]; /* without rows where the mesh has no such attribute */
  uint32_t offsets[ATTRIBUTES];
  uint32_t stride;        /* indices of a corner */
  sk_array indices;       /* uint32_t: of all corners */
  sk_array points;        /* uint32_t: of each corner its position */
  sk_array triangles;     /* uint32_t: corners */
  sk_array first_corners; /* uint32_t: of each vertex */
  size_t lost;            /* faces without all of their corners */
} primitive;

typedef struct part { /* a mesh of the contents, and of what it was made */
  uint32_t skin, morph, set, next; /* next: of the same primitive, plus 1 */
  int32_t mesh;
} part;

bool dae_is_primitive(dae_word word) {
  return word == DAE_triangles || word == DAE_polylist || word == DAE_polygons || word == DAE_tristrips ||
         word == DAE_trifans || word == DAE_lines || word == DAE_linestrips;
}

/* ---- inputs ---------------------------------------------------------------------------------------- */

static int attribute_of(import_span semantic) {
  static const char *const names[] = {"POSITION", "NORMAL", "TEXCOORD", "COLOR", "TEXTANGENT", "TEXBINORMAL"};
  int i;
  for (i = 0; i < ATTRIBUTES; i++)
    if (dae_is(semantic, names[i])) return i;
  if (dae_is(semantic, "TANGENT")) return TANGENT;
  return dae_is(semantic, "BINORMAL") ? BINORMAL : ATTRIBUTES;
}

/* The first input of an attribute counts; of texture coordinates the first of the wanted set. */
static sk_status take_input(primitive *p, uint32_t input, uint32_t offset, uint32_t set, bool *wanted_found) {
  const dae_tree *tree = &p->job->dae->tree;
  int attribute = attribute_of(dae_attribute(tree, input, DAE_semantic));
  uint32_t source;
  bool is_wanted;
  if (attribute == ATTRIBUTES) return SK_OK;
  is_wanted = attribute == TEXCOORD && !*wanted_found && dae_attribute_number(tree, input, DAE_set, 0) == set;
  if (p->sources[attribute].count && (attribute == TEXCOORD || attribute == COLOR))
    import_note_add(p->job, NOTE_attributes_ignored, 1, "%s of geometry '%.*s'",
                    attribute == COLOR ? "further colors" : "further texture coordinates",
                    IMPORT_SHORT(dae_title(tree, p->geometry)));
  if (p->sources[attribute].count && !is_wanted) return SK_OK;
  source = dae_follow_to(p->job, input, DAE_source, DAE_source);
  if (!source) return SK_OK;
  *wanted_found |= is_wanted;
  p->offsets[attribute] = offset;
  return dae_read_source(p->job, source, &p->sources[attribute]);
}

sk_status dae_read_positions(import_job *job, uint32_t geometry, dae_source *positions) {
  const dae_tree *tree = &job->dae->tree;
  uint32_t vertices = dae_child(tree, dae_child(tree, geometry, DAE_mesh), DAE_vertices);
  return dae_read_source(job, dae_input_source(tree, vertices, "POSITION"), positions);
}

static sk_status read_inputs(primitive *p, uint32_t set) {
  const dae_tree *tree = &p->job->dae->tree;
  uint32_t input, child, vertices;
  bool found = false;
  sk_status status = SK_OK;
  for (DAE_EACH(tree, p->element, input)) {
    uint32_t offset;
    if (dae_word_of(tree, input) != DAE_input || status) continue;
    offset = dae_attribute_number(tree, input, DAE_offset, 0);
    if (offset >= 255) continue;
    if (offset >= p->stride) p->stride = offset + 1;
    if (!dae_is(dae_attribute(tree, input, DAE_semantic), "VERTEX")) {
      status = take_input(p, input, offset, set, &found);
      continue;
    }
    vertices = dae_follow_to(p->job, input, DAE_source, DAE_vertices);
    if (!vertices) continue;
    for (DAE_EACH(tree, vertices, child))
      if (dae_word_of(tree, child) == DAE_input && !status) status = take_input(p, child, offset, set, &found);
  }
  return status;
}

/* The wanted set, if the primitive has it; else UINT32_MAX, so that all sets that it lacks are one. */
static uint32_t set_of(const dae_tree *tree, uint32_t element, uint32_t set) {
  uint32_t input;
  for (DAE_EACH(tree, element, input))
    if (dae_word_of(tree, input) == DAE_input && dae_is(dae_attribute(tree, input, DAE_semantic), "TEXCOORD") &&
        dae_attribute_number(tree, input, DAE_set, 0) == set)
      return set;
  return UINT32_MAX;
}

/* ---- corners -------------------------------------------------------------------------------------------- */

/* Appends the indices of a text, and sets which corners these are. Indices of a corner that is not whole are dropped. */
static sk_status read_corners(primitive *p, import_span text, uint32_t *first, uint32_t *count) {
  import_span rest = text;
  size_t room = text.length / 2 + 1, before = p->indices.count, i;
  uint32_t *index = sk_array_room(&p->indices, room), *points, position;
  if (!index) return import_no_memory(p->job, room * sizeof *index);
  p->indices.count = before;
  while (dae_next_index(&rest, index)) index++, p->indices.count++;
  *first = (uint32_t)(before / p->stride);
  *count = (uint32_t)((p->indices.count - before) / p->stride);
  p->indices.count = before + (size_t)*count * p->stride;
  points = sk_array_room(&p->points, *count);
  if (!points) return import_no_memory(p->job, *count * sizeof *points);
  for (i = 0; i < *count; i++) {
    position = ((const uint32_t *)p->indices.data)[before + i * p->stride + p->offsets[POSITION]];
    points[i] = position < p->sources[POSITION].count ? position : UINT32_MAX;
  }
  return SK_OK;
}

static sk_status add_triangle(primitive *p, uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t *points = p->points.data;
  uint32_t *added;
  if (points[a] == UINT32_MAX || points[b] == UINT32_MAX || points[c] == UINT32_MAX) {
    p->lost++;
    return SK_OK;
  }
  added = sk_array_room(&p->triangles, 3);
  if (!added) return import_no_memory(p->job, 3 * sizeof *added);
  added[0] = a, added[1] = b, added[2] = c;
  return SK_OK;
}

static sk_status add_polygon(primitive *p, const double *positions, uint32_t first, uint32_t count) {
  const uint32_t *points = p->points.data;
  uint32_t i, *added;
  if (count < 3) {
    import_note_add(p->job, NOTE_points_lines_dropped, 1, "a polygon of %u corners", count);
    return SK_OK;
  }
  if (count == 3) return add_triangle(p, first, first + 1, first + 2);
  for (i = first; i < first + count; i++)
    if (points[i] == UINT32_MAX) {
      p->lost++;
      return SK_OK;
    }
  added = sk_array_room(&p->triangles, 3 * ((size_t)count - 2));
  if (!added) return import_no_memory(p->job, 3 * (size_t)count * sizeof *added);
  import_cut_polygon(&(import_polygon){positions, points, first, count}, added);
  return SK_OK;
}

/* Strips turn every second triangle over; fans have all triangles at their first corner. */
static sk_status add_run(primitive *p, dae_word word, uint32_t first, uint32_t count) {
  uint32_t i;
  sk_status status = SK_OK;
  for (i = 2; i < count && !status; i++)
    if (word == DAE_trifans) status = add_triangle(p, first, first + i - 1, first + i);
    else status = add_triangle(p, first + i - 2 + i % 2, first + i - 1 - i % 2, first + i);
  return status;
}

/* <ph>: an outline, and holes in it. */
static sk_status add_holed(primitive *p, const double *positions, uint32_t element) {
  const dae_tree *tree = &p->job->dae->tree;
  sk_array rings = SK_ARRAY(import_ring), outline = SK_ARRAY(uint32_t);
  uint32_t child, i, k, first;
  size_t left_out = 0;
  bool good = true;
  sk_status status = SK_OK;
  for (DAE_EACH(tree, element, child)) {
    import_ring ring, *added;
    if (status || (dae_word_of(tree, child) != DAE_p && dae_word_of(tree, child) != DAE_h)) continue;
    status = read_corners(p, dae_text(tree, child), &ring.first, &ring.count);
    added = sk_array_room(&rings, 1);
    if (!added) status = import_no_memory(p->job, sizeof ring);
    else *added = ring;
    for (i = 0; i < ring.count && !status; i++)
      good &= ((const uint32_t *)p->points.data)[ring.first + i] != UINT32_MAX;
  }
  p->lost += !good;
  if (!status && good && rings.count &&
      !import_bridge_rings(positions, p->points.data, rings.data, rings.count, &outline, &left_out))
    status = import_no_memory(p->job, sizeof(uint32_t));
  import_note_add(p->job, NOTE_faces_dropped, left_out, "holes of a polygon of more than %d corners", IMPORT_MAX_RINGS);
  first = (uint32_t)p->points.count;
  for (i = 0; i < outline.count && !status; i++) { /* corners of the outline are copies, in its order */
    uint32_t corner = ((const uint32_t *)outline.data)[i], *indices = sk_array_room(&p->indices, p->stride);
    uint32_t *point = sk_array_room(&p->points, 1);
    if (!indices || !point) status = import_no_memory(p->job, p->stride * sizeof *indices);
    for (k = 0; k < p->stride && !status; k++)
      indices[k] = ((const uint32_t *)p->indices.data)[(size_t)corner * p->stride + k];
    if (!status) *point = ((const uint32_t *)p->points.data)[corner];
  }
  if (!status && outline.count) status = add_polygon(p, positions, first, (uint32_t)outline.count);
  sk_array_free(&rings);
  sk_array_free(&outline);
  return status;
}

/* ---- faces ------------------------------------------------------------------------------------------------ */

static sk_status add_polylist(primitive *p, const double *positions, uint32_t first, uint32_t count) {
  const dae_tree *tree = &p->job->dae->tree;
  import_span sizes = dae_text(tree, dae_child(tree, p->element, DAE_vcount));
  uint32_t size;
  sk_status status = SK_OK;
  while (!status && dae_next_index(&sizes, &size)) {
    if (size > count) {
      p->lost++;
      return SK_OK;
    }
    if (size) status = add_polygon(p, positions, first, size);
    first += size, count -= size;
  }
  return status;
}

static sk_status add_faces(primitive *p, const double *positions) {
  const dae_tree *tree = &p->job->dae->tree;
  dae_word word = dae_word_of(tree, p->element);
  uint32_t child, first, count, i;
  sk_status status = SK_OK;
  for (DAE_EACH(tree, p->element, child)) {
    if (dae_word_of(tree, child) == DAE_ph && !status) status = add_holed(p, positions, child);
    if (dae_word_of(tree, child) != DAE_p || status) continue;
    status = read_corners(p, dae_text(tree, child), &first, &count);
    if (status) return status;
    if (word == DAE_polygons) status = add_polygon(p, positions, first, count);
    else if (word == DAE_polylist) status = add_polylist(p, positions, first, count);
    else if (word != DAE_triangles) status = add_run(p, word, first, count);
    else p->lost += count % 3 != 0;
    for (i = 0; i + 2 < count && word == DAE_triangles && !status; i += 3)
      status = add_triangle(p, first + i, first + i + 1, first + i + 2);
  }
  return status;
}

/* ---- vertices ----------------------------------------------------------------------------------------------- */

static uint32_t index_at(const primitive *p, uint32_t corner, int attribute) {
  return ((const uint32_t *)p->indices.data)[(size_t)corner * p->stride + p->offsets[attribute]];
}

static void tuple_of(const primitive *p, uint32_t corner, uint32_t tuple[ATTRIBUTES]) {
  int i;
  for (i = 0; i < ATTRIBUTES; i++) tuple[i] = p->sources[i].count ? index_at(p, corner, i) : 0;
}

/* Turns the corners of the triangles to vertices. */
static sk_status join_corners(primitive *p) {
  size_t size = 16, i;
  uint32_t *table, *corner = p->triangles.data, tuple[ATTRIBUTES], other[ATTRIBUTES];
  while (size < 2 * p->triangles.count) size *= 2;
  table = sk_alloc_zero(size * sizeof *table);
  if (!table) return import_no_memory(p->job, size * sizeof *table);
  for (i = 0; i < p->triangles.count; i++) {
    size_t at;
    tuple_of(p, corner[i], tuple);
    for (at = import_hash(tuple, sizeof tuple) & (size - 1); table[at]; at = (at + 1) & (size - 1)) {
      tuple_of(p, ((const uint32_t *)p->first_corners.data)[table[at] - 1], other);
      if (!memcmp(tuple, other, sizeof tuple)) break;
    }
    if (!table[at]) {
      uint32_t *added = sk_array_room(&p->first_corners, 1);
      if (!added) break;
      *added = corner[i];
      table[at] = (uint32_t)p->first_corners.count;
    }
    corner[i] = table[at] - 1;
  }
  sk_free(table);
  return i < p->triangles.count ? import_no_memory(p->job, sizeof *corner) : SK_OK;
}

/* Rows of an attribute, `width` numbers for each vertex; NULL in *rows where the mesh has none. What a source lacks is
   `missing`. */
static sk_status make_rows(primitive *p, int attribute, uint32_t width, float missing, const float **rows) {
  const dae_source *source = &p->sources[attribute];
  size_t count = p->first_corners.count, i, bad = 0;
  float *out;
  uint32_t k;
  *rows = NULL;
  if (!source->count) return SK_OK;
  *rows = out = import_contents_take(p->job, count * width, sizeof *out);
  if (!out) return SK_ERROR_MEMORY;
  for (i = 0; i < count; i++) {
    uint32_t row = index_at(p, ((const uint32_t *)p->first_corners.data)[i], attribute);
    bad += row >= source->count;
    for (k = 0; k < width; k++)
      *out++ = row < source->count && k < source->width ? (float)dae_number_at(source, row, k) : missing;
  }
  import_note_add(p->job, NOTE_attributes_dropped, bad, "indices beyond a source of geometry '%.*s'",
                  IMPORT_SHORT(dae_title(&p->job->dae->tree, p->geometry)));
  return SK_OK;
}

/* The fourth number of a tangent says on which side the binormal is. */
static sk_status make_tangents(primitive *p, import_contents_mesh *mesh) {
  const float *tangents, *binormals, *n = mesh->normals;
  float *out;
  size_t count = p->first_corners.count, i;
  sk_status status = SK_OK;
  if (!n || !p->sources[TANGENT].count || !p->sources[BINORMAL].count) return SK_OK;
  status = make_rows(p, TANGENT, 3, 0.0f, &tangents);
  if (!status) status = make_rows(p, BINORMAL, 3, 0.0f, &binormals);
  if (status) return status;
  mesh->tangents = out = import_contents_take(p->job, count * 4, sizeof *out);
  if (!out) return SK_ERROR_MEMORY;
  for (i = 0; i < count; i++, n += 3, out += 4) {
    const float *t = tangents + 3 * i, *b = binormals + 3 * i;
    float side =
        (n[1] * t[2] - n[2] * t[1]) * b[0] + (n[2] * t[0] - n[0] * t[2]) * b[1] + (n[0] * t[1] - n[1] * t[0]) * b[2];
    out[0] = t[0], out[1] = t[1], out[2] = t[2], out[3] = side < 0.0f ? -1.0f : 1.0f;
  }
  return SK_OK;
}

static sk_status make_attributes(primitive *p, import_contents_mesh *mesh) {
  size_t i, count = p->first_corners.count;
  float *uvs;
  sk_status status = make_rows(p, POSITION, 3, 0.0f, &mesh->positions);
  if (!status) status = make_rows(p, NORMAL, 3, 0.0f, &mesh->normals);
  if (!status) status = make_rows(p, TEXCOORD, 2, 0.0f, &mesh->uvs);
  if (!status) status = make_rows(p, COLOR, 4, 1.0f, &mesh->colors);
  if (!status) status = make_tangents(p, mesh);
  uvs = (float *)mesh->uvs; /* taken above */
  for (i = 0; i < count && uvs && !status; i++) uvs[2 * i + 1] = 1.0f - uvs[2 * i + 1]; /* from the top down */
  return status;
}

/* ---- meshes ---------------------------------------------------------------------------------------------------- */

static sk_status make_mesh(primitive *p, const dae_shape *shape, int32_t *number) {
  import_job *job = p->job;
  import_contents_mesh mesh = {.vertex_count = (uint32_t)p->first_corners.count,
                               .face_count = (uint32_t)(p->triangles.count / 3)},
                       *added;
  const dae_tree *tree = &job->dae->tree;
  import_span name = dae_attribute(tree, p->geometry, DAE_id);
  uint32_t *faces = import_contents_take(job, p->triangles.count, sizeof *faces), *points, i;
  sk_status status = faces ? SK_OK : SK_ERROR_MEMORY;
  if (!status) status = dae_put_text(job, name.length ? name : dae_title(tree, p->geometry), &mesh.name);
  if (!status) status = make_attributes(p, &mesh);
  if (status) return status;
  memcpy(faces, p->triangles.data, p->triangles.count * sizeof *faces);
  mesh.faces = faces;
  added = import_contents_add_mesh(job);
  points = p->first_corners.data;
  if (!added) return SK_ERROR_MEMORY;
  *added = mesh;
  *number = (int32_t)job->contents->meshes.count - 1;
  for (i = 0; i < mesh.vertex_count; i++) points[i] = index_at(p, points[i], POSITION);
  if (shape->skin) status = dae_read_influences(job, shape, points, *number);
  if (!status && shape->morph) status = dae_read_targets(job, shape, points, *number);
  return status;
}

/* All positions as three numbers each, which cutting polygons wants. */
static double *points_of(primitive *p) {
  const dae_source *source = &p->sources[POSITION];
  double *points = sk_alloc((source->count + 1) * 3 * sizeof *points);
  size_t i;
  uint32_t k;
  for (i = 0; i < source->count && points; i++)
    for (k = 0; k < 3; k++) points[3 * i + k] = k < source->width ? dae_number_at(source, i, k) : 0.0;
  return points;
}

static sk_status build(primitive *p, const dae_shape *shape, uint32_t set, int32_t *number) {
  import_job *job = p->job;
  import_span title = dae_title(&job->dae->tree, p->geometry);
  dae_word word = dae_word_of(&job->dae->tree, p->element);
  bool has_polygons = word == DAE_polygons || word == DAE_polylist;
  double *points = NULL;
  sk_status status = read_inputs(p, set);
  if (!status && has_polygons && !(points = points_of(p))) status = import_no_memory(job, 1);
  if (!status && p->sources[POSITION].count) status = add_faces(p, points);
  sk_free(points);
  import_note_add(job, NOTE_faces_dropped, p->lost, "geometry '%.*s'", IMPORT_SHORT(title));
  if (status || !p->triangles.count) return status;
  status = join_corners(p);
  job->dae->made.vertices += p->first_corners.count;
  job->dae->made.rows += p->triangles.count;
  if (!status) status = import_check_counts(job, &job->dae->made);
  return status ? status : make_mesh(p, shape, number);
}

static sk_status build_mesh(import_job *job, const dae_shape *shape, uint32_t element, uint32_t set, int32_t *number) {
  const dae_tree *tree = &job->dae->tree;
  primitive p = {.job = job,
                 .element = element,
                 .geometry = shape->geometry,
                 .stride = 1,
                 .indices = SK_ARRAY(uint32_t),
                 .points = SK_ARRAY(uint32_t),
                 .triangles = SK_ARRAY(uint32_t),
                 .first_corners = SK_ARRAY(uint32_t)};
  dae_word word = dae_word_of(tree, element);
  sk_status status = SK_OK;
  if (word == DAE_lines || word == DAE_linestrips)
    import_note_add(job, NOTE_points_lines_dropped, dae_attribute_number(tree, element, DAE_count, 1),
                    "lines of geometry '%.*s'", IMPORT_SHORT(dae_title(tree, shape->geometry)));
  else status = build(&p, shape, set, number);
  sk_array_free(&p.indices);
  sk_array_free(&p.points);
  sk_array_free(&p.triangles);
  sk_array_free(&p.first_corners);
  return status;
}

sk_status dae_read_primitive(import_job *job, const dae_shape *shape, uint32_t element, uint32_t set, int32_t *mesh) {
  import_dae *dae = job->dae;
  const dae_element *e = dae_at(&dae->tree, element);
  part *added;
  uint32_t number, looked_at = 0;
  sk_status status;
  set = set_of(&dae->tree, element, set);
  for (number = e->data; number && looked_at < MAX_SHARED; number = added->next, looked_at++) {
    added = (part *)dae->parts.data + (number - 1);
    *mesh = added->mesh;
    if (added->skin == shape->skin && added->morph == shape->morph && added->set == set) return SK_OK;
  }
  *mesh = SK_NONE;
  status = build_mesh(job, shape, element, set, mesh);
  if (status) return status;
  if (!dae->parts.stride) dae->parts = SK_ARRAY(part);
  added = sk_array_extend(&dae->parts, 1);
  if (!added) return import_no_memory(job, sizeof *added);
  *added = (part){shape->skin, shape->morph, set, e->data, *mesh};
  dae_at(&dae->tree, element)->data = (uint32_t)dae->parts.count;
  return SK_OK;
}
