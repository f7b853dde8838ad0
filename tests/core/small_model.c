/* small_model.c: see small_model.h. */
#include "small_model.h"

#include <string.h>

#define HALF 0.70710678f /* sin and cos of 45 degrees: half of a quarter turn */

static sk_text add_text(small_model *model, const char *words) {
  sk_text text = {(uint32_t)model->text_length, (uint32_t)strlen(words)};
  memcpy(model->text + model->text_length, words, text.length);
  model->text_length += text.length;
  return text;
}

static void set_skeleton(small_model *m) {
  static const float translation[] = {1, 2, 3, 1, 0, 0, 1, 0, 0};
  static const float rotation[] = {0, 0, HALF, HALF, 0, 0, 0, 1, 0, 0, 0, 1};
  static const float scale[] = {1, 1, 1, 1, 1.1180340f, 1, 1, 2, 1}; /* of the sheared joint: lengths of columns */
  static const float rest_local[] = {0, -1,   0, 1, /**/ 1, 0, 0, 2, /**/ 0, 0, 1, 3, /**/ 0, 0, 0, 1,
                                     1, 0.5f, 0, 1, /**/ 0, 1, 0, 0, /**/ 0, 0, 1, 0, /**/ 0, 0, 0, 1,
                                     1, 0,    0, 1, /**/ 0, 2, 0, 0, /**/ 0, 0, 1, 0, /**/ 0, 0, 0, 1};
  m->names[0] = add_text(m, "root");
  m->names[1] = add_text(m, "upper");
  m->names[2] = add_text(m, "lower");
  m->parents[0] = SK_NONE;
  m->parents[1] = 0;
  m->parents[2] = 1;
  memcpy(m->translation, translation, sizeof translation);
  memcpy(m->rotation, rotation, sizeof rotation);
  memcpy(m->scale, scale, sizeof scale);
  memcpy(m->rest_local, rest_local, sizeof rest_local);
}

static void set_skin(small_model *m) {
  /* The inverse of root * upper, by hand: root * upper = [0 -1 0 1; 1 .5 0 3; 0 0 1 3]. */
  static const float inverse_bind[] = {0.5f, 1, 0, -3.5f, /**/ -1, 0, 0, 1, /**/ 0, 0, 1, -3, /**/ 0, 0, 0, 1,
                                       1,    0, 0, 0,     /**/ 0,  1, 0, 0, /**/ 0, 0, 1, 0,  /**/ 0, 0, 0, 1};
  m->slot_joints[0] = 1;
  m->slot_joints[1] = 2;
  memcpy(m->inverse_bind, inverse_bind, sizeof inverse_bind);
}

static void set_mesh(small_model *m) {
  static const float positions[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 5};
  static const uint16_t slots[] = {0, 1, 0, 1, 1, 0, 1, 0};
  static const float weights[] = {1, 0, 0.75f, 0.25f, 0.5f, 0.5f, 1, 0};
  static const uint32_t faces[] = {0, 1, 2, 0, 2, 3};
  int v;
  memcpy(m->positions, positions, sizeof positions);
  memcpy(m->vertex_slots, slots, sizeof slots);
  memcpy(m->vertex_weights, weights, sizeof weights);
  memcpy(m->faces, faces, sizeof faces);
  for (v = 0; v < VERTICES; v++) {
    m->normals[3 * v + 2] = 1;
    m->uvs[2 * v] = 0.25f * (float)v;
    m->colors[4 * v + 3] = 1;
    m->tangents[4 * v] = m->tangents[4 * v + 3] = 1;
  }
  m->submeshes[0] = (sk_submesh){add_text(m, "part"), 2, 0, 0, VERTICES, 0, FACES, 0, 0};
  m->submeshes[1] = (sk_submesh){m->submeshes[0].name, 2, 0, VERTICES, 0, FACES, 0, SK_SUBMESH_HIDDEN, 0};
  m->materials[0] = (sk_material){
      .name = add_text(m, "skin"), .base_color = {1, 0.5f, 0.25f, 1}, .alpha = SK_ALPHA_MASK, .alpha_cutoff = 0.5f};
  m->textures[0] = (sk_texture){add_text(m, "*0"), add_text(m, "rgba8"), 2, 2, 0, 16};
  m->textures[1] = (sk_texture){m->textures[0].name, add_text(m, "png"), 0, 0, 16, 0};
}

static void set_targets(small_model *m) {
  static const uint32_t vertices[] = {1, 3, 2};
  static const float positions[] = {0, 0, 1, 0, 0, 2, 1, 0, 0}, normals[] = {1, 0, 0, 0, 1, 0, 0, 0, 0};
  memcpy(m->target_vertices, vertices, sizeof vertices);
  memcpy(m->target_positions, positions, sizeof positions);
  memcpy(m->target_normals, normals, sizeof normals);
  m->targets[0] = (sk_target){add_text(m, "up"), 2, 0.5f, 0, 2};
  m->targets[1] = (sk_target){add_text(m, "out"), 2, 0, 2, 1};
}

static void set_clips(small_model *m) {
  static const double times[] = {0, 0.5, 2, 1, 1.5, 1, 0, 2};
  static const float values[] = {
      1, 2, 3, 4, 5,      6, 7,      8,      9,                          /* step: translations */
      0, 0, 0, 1, 0,      0, HALF,   HALF,   0,      0, -1, 0,          /* linear: 0, 90, -180 degrees about z */
      1, 1, 1, 3, 1,      1, /**/ 0, 0,      0,      2, 0,  0, /**/ 4, 0,   0, 0, 0, 0, /* cubic: values, in, out */
      0, 0, 0, 2, /**/ 0, 0, 0,      0,      /**/ 0, 0, 0,  0,       /* cubic rotation: not a unit, as splines may */
      0, 0, 0, 0, 0,      0, 1,      /**/ 4, 0,      0, 0,  0, HALF,   HALF}; /* root motion */
  memcpy(m->times, times, sizeof times);
  memcpy(m->values, values, sizeof values);
  m->channels[0] = (sk_channel){0, SK_PATH_TRANSLATION, SK_STEP, 0, 3, 3, 0, STEP_VALUES, SK_NONE64, SK_NONE64};
  m->channels[1] = (sk_channel){1, SK_PATH_ROTATION, SK_LINEAR, 0, 3, 4, 0, LINEAR_VALUES, SK_NONE64, SK_NONE64};
  m->channels[2] = (sk_channel){2, SK_PATH_SCALE, SK_CUBIC, 0, 2, 3, 3, CUBIC_VALUES, CUBIC_IN, CUBIC_OUT};
  m->channels[3] =
      (sk_channel){2, SK_PATH_ROTATION, SK_CUBIC, 0, 1, 4, 5, CUBIC_ROTATION, CUBIC_ROTATION_IN, CUBIC_ROTATION_OUT};
  m->clips[0] =
      (sk_clip_record){add_text(m, "move"), 2.0, 1000.0, 0, CHANNELS, 0, 0, EVENTS, 2, MOTION_TIMES, MOTION_VALUES};
  m->clips[1] = (sk_clip_record){add_text(m, "still"), 0.0, 25.0, CHANNELS, 0, 0, EVENTS, 0, 0, SK_NONE64, SK_NONE64};
  m->events[0] = (sk_event){0.5, m->clips[0].name};
  m->events[1] = (sk_event){2.0, m->clips[1].name};
}

void small_model_set(small_model *m) {
  sk_text code;
  memset(m, 0, sizeof *m);
  set_skeleton(m);
  set_skin(m);
  set_mesh(m);
  set_targets(m);
  set_clips(m);
  m->extras = "{}";
  code = add_text(m, "sheared");
  m->report[0] = (sk_report_entry){code, SK_REPAIRED, 0, 1, code, code};
  m->info = (sk_info){.kind = SK_BLOCK_MODEL,
                      .influences = K,
                      .joints = JOINTS,
                      .slots = SLOTS,
                      .vertices = VERTICES,
                      .faces = FACES,
                      .targets = TARGETS,
                      .unit_meters = 0.01,
                      .up = SK_AXIS_POS_Y,
                      .source_format = add_text(m, "test")};
}

void *small_model_write(const small_model *m, size_t *size, sk_error *error) {
  void *block;
  const sk_block_part parts[] = {
#define PART(name, array)                                              \
  {                                                                    \
    SK_SECTION_##name, sk_section_stride(SK_SECTION_##name, K),        \
        sizeof(array) / sk_section_stride(SK_SECTION_##name, K), array \
  }
      {SK_SECTION_INFO, sizeof m->info, 1, &m->info},
      {SK_SECTION_TEXT, 1, m->text_length, m->text},
      PART(JOINT_NAMES, m->names),
      PART(JOINT_PARENTS, m->parents),
      PART(REST_TRANSLATION, m->translation),
      PART(REST_ROTATION, m->rotation),
      PART(REST_SCALE, m->scale),
      PART(REST_LOCAL, m->rest_local),
      PART(SLOT_JOINTS, m->slot_joints),
      PART(SLOT_INVERSE_BIND, m->inverse_bind),
      PART(POSITIONS, m->positions),
      PART(NORMALS, m->normals),
      PART(UVS, m->uvs),
      PART(COLORS, m->colors),
      PART(TANGENTS, m->tangents),
      PART(VERTEX_SLOTS, m->vertex_slots),
      PART(VERTEX_WEIGHTS, m->vertex_weights),
      PART(FACES, m->faces),
      PART(TARGETS, m->targets),
      PART(TARGET_VERTICES, m->target_vertices),
      PART(TARGET_POSITIONS, m->target_positions),
      PART(TARGET_NORMALS, m->target_normals),
      PART(SUBMESHES, m->submeshes),
      PART(MATERIALS, m->materials),
      PART(TEXTURES, m->textures),
      PART(TEXTURE_DATA, m->texture_data),
      PART(CLIPS, m->clips),
      PART(CHANNELS, m->channels),
      PART(TIMES, m->times),
      PART(VALUES, m->values),
      PART(REPORT, m->report),
      PART(EVENTS, m->events),
      {SK_SECTION_EXTRAS, 1, strlen(m->extras), m->extras},
#undef PART
  };
  return sk_block_write(parts, sizeof parts / sizeof *parts, &block, size, error) == SK_OK ? block : NULL;
}

void *small_clips_write(const small_model *m, size_t *size, sk_error *error) {
  void *block;
  const sk_info info = {.kind = SK_BLOCK_CLIPS, .influences = 1, .joints = JOINTS};
  const sk_block_part parts[] = {
      {SK_SECTION_INFO, sizeof info, 1, &info},
      {SK_SECTION_TEXT, 1, m->text_length, m->text},
      {SK_SECTION_JOINT_NAMES, sizeof *m->names, JOINTS, m->names},
      {SK_SECTION_CLIPS, sizeof *m->clips, 2, m->clips},
      {SK_SECTION_CHANNELS, sizeof *m->channels, CHANNELS, m->channels},
      {SK_SECTION_TIMES, sizeof *m->times, KEY_TIMES, m->times},
      {SK_SECTION_VALUES, sizeof *m->values, KEY_VALUES, m->values},
      {SK_SECTION_EVENTS, sizeof *m->events, EVENTS, m->events},
  };
  return sk_block_write(parts, sizeof parts / sizeof *parts, &block, size, error) == SK_OK ? block : NULL;
}
