/* import_x_mesh.c: meshes of .x: vertices, faces of any number of corners, and attributes.

   Positions, texture coordinates and colors belong to the file's vertices, normals to the corners of faces. A part has a
   vertex for each corner of its faces; equal ones are joined later, as for all formats. */
#include <math.h>
#include <string.h>

#include "../import_bytes.h"
#include "../import_polygon.h"
#include "import_x_scene.h"

typedef struct x_face {
  uint32_t first, count; /* corners */
  uint32_t material;     /* of the mesh's list */
  bool usable;
} x_face;

typedef struct x_rows { /* an attribute; values NULL: the mesh has none */
  const double *values;
  const uint32_t *index; /* of each corner; NULL: rows belong to vertices */
  sk_array owned_values, owned_index;
} x_rows;

typedef struct x_mesh {
  x_scene *scene;
  const x_object *object;
  import_span name;
  sk_text text; /* the name, which all parts share */
  const double *points;
  uint32_t point_count;
  sk_array corners;   /* uint32_t: vertices */
  sk_array faces;     /* x_face */
  sk_array materials; /* int32_t: of the contents */
  x_rows normals, uvs, colors;
  x_skin skin;
} x_mesh;

/* What a part is made of. */
typedef struct x_selection {
  const uint32_t *faces; /* numbers of faces */
  uint32_t count;
} x_selection;

static const x_face *face_at(const x_mesh *m, size_t i) { return (const x_face *)m->faces.data + i; }
static uint32_t corner_at(const x_mesh *m, size_t i) { return ((const uint32_t *)m->corners.data)[i]; }

static void note_dropped(const x_mesh *m, const char *what) {
  import_note_add(m->scene->job, NOTE_attributes_dropped, 1, "%s of mesh '%.*s'", what, IMPORT_SHORT(m->name));
}

/* ---- vertices and faces ----------------------------------------------------------------------------- */

/* False: the numbers end within the face. */
static bool read_face(x_mesh *m, x_numbers *n, x_face *face, uint32_t *corners) {
  uint32_t i;
  if (!x_take_count(n, 1, &face->count)) return false;
  face->usable = true;
  for (i = 0; i < face->count; i++) {
    corners[i] = x_take_index(n);
    if (corners[i] < m->point_count) continue;
    face->usable = false;
    corners[i] = 0;
  }
  return true;
}

static void note_face(const x_mesh *m, x_face *face) {
  import_job *job = m->scene->job;
  if (!face->usable) import_note_add(job, NOTE_faces_dropped, 1, "mesh '%.*s'", IMPORT_SHORT(m->name));
  else if (face->count < 3) import_note_add(job, NOTE_points_lines_dropped, 1, "mesh '%.*s'", IMPORT_SHORT(m->name));
  face->usable &= face->count >= 3;
}

/* False: the numbers end too early. */
static bool read_faces(x_mesh *m, x_numbers *n, uint32_t *corners) {
  size_t f, used = 0;
  for (f = 0; f < m->faces.count; f++) {
    x_face *face = (x_face *)m->faces.data + f;
    face->first = (uint32_t)used;
    if (!read_face(m, n, face, corners + used)) return false;
    note_face(m, face);
    used += face->count;
  }
  m->corners.count = used;
  return used < UINT32_MAX;
}

/* Vertices, then faces; each begins with its count. */
static sk_status read_shape(x_mesh *m) {
  import_job *job = m->scene->job;
  x_numbers n = x_numbers_of(&m->scene->file, m->object);
  uint32_t count = 0;
  bool good = x_take_count(&n, 3, &m->point_count);
  if (good) m->points = x_take(&n, 3 * (size_t)m->point_count);
  if (good && x_take_count(&n, 1, &count)) {
    uint32_t *corners = sk_array_room(&m->corners, x_left(&n) + 1);
    if (!corners || (count && !sk_array_extend(&m->faces, count))) return import_no_memory(job, x_left(&n));
    if (read_faces(m, &n, corners)) return SK_OK;
  }
  return sk_fail(job->error, SK_ERROR_IMPORT, "mesh '%.*s' has fewer numbers than its counts say",
                 IMPORT_SHORT(m->name));
}

/* ---- attributes ---------------------------------------------------------------------------------------- */

/* The normals, and for each face its corners' numbers of them. */
static sk_status read_normals(x_mesh *m, const x_object *object) {
  x_numbers n = x_numbers_of(&m->scene->file, object);
  uint32_t count, faces, f, i, corners;
  const double *values;
  uint32_t *index = sk_array_extend(&m->normals.owned_index, m->corners.count);
  bool good = x_take_count(&n, 3, &count);
  if (!index && m->corners.count) return import_no_memory(m->scene->job, m->corners.count * sizeof *index);
  values = good ? x_take(&n, 3 * (size_t)count) : NULL;
  good = values && x_take_count(&n, 1, &faces) && faces == m->faces.count;
  for (f = 0; good && f < m->faces.count; f++) {
    const x_face *face = face_at(m, f);
    good = x_take_count(&n, 1, &corners) && corners == face->count;
    for (i = 0; good && i < corners; i++) {
      index[face->first + i] = x_take_index(&n);
      good = index[face->first + i] < count;
    }
  }
  if (good) m->normals.values = values, m->normals.index = index;
  else note_dropped(m, "normals");
  return SK_OK;
}

static void read_coordinates(x_mesh *m, const x_object *object) {
  x_numbers n = x_numbers_of(&m->scene->file, object);
  uint32_t count;
  if (m->uvs.values) note_dropped(m, "a second set of texture coordinates");
  else if (x_take_count(&n, 2, &count) && count == m->point_count) m->uvs.values = x_take(&n, 2 * (size_t)count);
  else note_dropped(m, "texture coordinates");
}

static double *take_rows(x_mesh *m, x_rows *rows, size_t width) {
  double *values = sk_array_extend(&rows->owned_values, width * m->point_count);
  if (!values) import_no_memory(m->scene->job, width * m->point_count * sizeof *values);
  rows->values = values;
  return values;
}

/* Each color stands behind its vertex; those that are not listed are black. */
static sk_status read_colors(x_mesh *m, const x_object *object) {
  x_numbers n = x_numbers_of(&m->scene->file, object);
  uint32_t count, i, vertex;
  double *colors;
  if (m->colors.values || !x_take_count(&n, 5, &count) || !m->point_count) {
    note_dropped(m, "colors");
    return SK_OK;
  }
  colors = take_rows(m, &m->colors, 4);
  if (!colors) return SK_ERROR_MEMORY;
  for (i = 0; i < m->point_count; i++) colors[4 * (size_t)i + 3] = 1.0;
  for (i = 0; i < count; i++) {
    const double *color;
    vertex = x_take_index(&n);
    color = x_take(&n, 4);
    if (vertex < m->point_count) memcpy(colors + 4 * (size_t)vertex, color, 4 * sizeof *color);
    else note_dropped(m, "colors of vertices that do not exist");
  }
  return SK_OK;
}

/* ---- declared data ---------------------------------------------------------------------------------------- */

/* Words of 32 bits in each type of D3DDECLTYPE. */
static const uint8_t declared_words[] = {1, 2, 3, 4, 1, 1, 1, 2, 1, 1, 2, 1, 2, 1, 1, 1, 2};

static double declared_float(const double *word) {
  uint32_t bits = *word >= 0.0 && *word <= UINT32_MAX ? (uint32_t)*word : 0;
  return import_float_of(bits);
}

/* D3DCOLOR is alpha, red, green, blue, from the highest byte down. */
static void read_color_word(const double *word, double out[4]) {
  uint32_t bits = *word >= 0.0 && *word <= UINT32_MAX ? (uint32_t)*word : 0;
  int i;
  for (i = 0; i < 4; i++) out[i] = (double)(bits >> (i == 3 ? 24 : 16 - 8 * i) & 255) / 255.0;
}

/* One element of all vertices, which may be normals, texture coordinates or colors that the mesh does not have yet. */
static sk_status read_declared(x_mesh *m, const double *element, const double *data, size_t stride) {
  enum { NORMAL = 3, TEXCOORD = 5, TANGENT = 6, BINORMAL = 7, COLOR = 10 };
  int type = (int)element[0], usage = (int)element[2];
  size_t width = usage == NORMAL ? 3 : usage == TEXCOORD ? 2 : 4, v, i;
  x_rows *rows = usage == NORMAL ? &m->normals : usage == TEXCOORD ? &m->uvs : &m->colors;
  bool fits = element[3] == 0.0 && ((usage == NORMAL && type == 2) || (usage == TEXCOORD && type >= 1 && type <= 3) ||
                                    (usage == COLOR && (type == 3 || type == 4)));
  double *out;
  if (usage == TANGENT || usage == BINORMAL) return SK_OK; /* follow from the normals and texture coordinates */
  if (!fits || rows->values) {
    note_dropped(m, "declared data");
    return SK_OK;
  }
  out = take_rows(m, rows, width);
  for (v = 0; out && v < m->point_count; v++, out += width, data += stride) {
    if (usage == COLOR && type == 4) read_color_word(data, out);
    else
      for (i = 0; i < width; i++) out[i] = declared_float(data + i);
  }
  return out ? SK_OK : SK_ERROR_MEMORY;
}

/* DeclData: elements (type, method, usage, index), and the words of all vertices. */
static sk_status read_declaration(x_mesh *m, const x_object *object) {
  x_numbers n = x_numbers_of(&m->scene->file, object);
  uint32_t count, words, i;
  size_t stride = 0, at = 0;
  const double *elements, *data;
  sk_status status = SK_OK;
  bool good = x_take_count(&n, 4, &count);
  elements = good ? x_take(&n, 4 * (size_t)count) : NULL;
  for (i = 0; good && i < count; i++) {
    good = elements[4 * i] >= 0.0 && elements[4 * i] < (double)sizeof declared_words && elements[4 * i + 2] >= 0.0 &&
           elements[4 * i + 2] < 16.0;
    if (good) stride += declared_words[(int)elements[4 * i]];
  }
  good = good && x_take_count(&n, 1, &words) && stride && words / stride == m->point_count && m->point_count;
  if (!good) note_dropped(m, "declared data");
  if (!good) return SK_OK;
  data = x_take(&n, words);
  for (i = 0; i < count && !status; i++) {
    status = read_declared(m, elements + 4 * (size_t)i, data + at, stride);
    at += declared_words[(int)elements[4 * i]];
  }
  return status;
}

/* ---- materials ------------------------------------------------------------------------------------------------ */

/* The number of materials, and for each face the one that it has; the last number is that of all further faces. */
static sk_status read_materials(x_mesh *m, const x_object *list) {
  x_scene *x = m->scene;
  x_numbers n = x_numbers_of(&x->file, list);
  const x_object *below = NULL, *material;
  uint32_t count = 0, f, number = 0;
  bool good = (x_take_index(&n), x_take_count(&n, 1, &count));
  for (f = 0; f < m->faces.count && good; f++) {
    if (f < count) number = x_take_index(&n);
    ((x_face *)m->faces.data)[f].material = number;
  }
  while ((below = x_next_below(x, list, below)) != NULL) {
    int32_t *added;
    if (below->kind != X_MATERIAL && below->kind != X_REFERENCE) continue;
    material = below->kind == X_MATERIAL ? below : x_find(x, &x->materials, below->name, "material");
    added = sk_array_extend(&m->materials, 1);
    if (!added) return import_no_memory(x->job, sizeof *added);
    *added = material ? x_made_of(x, material)->index : SK_NONE;
  }
  return SK_OK;
}

/* ---- parts -------------------------------------------------------------------------------------------------------- */

/* Rows of the part's vertices as floats; the third number is mirrored where `mirror` says so. */
static const float *copy_rows(x_mesh *m, const x_rows *rows, const uint32_t *corners, uint32_t count, size_t width,
                              bool mirror) {
  float *out = import_contents_take(m->scene->job, count, width * sizeof *out), *to = out;
  uint32_t v;
  size_t i;
  for (v = 0; out && v < count; v++, to += width) {
    uint32_t row = rows->index ? rows->index[corners[v]] : corner_at(m, corners[v]);
    for (i = 0; i < width; i++) to[i] = (float)rows->values[width * row + i];
    if (mirror) to[2] = -to[2];
  }
  return out;
}

/* The triangles of the part, reversed because the mirror reverses them; and the corner of each vertex. */
static sk_status cut_faces(x_mesh *m, const x_selection *s, import_contents_mesh *part, uint32_t *corners) {
  uint32_t *out = import_contents_take(m->scene->job, part->face_count, 3 * sizeof *out), vertex = 0, f, i;
  part->faces = out;
  if (!out) return SK_ERROR_MEMORY;
  for (f = 0; f < s->count; f++) {
    const x_face *face = face_at(m, s->faces[f]);
    const import_polygon polygon = {m->points, m->corners.data, face->first, face->count};
    import_cut_polygon(&polygon, out);
    for (i = 0; i < 3 * (face->count - 2); i += 3, out += 3) {
      uint32_t first = out[0];
      out[0] = out[2] - face->first + vertex;
      out[1] = out[1] - face->first + vertex;
      out[2] = first - face->first + vertex;
    }
    for (i = 0; i < face->count; i++) corners[vertex++] = face->first + i;
  }
  return SK_OK;
}

static sk_status copy_vertices(x_mesh *m, const uint32_t *corners, import_contents_mesh *part) {
  uint32_t count = part->vertex_count;
  const x_rows points = {.values = m->points};
  part->positions = copy_rows(m, &points, corners, count, 3, true);
  if (m->normals.values) part->normals = copy_rows(m, &m->normals, corners, count, 3, true);
  if (m->uvs.values) part->uvs = copy_rows(m, &m->uvs, corners, count, 2, false);
  if (m->colors.values) part->colors = copy_rows(m, &m->colors, corners, count, 4, false);
  return !part->positions || (m->normals.values && !part->normals) || (m->uvs.values && !part->uvs) ||
                 (m->colors.values && !part->colors)
             ? SK_ERROR_MEMORY
             : SK_OK;
}

static sk_status add_part(x_mesh *m, const x_selection *s, int32_t material) {
  import_job *job = m->scene->job;
  import_contents_mesh *part = import_contents_add_mesh(job);
  x_part *added = sk_array_extend(&m->scene->parts, 1);
  uint32_t *corners, i;
  sk_status status;
  if (!part) return SK_ERROR_MEMORY;
  if (!added) return import_no_memory(job, sizeof *added);
  *added = (x_part){material, SK_NONE};
  for (i = 0; i < s->count; i++) {
    part->vertex_count += face_at(m, s->faces[i])->count;
    part->face_count += face_at(m, s->faces[i])->count - 2;
  }
  corners = sk_alloc(((size_t)part->vertex_count + 1) * sizeof *corners);
  part->name = m->text;
  status = corners ? SK_OK : import_no_memory(job, part->vertex_count);
  if (!status) status = cut_faces(m, s, part, corners);
  if (!status) status = copy_vertices(m, corners, part);
  for (i = 0; i < part->vertex_count && !status; i++) corners[i] = corner_at(m, corners[i]);
  if (!status) status = x_skin_part(m->scene, &m->skin, corners, part, &added->skin);
  sk_free(corners);
  return status;
}

/* Sorts the usable faces by their materials; those whose material does not exist come last. */
static uint32_t *sort_faces(const x_mesh *m, uint32_t *starts) {
  uint32_t materials = (uint32_t)m->materials.count, *sorted = sk_alloc((m->faces.count + 1) * sizeof *sorted), i;
  size_t f;
  for (f = 0; sorted && f < 2 * m->faces.count; f++) {
    const x_face *face = face_at(m, f % m->faces.count);
    uint32_t group = face->material < materials ? face->material : materials;
    if (f == m->faces.count)
      for (i = 2; i < materials + 2; i++) starts[i] += starts[i - 1];
    if (face->usable && f < m->faces.count) starts[group + 2]++;
    else if (face->usable) sorted[starts[group + 1]++] = (uint32_t)(f - m->faces.count);
  }
  return sorted;
}

static sk_status make_parts(x_mesh *m) {
  size_t materials = m->materials.count, i;
  uint32_t *starts = sk_alloc_zero((materials + 3) * sizeof *starts), *sorted = starts ? sort_faces(m, starts) : NULL;
  sk_status status = sorted ? SK_OK : import_no_memory(m->scene->job, m->faces.count * sizeof *sorted);
  x_made *made = x_made_of(m->scene, m->object);
  made->index = (int32_t)m->scene->job->contents->meshes.count;
  for (i = 0; i <= materials && !status; i++) {
    x_selection s = {sorted + starts[i], starts[i + 1] - starts[i]};
    if (s.count) status = add_part(m, &s, i < materials ? ((const int32_t *)m->materials.data)[i] : SK_NONE);
  }
  made->parts = (uint32_t)m->scene->job->contents->meshes.count - (uint32_t)made->index;
  if (!made->parts && !status)
    import_note_add(m->scene->job, NOTE_meshes_dropped, 1, "mesh '%.*s'", IMPORT_SHORT(m->name));
  sk_free(starts);
  sk_free(sorted);
  return status;
}

/* ---- a mesh ------------------------------------------------------------------------------------------------------------ */

static sk_status read_below(x_mesh *m, const x_object *below) {
  switch (below->kind) {
  case X_NORMALS: return m->normals.values ? SK_OK : read_normals(m, below);
  case X_COORDINATES: return read_coordinates(m, below), SK_OK;
  case X_COLORS: return read_colors(m, below);
  case X_MATERIAL_LIST: return m->materials.count ? SK_OK : read_materials(m, below);
  case X_FVF_DATA: return note_dropped(m, "FVFData"), SK_OK;
  default: return SK_OK;
  }
}

/* DeclData is read last, whatever the order in the file. */
static sk_status read_mesh(x_mesh *m) {
  const x_object *below = NULL;
  sk_status status = read_shape(m);
  while (!status && (below = x_next_below(m->scene, m->object, below)) != NULL) status = read_below(m, below);
  while (!status && (below = x_next_below(m->scene, m->object, below)) != NULL)
    if (below->kind == X_DECLARED_DATA) status = read_declaration(m, below);
  if (!status) status = x_read_skin(m->scene, m->object, m->point_count, &m->skin);
  return status ? status : make_parts(m);
}

static void free_rows(x_rows *rows) {
  sk_array_free(&rows->owned_values);
  sk_array_free(&rows->owned_index);
}

/* A mesh has the name of its frame, else its own. */
static sk_status name_mesh(x_mesh *m, const x_object *frame) {
  int32_t node = frame ? x_made_of(m->scene, frame)->index : SK_NONE;
  m->name = frame ? frame->name : m->object->name;
  if (node >= 0) m->text = ((const import_contents_node *)m->scene->job->contents->nodes.data)[node].name;
  return frame ? SK_OK : import_add_text(m->scene->job, m->name, &m->text);
}

sk_status x_make_mesh(x_scene *x, const x_object *object) {
  const x_object *frame = object->parent < 0 ? NULL : x_object_at(&x->file, (size_t)object->parent);
  const x_rows none = {.owned_values = SK_ARRAY(double), .owned_index = SK_ARRAY(uint32_t)};
  x_mesh m = {.scene = x,
              .object = object,
              .corners = SK_ARRAY(uint32_t),
              .faces = SK_ARRAY(x_face),
              .materials = SK_ARRAY(int32_t),
              .normals = none,
              .uvs = none,
              .colors = none};
  sk_status status;
  if (x_made_of(x, object)->index >= 0) return SK_OK;
  status = name_mesh(&m, frame);
  if (!status) status = read_mesh(&m);
  sk_array_free(&m.corners);
  sk_array_free(&m.faces);
  sk_array_free(&m.materials);
  free_rows(&m.normals);
  free_rows(&m.uvs);
  free_rows(&m.colors);
  x_free_skin(&m.skin);
  return status;
}
