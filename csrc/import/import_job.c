/* import_job.c: the steps of an import in their order, from a request to a block, and the public table of functions.
   */
#include <stdio.h>
#include <string.h>

#include <assimp/postprocess.h>

#include "import_check.h"
#include "import_contents.h"
#include "import_left_over.h"
#include "import_library.h"
#include "import_limit.h"
#include "import_reader.h"
#include "import_space.h"
#include "import_weights.h"

/* ---- opening ------------------------------------------------------------------------ */

#define ASSIMP_WORDS 100 /* bytes of Assimp's words in a message: they may quote the file */

/* Fails with Assimp's words, cut, and without the name of the file, which stands in front of the message. */
static sk_status fail_with(import_job *job, const char *words) {
  const char *name = job->files.main_name;
  size_t length = strlen(name), used = 0;
  const char *advice = import_advice(job->suffix);
  char shown[ASSIMP_WORDS + 1] = "";
  while (*words && used < ASSIMP_WORDS) {
    if (!strncmp(words, name, length)) {
      snprintf(shown + used, sizeof shown - used, "the file");
      used = strlen(shown);
      words += length;
    } else {
      shown[used++] = *words++;
    }
  }
  if ((*words & 0xc0) == 0x80) /* no half of a character */
    while (used && (shown[--used] & 0xc0) == 0x80) continue;
  while (!*words && used && shown[used - 1] == '.') used--;
  shown[used] = 0;
  return sk_fail(job->error, SK_ERROR_IMPORT, "%s%s; %s", used ? shown : "Assimp gives no reason", *words ? "..." : "",
                 advice ? advice : "download it again, or export it as glTF 2.0 (.glb)");
}

/* Of Assimp's own steps only triangulation runs: the importer does what the others do, without losing joints or their
   order. Assimp is told not to invent a mesh for a skeleton. */
static sk_status open_scene(import_job *job) {
  const import_library *ai = import_assimp();
  struct aiPropertyStore *properties = ai->aiCreatePropertyStore();
  const struct aiScene *scene = NULL;
  const char *words;
  unsigned steps = aiProcess_Triangulate;
  if (job->format->is_validated) steps |= aiProcess_ValidateDataStructure;
  if (!properties) return import_no_memory(job, 1);
  ai->aiSetImportPropertyInteger(properties, AI_CONFIG_IMPORT_NO_SKELETON_MESHES, 1);
  if (job->request->frame != SK_NONE)
    ai->aiSetImportPropertyInteger(properties, AI_CONFIG_IMPORT_GLOBAL_KEYFRAME, job->request->frame);
  scene = ai->aiImportFileExWithProperties(job->files.main_name, steps, &job->files.io, properties);
  ai->aiReleasePropertyStore(properties);
  job->scene = scene;
  if (job->files.no_memory) return import_no_memory(job, 1);
  if (scene && scene->mRootNode) return SK_OK;
  words = scene ? "Assimp delivered a scene without a root node" : ai->aiGetErrorString();
  if (!scene && words && strstr(words, "bad_alloc"))
    return sk_fail(job->error, SK_ERROR_MEMORY, "out of memory in Assimp (%.100s)", words);
  return fail_with(job, words ? words : "");
}

/* Some readers of Assimp take any text for a file of theirs and find nothing in it. */
static sk_status check_contents(import_job *job) {
  const struct aiScene *scene = job->scene;
  if (!job->format->has_meshes) return SK_OK;
  if (scene->mNumMeshes || scene->mNumAnimations || scene->mRootNode->mNumChildren) return SK_OK;
  return sk_fail(job->error, SK_ERROR_IMPORT, "there is no mesh in the file; is it really .%s?", job->suffix);
}

/* A saved model (.skn) needs no import. One of Assimp's readers might find something in it. */
static sk_status refuse_saved(import_job *job) {
  const import_source *file = job->files.sources.data;
  if (file->size < sizeof SK_BLOCK_MAGIC - 1 || memcmp(file->data, SK_BLOCK_MAGIC, sizeof SK_BLOCK_MAGIC - 1))
    return SK_OK;
  return sk_fail(job->error, SK_ERROR_IMPORT, "this is a saved model, which needs no import");
}

/* From the request to Assimp's scene, or to what the reader of the format keeps. */
static sk_status open_model(import_job *job) {
  sk_status status = import_files_open(job);
  if (!status) status = refuse_saved(job);
  if (!status) status = import_check_stand_in(job);
  if (!status) status = import_check_format(job);
  if (!status) status = import_check_content(job);
  if (!status && job->request->scene && !job->format->has_scenes)
    status =
        sk_fail(job->error, SK_ERROR_IMPORT, "the file has no scenes to choose from; only glTF has; leave out scene");
  if (!status && job->format->open) status = job->format->open(job);
  if (status || job->format->reader) return status;
  status = open_scene(job);
  if (status == SK_ERROR_IMPORT && !job->scene) status = import_explain_unread(job);
  if (!status) status = import_check_scene(job);
  if (!status && job->format->is_read_again) status = import_files_whole(job);
  return status ? status : check_contents(job);
}

/* ---- the block ------------------------------------------------------------------------------- */

static sk_block_part section_of(sk_section_kind kind, const void *data, uint64_t count, uint32_t influences) {
  return (sk_block_part){kind, sk_section_stride(kind, influences), data ? count : 0, data};
}

static sk_status write_block(import_job *job, sk_import_result *result) {
  import_model *m = &job->model;
  uint32_t k = m->info.influences;
  uint64_t joints = m->info.joints;
#define LIST(kind, array)       section_of(SK_SECTION_##kind, (array).data, (array).count, k)
#define ROWS(kind, data, count) section_of(SK_SECTION_##kind, data, count, k)
  sk_block_part sections[] = {
      [IMPORT_MESH_SECTIONS] = ROWS(INFO, &m->info, 1),
      LIST(TEXT, m->text),
      LIST(JOINT_NAMES, m->names),
      LIST(JOINT_PARENTS, m->parents),
      ROWS(REST_TRANSLATION, m->translation.data, joints),
      ROWS(REST_ROTATION, m->rotation.data, joints),
      ROWS(REST_SCALE, m->scale.data, joints),
      ROWS(REST_LOCAL, m->local.data, joints),
      LIST(SLOT_JOINTS, m->slots.joints),
      LIST(SLOT_INVERSE_BIND, m->slots.offsets),
      LIST(TARGETS, m->targets),
      LIST(TARGET_VERTICES, m->target_vertices),
      LIST(TARGET_POSITIONS, m->target_positions),
      LIST(TARGET_NORMALS, m->target_normals),
      LIST(SUBMESHES, m->submeshes),
      LIST(MATERIALS, m->materials),
      LIST(TEXTURES, m->textures),
      LIST(TEXTURE_DATA, m->texture_data),
      LIST(CLIPS, m->clips),
      LIST(CHANNELS, m->channels),
      LIST(TIMES, m->times),
      LIST(VALUES, m->values),
      LIST(REPORT, m->report),
      LIST(EVENTS, m->events),
      LIST(EXTRAS, m->extras),
  };
#undef LIST
#undef ROWS
  import_mesh_sections(m, sections);
  m->info.slots = (uint32_t)m->slots.joints.count;
  if (job->request->sink)
    return sk_block_pour(sections, sizeof sections / sizeof *sections, job->request->sink, &result->size, job->error);
  return sk_block_write(sections, sizeof sections / sizeof *sections, &result->block, &result->size, job->error);
}

static void free_model(import_model *m) {
  sk_array *arrays[] = {&m->text,      &m->nodes,     &m->names,           &m->parents,          &m->translation,
                        &m->rotation,  &m->scale,     &m->local,           &m->slots.joints,     &m->slots.offsets,
                        &m->submeshes, &m->materials, &m->textures,        &m->texture_data,     &m->clips,
                        &m->channels,  &m->times,     &m->values,          &m->report,           &m->extras,
                        &m->events,    &m->targets,   &m->target_vertices, &m->target_positions, &m->target_normals};
  void *memory[] = {m->globals,  m->shear,   m->slots.table,  m->positions, m->normals, m->uvs,         m->colors,
                    m->tangents, m->weights, m->vertex_slots, m->faces,     m->shapes,  m->is_repeated, m->targets_of};
  size_t i;
  for (i = 0; i < sizeof arrays / sizeof *arrays; i++) sk_array_free(arrays[i]);
  for (i = 0; i < sizeof memory / sizeof *memory; i++) sk_free(memory[i]);
  import_names_free(&m->joint_of);
}

/* ---- the steps ----------------------------------------------------------------------------------- */

/* From Assimp's scene, and what the format says of it, to the arrays of the model. */
static sk_status convert(import_job *job) {
  const import_format *format = job->format;
  sk_status status = format->correct_scene ? format->correct_scene(job) : SK_OK;
  if (!status) status = import_skeleton(job);
  if (!status && format->correct) status = format->correct(job);
  if (!status) import_space(job);
  if (!status) status = import_materials(job);
  if (!status) status = import_meshes(job);
  if (!status) status = import_clips(job);
  import_note_add(job, NOTE_files_refused, job->files.refused, "'%.100s'", job->files.first_refused);
  import_note_add(job, NOTE_files_missing, job->files.missing, "%s", job->files.first_missing);
  if (!status && job->request->frame == SK_NONE) import_note_frames(job);
  if (!status) status = import_left_over(job);
  if (!status && format->note) format->note(job);
  if (!status && format->tell) status = format->tell(job);
  if (!status && !sk_text_append(&job->model.text, job->suffix, strlen(job->suffix), &job->model.info.source_format))
    status = import_no_memory(job, 1);
  return status ? status : import_report_write(job);
}

/* Frees what the model was made of, before the block doubles the model for a moment. */
static void close_sources(import_job *job) {
  if (job->scene) import_assimp()->aiReleaseImport(job->scene);
  job->scene = NULL;
  import_contents_close(job);
  if (job->format->close) job->format->close(job);
  import_weights_close(job);
  import_files_close(&job->files);
}

static sk_status run_steps(import_job *job, sk_import_result *result) {
  sk_status status = open_model(job);
  if (!status) status = convert(job);
  if (job->files.exceeded) status = import_check_bytes(job);
  close_sources(job);
  if (!status) status = import_pack_clips(job);
  return status ? status : write_block(job, result);
}

/* glibc gives memory back to the system and gets it again page by page. How much it keeps goes by the largest piece
   freed so far: after this one it keeps up to 8 MiB from one model to the next. Only one page of the piece
   is touched. */
static void keep_memory_for_next_model(void) {
  static bool done;
  if (!done) sk_free(sk_alloc((size_t)4 << 20));
  done = true;
}

static sk_status run(const sk_import_request *request, sk_import_result *result, sk_error *error) {
  sk_error own = {SK_OK, ""};
  import_job job;
  sk_status status;
  memset(&job, 0, sizeof job);
  memset(result, 0, sizeof *result);
  job.request = request;
  job.error = error ? error : &own;
  job.format = import_format_of("");
  if (!import_assimp()) return sk_fail(job.error, SK_ERROR_LIBRARY, "the importer was not started");
  if (request->max_influences < 1 || request->max_influences > SK_MAX_INFLUENCES)
    return sk_fail(job.error, SK_ERROR_ARGUMENT, "max_influences is %u; expected 1 to %d", request->max_influences,
                   SK_MAX_INFLUENCES);
  keep_memory_for_next_model();
  job.model.info.kind = SK_BLOCK_MODEL;
  job.model.info.influences = request->max_influences;
  job.model.text = SK_ARRAY(char);
  job.model.report = SK_ARRAY(sk_report_entry);
  status = run_steps(&job, result);
  free_model(&job.model);
  return status;
}

/* ---- the public table -------------------------------------------------------------------------------- */

static const char *library_path(void) { return import_assimp() ? import_assimp()->path : ""; }
static const char *library_version(void) { return import_assimp() ? import_assimp()->version : ""; }
static const char *library_formats(void) {
  static char list[AI_MAXLEN + 256];
  if (!list[0] && import_assimp()) {
    memcpy(list, import_formats(), strlen(import_formats()) + 1);
    import_format_add_own(list, sizeof list);
  }
  return list;
}

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const sk_importer *sk_importer_open(void);

const sk_importer *sk_importer_open(void) {
  static const sk_importer importer = {SK_IMPORT_ABI,   import_start,   run, sk_free, library_path,
                                       library_version, library_formats};
  return &importer;
}
