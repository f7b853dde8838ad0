/* import_quake.c: see import_quake.h.

   Assimp 6.0.5 always gives the first frame of .md3 and .mdl. Its meshes have one vertex for each corner of the file's
   triangles, in the same order. This is checked with the first frame, before another frame replaces it. The formats are
   those of id Software's Quake III (1999) and Quake (1996). */
#include "import_quake.h"

#include <math.h>
#include <string.h>

#include "../import_bytes.h"

#define SAME    1e-4 /* relative above 1: the file's numbers against Assimp's */
#define CIRCLE  6.283185307179586
#define MD3     15 /* version */
#define MDL     6
#define HEADER  108 /* bytes of .md3, and of each of its surfaces */
#define ROW     8   /* of a vertex of .md3: three numbers of 1/64, and a normal */
#define MAX_MDL 65536 /* frames and skins that are walked over */

typedef struct quake_frames { /* of one mesh */
  const uint8_t *triangles;  /* three indices stand at `first` in each */
  size_t triangle, first;    /* bytes */
  uint32_t triangle_count, vertex_count;
  const uint8_t *start, *wanted; /* vertices of the first frame, and of the requested one */
  float scale[3], origin[3]; /* of .mdl, whose numbers are bytes; scale 0: .md3 */
} quake_frames;

/* `bytes` bytes at an offset; NULL where the file does not have them. */
static const uint8_t *part_of(const import_source *file, uint64_t offset, uint64_t bytes) {
  return offset <= file->size && bytes <= file->size - offset ? file->data + offset : NULL;
}

static sk_status fail_frame(import_job *job, uint32_t count) {
  return sk_fail(job->error, SK_ERROR_IMPORT, "there is no frame %d; the file has %u", (int)job->request->frame, count);
}

static sk_status fail_fit(import_job *job) {
  return sk_fail(job->error, SK_ERROR_IMPORT,
                 "its frames do not fit what Assimp reads of the first one; frames of models in several files are not "
                 "supported");
}

/* ---- one mesh --------------------------------------------------------------------------------------- */

static struct aiVector3D position_of(const quake_frames *f, const uint8_t *vertices, uint32_t index) {
  const uint8_t *at = vertices + (f->scale[0] != 0.0f ? 4 : ROW) * (size_t)index;
  float v[3];
  int i;
  for (i = 0; i < 3; i++)
    v[i] =
        f->scale[0] != 0.0f ? f->scale[i] * at[i] + f->origin[i] : (float)(int16_t)import_number(at + 2 * i, 2) / 64.0f;
  return (struct aiVector3D){v[0], v[1], v[2]};
}

/* Two angles of 8 bits. */
static struct aiVector3D md3_normal(const uint8_t *vertices, uint32_t index) {
  const uint8_t *at = vertices + ROW * (size_t)index + 6;
  double down = at[0] * CIRCLE / 255.0, around = at[1] * CIRCLE / 255.0;
  return (struct aiVector3D){(float)(cos(around) * sin(down)), (float)(sin(around) * sin(down)), (float)cos(down)};
}

static bool is_near(float a, float b) { return fabs((double)a - b) <= SAME * fmax(1.0, fabs((double)a)); }

static bool fits(const quake_frames *f, const struct aiMesh *mesh) {
  uint32_t i;
  if (mesh->mNumVertices != 3 * (uint64_t)f->triangle_count) return false;
  for (i = 0; i < mesh->mNumVertices; i++) {
    uint32_t index = import_u32(f->triangles + i / 3 * f->triangle + f->first + 4 * (i % 3));
    struct aiVector3D first;
    if (index >= f->vertex_count) return false;
    first = position_of(f, f->start, index);
    if (!is_near(first.x, mesh->mVertices[i].x) || !is_near(first.y, mesh->mVertices[i].y) ||
        !is_near(first.z, mesh->mVertices[i].z))
      return false;
  }
  return true;
}

/* The normal of each triangle, added to those of its vertices; its length is twice the area. */
static void sum_normals(const quake_frames *f, float *sums) {
  uint32_t t, c, i;
  for (t = 0; t < f->triangle_count; t++) {
    struct aiVector3D p[3];
    uint32_t index[3];
    float normal[3];
    for (c = 0; c < 3; c++) {
      index[c] = import_u32(f->triangles + t * f->triangle + f->first + 4 * c);
      p[c] = position_of(f, f->wanted, index[c]);
    }
    normal[0] = (p[2].y - p[0].y) * (p[1].z - p[0].z) - (p[2].z - p[0].z) * (p[1].y - p[0].y);
    normal[1] = (p[2].z - p[0].z) * (p[1].x - p[0].x) - (p[2].x - p[0].x) * (p[1].z - p[0].z);
    normal[2] = (p[2].x - p[0].x) * (p[1].y - p[0].y) - (p[2].y - p[0].y) * (p[1].x - p[0].x);
    for (c = 0; c < 3; c++)
      for (i = 0; i < 3; i++) sums[3 * (size_t)index[c] + i] += normal[i];
  }
}

/* Normals of .mdl are indices of a table; smooth normals are made instead. Front faces are clockwise. */
static sk_status put_frame(import_job *job, const quake_frames *f, struct aiMesh *mesh) {
  bool is_mdl = f->scale[0] != 0.0f;
  float *sums = is_mdl ? sk_alloc_zero(((size_t)f->vertex_count + 1) * 3 * sizeof *sums) : NULL;
  uint32_t i;
  if (is_mdl && !sums) return import_no_memory(job, (size_t)f->vertex_count * 12);
  if (is_mdl) sum_normals(f, sums);
  for (i = 0; i < mesh->mNumVertices; i++) {
    uint32_t index = import_u32(f->triangles + i / 3 * f->triangle + f->first + 4 * (i % 3));
    mesh->mVertices[i] = position_of(f, f->wanted, index);
    if (!mesh->mNormals) continue;
    if (is_mdl) {
      const float *n = sums + 3 * (size_t)index;
      float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
      if (length > 0.0f) mesh->mNormals[i] = (struct aiVector3D){n[0] / length, n[1] / length, n[2] / length};
    } else {
      mesh->mNormals[i] = md3_normal(f->wanted, index);
    }
  }
  sk_free(sums);
  return SK_OK;
}

/* ---- .md3 --------------------------------------------------------------------------------------------- */

/* False: the surface does not lie within the file. */
static bool find_surface(const import_source *file, uint64_t at, uint32_t frame, uint32_t frames, quake_frames *out) {
  const uint8_t *s = part_of(file, at, HEADER);
  uint64_t vertices;
  if (!s || import_u32(s + 72) != frames) return false;
  *out = (quake_frames){.triangle = 12, .triangle_count = import_u32(s + 84), .vertex_count = import_u32(s + 80)};
  vertices = (uint64_t)ROW * out->vertex_count;
  out->triangles = part_of(file, at + import_u32(s + 88), 12 * (uint64_t)out->triangle_count);
  out->start = part_of(file, at + import_u32(s + 100), vertices);
  out->wanted = part_of(file, at + import_u32(s + 100) + vertices * frame, vertices);
  return out->triangles && out->start && out->wanted;
}

sk_status import_md3_correct(import_job *job) {
  const import_source *file;
  uint32_t frame = (uint32_t)job->request->frame, frames, surfaces, s, used = 0;
  uint64_t at;
  sk_status status = SK_OK;
  if (job->request->frame <= 0) return SK_OK; /* the first one is Assimp's */
  status = import_files_whole(job);
  if (status) return status;
  file = job->files.sources.data;
  if (file->size < HEADER || import_u32(file->data + 4) != MD3) return fail_fit(job);
  frames = import_u32(file->data + 76), surfaces = import_u32(file->data + 84), at = import_u32(file->data + 100);
  if (frame >= frames) return fail_frame(job, frames);
  for (s = 0; s < surfaces && !status; s++) {
    quake_frames f;
    if (!find_surface(file, at, frame, frames, &f)) return fail_fit(job);
    if (import_u32(file->data + at + 104) < HEADER) return fail_fit(job);
    at += import_u32(file->data + at + 104);
    if (!f.triangle_count || !f.vertex_count) continue;
    if (used >= job->scene->mNumMeshes || !fits(&f, job->scene->mMeshes[used])) return fail_fit(job);
    status = put_frame(job, &f, job->scene->mMeshes[used++]);
  }
  return status || used == job->scene->mNumMeshes ? status : fail_fit(job);
}

/* ---- .mdl ------------------------------------------------------------------------------------------------- */

/* Where the texture coordinates begin, behind the images; 0: the file ends before. An image may be several. */
static uint64_t skip_skins(const import_source *file, uint32_t skins, uint64_t image) {
  uint64_t at = 84;
  uint32_t i, group;
  for (i = 0; i < skins && i < MAX_MDL; i++) {
    const uint8_t *head = part_of(file, at, 8);
    if (!head) return 0;
    group = import_u32(head) ? import_u32(head + 4) : 0;
    at += group ? 8 + group * (4 + image) : 4 + image;
    if (at > file->size) return 0;
  }
  return at;
}

/* The vertices of a frame, or of the first pose if the frame is a group of poses. `*at` moves behind the frame. */
static const uint8_t *next_frame(const import_source *file, uint64_t *at, uint64_t vertices) {
  const uint8_t *head = part_of(file, *at, 8);
  uint64_t poses = head && import_u32(head) ? import_u32(head + 4) : 0;
  uint64_t first = *at + (poses ? 16 + 4 * poses : 4) + 24, pose = 24 + vertices;
  const uint8_t *found = head ? part_of(file, first, vertices) : NULL;
  *at = poses ? first - 24 + poses * pose : first + vertices;
  return *at <= file->size ? found : NULL;
}

static bool find_mdl(const import_source *file, uint32_t frame, quake_frames *out) {
  uint64_t image = (uint64_t)import_u32(file->data + 52) * import_u32(file->data + 56), at, bytes;
  uint32_t f;
  int i;
  *out = (quake_frames){.triangle = 16,
                        .first = 4,
                        .triangle_count = import_u32(file->data + 64),
                        .vertex_count = import_u32(file->data + 60)};
  for (i = 0; i < 3; i++) {
    out->scale[i] = import_float(file->data + 8 + 4 * i);
    out->origin[i] = import_float(file->data + 20 + 4 * i);
  }
  if (out->scale[0] == 0.0f || image > file->size) return false;
  at = skip_skins(file, import_u32(file->data + 48), image);
  if (!at) return false;
  at += 12 * (uint64_t)out->vertex_count;
  out->triangles = part_of(file, at, 16 * (uint64_t)out->triangle_count);
  at += 16 * (uint64_t)out->triangle_count;
  bytes = 4 * (uint64_t)out->vertex_count;
  for (f = 0; f <= frame && out->triangles; f++) {
    out->wanted = next_frame(file, &at, bytes);
    if (!f) out->start = out->wanted;
    if (!out->wanted) return false;
  }
  return out->triangles != NULL;
}

/* Counts the poses of frames that are groups, after the first of each. */
static void note_poses(import_job *job, const import_source *file, uint64_t image) {
  uint32_t vertices = import_u32(file->data + 60), faces = import_u32(file->data + 64), f;
  uint64_t at = skip_skins(file, import_u32(file->data + 48), image);
  if (at) at += 12 * (uint64_t)vertices + 16 * (uint64_t)faces;
  for (f = 0; at && f < import_u32(file->data + 68) && f < MAX_MDL; f++) {
    const uint8_t *head = part_of(file, at, 8);
    if (!head) return;
    if (import_u32(head) && import_u32(head + 4) > 1)
      import_note_add(job, NOTE_morph_targets_dropped, import_u32(head + 4) - 1, "poses of frame %u after the first",
                      f);
    if (!next_frame(file, &at, 4 * (uint64_t)vertices)) return;
  }
}

/* Copies the skins, but of a group only the first image; returns the offset behind them, or 0 if the file ends before. */
static uint64_t copy_skins(const import_source *file, uint32_t skins, uint64_t image, uint8_t *out, size_t *length) {
  uint64_t at = 84;
  uint32_t i;
  for (i = 0; i < skins && i < MAX_MDL; i++) {
    const uint8_t *head = part_of(file, at, 8);
    uint64_t group = head && import_u32(head) ? import_u32(head + 4) : 0;
    const uint8_t *first = head ? part_of(file, at + (group ? 8 + 4 * group : 4), image) : NULL;
    if (!first) return 0;
    at += group ? 8 + group * (4 + image) : 4 + image;
    if (at > file->size) return 0;
    memset(out + *length, 0, 4);
    memcpy(out + *length + 4, first, (size_t)image);
    *length += 4 + (size_t)image;
  }
  return at;
}

/* Assimp takes a group of images, which change in turn, for one image. */
sk_status import_mdl_open(import_job *job) {
  const import_source *file;
  uint64_t image, behind;
  size_t length = 84;
  uint32_t skins;
  uint8_t *copy;
  sk_status status = import_files_whole(job);
  if (status) return status;
  file = job->files.sources.data;
  if (file->size < 84 || memcmp(file->data, "IDPO", 4)) return SK_OK;
  skins = import_u32(file->data + 48);
  image = (uint64_t)import_u32(file->data + 52) * import_u32(file->data + 56);
  if (image > file->size) return SK_OK;
  note_poses(job, file, image);
  copy = sk_alloc(file->size + 1);
  if (!copy) return import_no_memory(job, file->size);
  memcpy(copy, file->data, 84);
  behind = copy_skins(file, skins, image, copy, &length);
  if (!behind || behind == length) { /* without a group there is nothing to do */
    sk_free(copy);
    return SK_OK;
  }
  import_note_add(job, NOTE_looks_ignored, 1, "a skin of several images, of which the first is shown");
  memcpy(copy + length, file->data + behind, file->size - (size_t)behind);
  length += file->size - (size_t)behind;
  copy[length] = 0;
  return import_files_put(&job->files, file->name, copy, length, copy) ? SK_OK : import_no_memory(job, 1);
}

/* Several formats have the suffix .mdl; only Quake's stores frames of vertices. */
sk_status import_mdl_correct(import_job *job) {
  const import_source *file = job->files.sources.data;
  uint32_t frame = (uint32_t)job->request->frame, frames;
  quake_frames f;
  sk_status status;
  if (job->request->frame <= 0 || file->size < 84 || memcmp(file->data, "IDPO", 4)) return SK_OK;
  status = import_files_whole(job);
  if (status) return status;
  file = job->files.sources.data;
  frames = import_u32(file->data + 68);
  if (import_u32(file->data + 4) != MDL || frames > MAX_MDL) return fail_fit(job);
  if (frame >= frames) return fail_frame(job, frames);
  if (!find_mdl(file, frame, &f) || job->scene->mNumMeshes != 1 || !fits(&f, job->scene->mMeshes[0]))
    return fail_fit(job);
  return put_frame(job, &f, job->scene->mMeshes[0]);
}
