/* test_block.c: a good block opens, and every rule of sk_block.h that one can break is noticed. */
#include "check.h"

#include "small_model.h"

static void *write_model(const small_model *model, size_t *size) {
  sk_error error;
  void *block = small_model_write(model, size, &error);
  CHECK(block);
  return block;
}

/* ---- what is right ----------------------------------------------------------------- */

static void a_good_model_opens(void) {
  small_model written;
  sk_model model;
  sk_error error = {SK_OK, ""};
  size_t size;
  int kind;
  char *block;
  small_model_set(&written);
  block = write_model(&written, &size);
  if (sk_model_open(block, size, &model, &error)) check_failed(__FILE__, __LINE__, "%s", error.message);
  for (kind = 0; kind < SK_SECTION_COUNT; kind++) {
    const sk_section *section = &model.block.sections[kind];
    CHECK(section->data && section->rows);
    CHECK_EQUAL(((const char *)section->data - block) % SK_ALIGNMENT, 0);
    CHECK_EQUAL(section->stride, sk_section_stride((sk_section_kind)kind, K));
    CHECK((const char *)section->data + section->rows * section->stride <= block + size);
  }
  CHECK_EQUAL(model.skeleton.joint_count, JOINTS);
  CHECK_EQUAL(model.skin.slot_count, SLOTS);
  CHECK_EQUAL(model.mesh.vertex_count, VERTICES);
  CHECK_EQUAL(model.mesh.influences, K);
  CHECK_EQUAL(model.clip_count, 2);
  CHECK_FLOATS(model.skeleton.rest_local, written.rest_local, JOINTS * 16, 0);
  CHECK_FLOATS(model.mesh.positions, written.positions, VERTICES * 3, 0);
  CHECK(memcmp(model.mesh.slots, written.vertex_slots, sizeof written.vertex_slots) == 0);
  sk_free(block);
}

static void a_block_of_clips_opens(void) {
  small_model written;
  sk_model model;
  sk_error error = {SK_OK, ""};
  size_t size;
  void *block;
  small_model_set(&written);
  block = small_clips_write(&written, &size, &error);
  CHECK(block);
  if (sk_model_open(block, size, &model, &error)) check_failed(__FILE__, __LINE__, "%s", error.message);
  CHECK_EQUAL(model.clip_count, 2);
  CHECK_EQUAL(model.skeleton.joint_count, 0);
  CHECK_EQUAL(model.mesh.vertex_count, 0);
  sk_free(block);
}

/* A skeleton without a mesh, a skin or clips: whatever has no rows may be left out. */
static void a_skeleton_alone_opens(void) {
  small_model m;
  sk_model model;
  sk_error error = {SK_OK, ""};
  size_t size;
  void *block;
  small_model_set(&m);
  m.info.slots = 0;
  m.info.vertices = m.info.faces = m.info.targets = 0;
  {
    const sk_block_part parts[] = {
        {SK_SECTION_INFO, sizeof m.info, 1, &m.info},
        {SK_SECTION_TEXT, 1, m.text_length, m.text},
        {SK_SECTION_JOINT_NAMES, sizeof *m.names, JOINTS, m.names},
        {SK_SECTION_JOINT_PARENTS, sizeof *m.parents, JOINTS, m.parents},
        {SK_SECTION_REST_TRANSLATION, 12, JOINTS, m.translation},
        {SK_SECTION_REST_ROTATION, 16, JOINTS, m.rotation},
        {SK_SECTION_REST_SCALE, 12, JOINTS, m.scale},
        {SK_SECTION_REST_LOCAL, 64, JOINTS, m.rest_local},
        {SK_SECTION_POSITIONS, 12, 0, NULL},
    };
    CHECK_EQUAL(sk_block_write(parts, COUNT(parts), &block, &size, &error), SK_OK);
  }
  if (sk_model_open(block, size, &model, &error)) check_failed(__FILE__, __LINE__, "%s", error.message);
  CHECK_EQUAL(model.skeleton.joint_count, JOINTS);
  CHECK_EQUAL(model.mesh.vertex_count, 0);
  CHECK_EQUAL(model.clip_count, 0);
  sk_free(block);
}

/* ---- what is wrong, one rule a line ---------------------------------------------------- */

typedef struct broken {
  const char *words; /* of the sentence that answers */
  void (*spoil)(small_model *m);
} broken;

#define SPOIL(name, statement) \
  static void name(small_model *m) { statement; }

SPOIL(kind_unknown, m->info.kind = 7)
SPOIL(influences_none, m->info.influences = 0)
SPOIL(influences_many, m->info.influences = 9)
SPOIL(influences_other, m->info.influences = 1)
SPOIL(joints_none, m->info.joints = 0)
SPOIL(joints_more, m->info.joints = JOINTS + 1)
SPOIL(joints_many, m->info.joints = SK_MAX_JOINTS + 1)
SPOIL(slots_many, m->info.slots = SK_MAX_SLOTS + 1)
SPOIL(vertices_many, m->info.vertices = UINT64_MAX)
SPOIL(vertices_fewer, m->info.vertices = VERTICES - 1)
SPOIL(faces_more, m->info.faces = FACES + 1)
SPOIL(axis_unknown, m->info.up = SK_AXIS_COUNT)
SPOIL(unit_nan, m->info.unit_meters = NAN)
SPOIL(unit_negative, m->info.unit_meters = -1)
SPOIL(format_outside, m->info.source_format.length = 1000)
SPOIL(joint_name_outside, m->names[1].offset = UINT32_MAX)
SPOIL(parent_itself, m->parents[1] = 1)
SPOIL(parent_later, m->parents[1] = 2)
SPOIL(parent_negative, m->parents[1] = -2)
SPOIL(rest_rotation_long, m->rotation[7] = 2)
SPOIL(rest_rotation_zero, m->rotation[7] = 0)
SPOIL(rest_nan, m->translation[4] = NAN)
SPOIL(rest_infinite, m->scale[0] = INFINITY)
SPOIL(rest_not_affine, m->rest_local[12] = 0.5f)
SPOIL(slot_joint_outside, m->slot_joints[1] = JOINTS)
SPOIL(slot_joint_negative, m->slot_joints[0] = -1)
SPOIL(inverse_bind_not_affine, m->inverse_bind[31] = 0)
SPOIL(inverse_bind_nan, m->inverse_bind[3] = NAN)
SPOIL(position_infinite, m->positions[11] = -INFINITY)
SPOIL(rest_translation_other, m->translation[3] = 1.5f)
SPOIL(rest_rotation_other, (m->rotation[2] = 0, m->rotation[3] = 1))
SPOIL(rest_scale_other, m->scale[7] = 3)
SPOIL(rest_matrix_other, m->rest_local[1] = -0.5f)
SPOIL(info_reserved, m->info.reserved[1] = 1)
SPOIL(normal_short, m->normals[5] = 0.99f)
SPOIL(normal_tiny, m->normals[5] = 1e-30f)
SPOIL(normal_huge, m->normals[5] = 1e37f)
SPOIL(tangent_long, m->tangents[4] = 2)
SPOIL(tangent_side, m->tangents[7] = 0)
SPOIL(normal_nan, m->normals[0] = NAN)
SPOIL(uv_nan, m->uvs[1] = NAN)
SPOIL(color_nan, m->colors[1] = NAN)
SPOIL(tangent_nan, m->tangents[1] = NAN)
SPOIL(vertex_slot_outside, m->vertex_slots[3] = SLOTS)
SPOIL(weight_nan, m->vertex_weights[0] = NAN)
SPOIL(weights_rise, (m->vertex_weights[2] = 0.25f, m->vertex_weights[3] = 0.75f))
SPOIL(weights_negative, (m->vertex_weights[2] = 1.5f, m->vertex_weights[3] = -0.5f))
SPOIL(weights_sum, m->vertex_weights[0] = 0.9f)
SPOIL(face_outside, m->faces[5] = VERTICES)
SPOIL(targets_more, m->info.targets = TARGETS + 1)
SPOIL(targets_many, m->info.targets = SK_MAX_JOINTS + 1)
SPOIL(target_name_outside, m->targets[0].name.offset = 999)
SPOIL(target_node_outside, m->targets[1].node = JOINTS)
SPOIL(target_weight_nan, m->targets[1].default_weight = NAN)
SPOIL(target_gap, m->targets[0].count = 1)
SPOIL(target_count_overflow, m->targets[1].count = UINT64_MAX)
SPOIL(target_vertices_fall, m->target_vertices[1] = 1)
SPOIL(target_vertex_outside, m->target_vertices[2] = VERTICES)
SPOIL(target_position_nan, m->target_positions[4] = NAN)
SPOIL(target_normal_infinite, m->target_normals[8] = INFINITY)
SPOIL(channel_target_outside, (m->channels[0].path = SK_PATH_WEIGHT, m->channels[0].joint = TARGETS))
SPOIL(submesh_node_outside, m->submeshes[0].node = JOINTS)
SPOIL(submesh_node_none, m->submeshes[0].node = SK_NONE)
SPOIL(submesh_material_outside, m->submeshes[0].material = 1)
SPOIL(submesh_material_negative, m->submeshes[0].material = -2)
SPOIL(submesh_vertices_outside, m->submeshes[0].first_vertex = 1)
SPOIL(submesh_vertices_overflow, m->submeshes[0].first_vertex = UINT32_MAX)
SPOIL(submesh_faces_outside, m->submeshes[0].face_count = FACES + 1)
SPOIL(submesh_vertices_shared, m->submeshes[1].vertex_count = 1)
SPOIL(submesh_faces_shared, m->submeshes[1].face_count = FACES)
SPOIL(submesh_gap, m->submeshes[1].first_face = 0)
SPOIL(submeshes_swapped, (m->submeshes[0].vertex_count = 2, m->submeshes[0].first_vertex = 2,
                          m->submeshes[1].first_vertex = 0, m->submeshes[1].vertex_count = 2))
SPOIL(submesh_face_outside,
      (m->submeshes[0].vertex_count = 3, m->submeshes[1].first_vertex = 3, m->submeshes[1].vertex_count = 1))
SPOIL(submesh_face_of_another,
      (m->submeshes[0].vertex_count = 0, m->submeshes[0].face_count = 0, m->submeshes[1].first_vertex = 0,
       m->submeshes[1].vertex_count = VERTICES, m->submeshes[1].first_face = 0, m->submeshes[1].face_count = FACES,
       m->faces[0] = VERTICES))
SPOIL(submesh_reserved, m->submeshes[1].reserved = 1)
SPOIL(submesh_flags_unknown, m->submeshes[0].flags = SK_SUBMESH_HIDDEN | 4)
SPOIL(submesh_name_outside, m->submeshes[0].name.length = UINT32_MAX)
SPOIL(material_texture_outside, m->materials[0].texture = 2)
SPOIL(material_texture_negative, m->materials[0].texture = -7)
SPOIL(material_color_nan, m->materials[0].base_color[2] = NAN)
SPOIL(material_color_above_1, m->materials[0].base_color[2] = 1.5f)
SPOIL(material_color_negative, m->materials[0].base_color[3] = -0.5f)
SPOIL(material_cutoff_negative, m->materials[0].alpha_cutoff = -1)
SPOIL(material_cutoff_infinite, m->materials[0].alpha_cutoff = INFINITY)
SPOIL(material_sides, m->materials[0].double_sided = 2)
SPOIL(material_alpha, m->materials[0].alpha = SK_ALPHA_COUNT)
SPOIL(material_wrap, m->materials[0].wrap_v = SK_WRAP_COUNT)
SPOIL(material_min_filter, m->materials[0].min_filter = SK_FILTER_MIN_COUNT)
SPOIL(material_mag_filter, m->materials[0].mag_filter = SK_FILTER_MAG_COUNT)
SPOIL(material_name_outside, m->materials[0].name.offset = 1u << 30)
SPOIL(texture_outside, m->textures[0].offset = 1)
SPOIL(texture_bytes_shared, (m->textures[1].offset = 12, m->textures[1].length = 4))
SPOIL(texture_gap, (m->textures[0].length = 8, m->textures[0].height = 1))
SPOIL(texture_bytes_of_none, m->textures[0].height = 1; m->textures[0].length = m->textures[1].offset = 8)
SPOIL(texture_of_no_pixels, m->textures[1].format = m->textures[0].format)
SPOIL(texture_encoded_with_pixels, m->textures[0].format = m->textures[1].format)
SPOIL(texture_overflow, m->textures[0].offset = UINT64_MAX - 7)
SPOIL(texture_rows_missing, m->textures[0].height = 3)
SPOIL(texture_without_rows, m->textures[0].width = 3; m->textures[0].height = 0)
SPOIL(texture_rows_overflow, m->textures[0].width = m->textures[0].height = UINT32_MAX)
SPOIL(texture_format_outside, m->textures[0].format.offset = 999)
SPOIL(clip_name_outside, m->clips[0].name.offset = 999)
SPOIL(clip_duration_nan, m->clips[0].duration = NAN)
SPOIL(clip_duration_negative, m->clips[0].duration = -1)
SPOIL(clip_ticks_zero, m->clips[0].ticks_per_second = 0)
SPOIL(clip_channels_gap, m->clips[0].first_channel = 1)
SPOIL(clip_channels_more, m->clips[0].channel_count = UINT32_MAX)
SPOIL(clip_channels_fewer, m->clips[0].channel_count = (m->clips[1].first_channel = CHANNELS - 1))
SPOIL(channel_joint_outside, m->channels[0].joint = JOINTS)
SPOIL(channel_joint_negative, m->channels[0].joint = -1)
SPOIL(channel_twice, m->channels[3] = m->channels[1])
SPOIL(channel_material_outside, (m->channels[0].path = SK_PATH_EMISSIVE_FACTOR, m->channels[0].joint = 1))
SPOIL(channel_visibility_outside, (m->channels[0].path = SK_PATH_VISIBILITY, m->channels[0].joint = JOINTS))
SPOIL(channel_path, m->channels[0].path = SK_PATH_COUNT)
SPOIL(channel_interpolation, m->channels[0].interpolation = SK_INTERPOLATION_COUNT)
SPOIL(channel_keys_none, m->channels[0].key_count = 0)
SPOIL(channel_keys_many, m->channels[0].key_count = UINT32_MAX)
SPOIL(channel_times_outside, m->channels[0].times = KEY_TIMES - 2)
SPOIL(channel_times_overflow, m->channels[0].times = UINT64_MAX)
SPOIL(channel_values_outside, m->channels[0].values = KEY_VALUES - 8)
SPOIL(channel_tangents_missing, m->channels[2].in_tangents = SK_NONE64)
SPOIL(channel_tangents_outside, m->channels[2].out_tangents = KEY_VALUES - 5)
SPOIL(channel_tangents_not_wanted, m->channels[0].in_tangents = 0)
SPOIL(channel_stride_short, m->channels[0].stride = 2)
SPOIL(channel_stride_huge, m->channels[0].stride = UINT32_MAX)
SPOIL(channel_stride_outside, m->channels[0].stride = (KEY_VALUES - 3) / 2 + 1)
SPOIL(channel_tangent_stride_outside, m->channels[2].stride = KEY_VALUES - CUBIC_OUT - 2)
SPOIL(channel_still_outside, (m->channels[0].stride = 0, m->channels[0].values = KEY_VALUES - 2))
SPOIL(channel_still_keys_many, (m->channels[0].stride = 0, m->channels[0].key_count = SK_MAX_STILL_KEYS + 1))
SPOIL(channel_still_keys_outside, (m->channels[0].stride = 0, m->channels[0].key_count = KEY_TIMES + 1))
SPOIL(channel_cells_unknown, m->channels[1].in_cells = 2)
SPOIL(channel_cells_narrow, m->channels[0].in_cells = 1)
SPOIL(channel_cells_still, (m->channels[1].in_cells = 1, m->channels[1].stride = 0))
SPOIL(channel_cells_of_weights, m->channels[0].path = SK_PATH_WEIGHT; m->channels[0].in_cells = 1;
      m->channels[0].stride = 4)
SPOIL(channel_cells_of_materials, m->channels[0].path = SK_PATH_EMISSIVE_FACTOR; m->channels[0].in_cells = 1;
      m->channels[0].stride = 4)
SPOIL(channel_cells_outside, (m->channels[1].in_cells = 1, m->channels[1].values = KEY_VALUES - 15))
SPOIL(channel_cells_not_repeated, m->channels[1].in_cells = 1)
SPOIL(channel_cells_of_three_end_otherwise, (m->channels[0].in_cells = 1, m->channels[0].stride = 4))
SPOIL(key_times_equal, m->times[1] = m->times[0])
SPOIL(key_times_fall, m->times[1] = 3)
SPOIL(key_times_nan, m->times[1] = NAN)
SPOIL(key_times_infinite, m->times[2] = INFINITY)
SPOIL(key_value_nan, m->values[STEP_VALUES] = NAN)
SPOIL(key_rotation_long, m->values[LINEAR_VALUES + 3] = 1.5f)
SPOIL(tangent_infinite, m->values[CUBIC_OUT] = INFINITY)
SPOIL(clip_flags_unknown, m->clips[0].flags = 2)
SPOIL(clip_events_gap, m->clips[0].first_event = 1)
SPOIL(clip_events_more, m->clips[0].event_count = UINT32_MAX)
SPOIL(clip_events_fewer, m->clips[0].event_count = (m->clips[1].first_event = EVENTS - 1))
SPOIL(event_name_outside, m->events[1].name.offset = 999)
SPOIL(event_early, m->events[0].time = -0.25)
SPOIL(event_late, m->events[1].time = 2.25)
SPOIL(event_out_of_order, m->events[1].time = 0.25)
SPOIL(event_nan, m->events[0].time = NAN)
SPOIL(event_infinite, m->events[1].time = INFINITY)
SPOIL(motion_times_without_keys, m->clips[1].motion_times = 0)
SPOIL(motion_values_without_keys, m->clips[1].motion_values = 0)
SPOIL(motion_keys_many, m->clips[0].motion_count = UINT32_MAX)
SPOIL(motion_times_outside, m->clips[0].motion_times = KEY_TIMES - 1)
SPOIL(motion_times_overflow, m->clips[0].motion_times = UINT64_MAX - 1)
SPOIL(motion_values_outside, m->clips[0].motion_values = KEY_VALUES - 13)
SPOIL(motion_values_overflow, m->clips[0].motion_values = UINT64_MAX - 1)
SPOIL(motion_times_equal, m->times[MOTION_TIMES] = 2)
SPOIL(motion_times_nan, m->times[MOTION_TIMES + 1] = NAN)
SPOIL(motion_value_nan, m->values[MOTION_VALUES] = NAN)
SPOIL(motion_rotation_long, m->values[MOTION_VALUES + 6] = 1.5f)
SPOIL(key_late, m->clips[0].duration = 1.75; m->events[1].time = 1.75)
SPOIL(motion_key_late, m->times[MOTION_TIMES + 1] = 2.5)
SPOIL(report_reserved, m->report[0].reserved = 1)
SPOIL(extras_no_object, m->extras = "[]")
SPOIL(extras_cut, m->extras = "{\"a\": [1, 2}")
SPOIL(report_severity, m->report[0].severity = SK_SEVERITY_COUNT)
SPOIL(report_text_outside, m->report[0].message.offset = 80)

static const broken broken_models[] = {
    {"kind 7", kind_unknown},
    {"influences", influences_none},
    {"influences", influences_many},
    {"VERTEX_SLOTS", influences_other},
    {"joint", joints_none},
    {"JOINT", joints_more},
    {"joints", joints_many},
    {"slots", slots_many},
    {"vertices", vertices_many},
    {"rows", vertices_fewer},
    {"FACES", faces_more},
    {"axis", axis_unknown},
    {"unit", unit_nan},
    {"unit", unit_negative},
    {"string", format_outside},
    {"joint 1", joint_name_outside},
    {"joint 1 has parent 1", parent_itself},
    {"joint 1 has parent 2", parent_later},
    {"joint 1 has parent -2", parent_negative},
    {"joint 1", rest_rotation_long},
    {"joint 1", rest_rotation_zero},
    {"REST_TRANSLATION", rest_nan},
    {"REST_SCALE", rest_infinite},
    {"REST_LOCAL", rest_not_affine},
    {"slot 1 follows joint 3", slot_joint_outside},
    {"slot 0 follows joint -1", slot_joint_negative},
    {"SLOT_INVERSE_BIND", inverse_bind_not_affine},
    {"SLOT_INVERSE_BIND", inverse_bind_nan},
    {"POSITIONS", position_infinite},
    {"NORMALS", normal_nan},
    {"UVS", uv_nan},
    {"COLORS", color_nan},
    {"TANGENTS", tangent_nan},
    {"vertex 1 follows slot 2", vertex_slot_outside},
    {"VERTEX_WEIGHTS", weight_nan},
    {"vertex 1", weights_rise},
    {"vertex 1", weights_negative},
    {"vertex 0", weights_sum},
    {"face 1 uses vertex 4; its submesh has 4 vertices from 0 on", face_outside},
    {"joint 1: its rest matrix", rest_translation_other},
    {"joint 0: its rest matrix", rest_rotation_other},
    {"joint 2: its rest matrix", rest_scale_other},
    {"joint 0: its rest matrix", rest_matrix_other},
    {"INFO has numbers", info_reserved},
    {"vertex 1: its row in NORMALS has the length 0.99", normal_short},
    {"vertex 1: its row in NORMALS has the length 1e-30", normal_tiny},
    {"vertex 1: its row in NORMALS has the length 1e+37", normal_huge},
    {"vertex 1: its row in TANGENTS has the length 2", tangent_long},
    {"a side of 1 or -1", tangent_side},
    {"TARGETS", targets_more},
    {"targets", targets_many},
    {"target 0", target_name_outside},
    {"target 1 belongs to joint 3", target_node_outside},
    {"target 1", target_weight_nan},
    {"target 1", target_gap},
    {"target 1", target_count_overflow},
    {"target 0", target_vertices_fall},
    {"target 1", target_vertex_outside},
    {"TARGET_POSITIONS", target_position_nan},
    {"TARGET_NORMALS", target_normal_infinite},
    {"channel 0 moves target 2", channel_target_outside},
    {"submesh 0 belongs to joint 3", submesh_node_outside},
    {"submesh 0 belongs to joint -1", submesh_node_none},
    {"submesh 0 has material 1", submesh_material_outside},
    {"submesh 0 has material -2", submesh_material_negative},
    {"submesh 0 begins at vertex 1", submesh_vertices_outside},
    {"submesh 0 begins at vertex 4294967295", submesh_vertices_overflow},
    {"submesh 1 begins at vertex 4 and face 2; expected 4 and 3", submesh_faces_outside},
    {"submesh 1 begins at vertex 4 and face 0; expected 4 and 2", submesh_gap},
    {"submesh 0 begins at vertex 2", submeshes_swapped},
    {"face 1 uses vertex 3; its submesh has 3 vertices from 0 on", submesh_face_outside},
    {"face 0 uses vertex 4; its submesh has 4 vertices from 0 on", submesh_face_of_another},
    {"submesh 1 has unknown flags 0x", submesh_reserved},
    {"the submeshes have 5 vertices and 2 faces; the model has 4 and 2", submesh_vertices_shared},
    {"the submeshes have 4 vertices and 4 faces", submesh_faces_shared},
    {"submesh 0 has unknown flags 0x5", submesh_flags_unknown},
    {"submesh 0", submesh_name_outside},
    {"material 0 has texture 2", material_texture_outside},
    {"material 0 has texture -7", material_texture_negative},
    {"material 0", material_color_nan},
    {"material 0 has a color", material_color_above_1},
    {"material 0 has a color", material_color_negative},
    {"material 0 has a color", material_cutoff_negative},
    {"material 0 has a color", material_cutoff_infinite},
    {"material 0", material_sides},
    {"material 0", material_alpha},
    {"material 0 has an unknown wrap", material_wrap},
    {"material 0 has an unknown wrap", material_min_filter},
    {"material 0 has an unknown wrap", material_mag_filter},
    {"material 0", material_name_outside},
    {"texture 0", texture_outside},
    {"texture 1: its 4 bytes do not follow", texture_bytes_shared},
    {"texture 1: its 0 bytes do not follow", texture_gap},
    {"8 bytes of images belong to no texture", texture_bytes_of_none},
    {"texture 1: its 0 bytes are not 0 x 0 pixels", texture_of_no_pixels},
    {"texture 0: its 16 bytes are not 2 x 2 pixels, or it is encoded", texture_encoded_with_pixels},
    {"texture 0", texture_overflow},
    {"texture 0", texture_rows_missing},
    {"texture 0", texture_without_rows},
    {"texture 0", texture_rows_overflow},
    {"texture 0", texture_format_outside},
    {"clip 0", clip_name_outside},
    {"clip 0", clip_duration_nan},
    {"clip 0", clip_duration_negative},
    {"clip 0", clip_ticks_zero},
    {"clip 0", clip_channels_gap},
    {"clip 0", clip_channels_more},
    {"no clip", clip_channels_fewer},
    {"channel 0 moves joint 3", channel_joint_outside},
    {"channel 0 moves joint -1", channel_joint_negative},
    {"clip 0 has two channels of path 1 for joint 1", channel_twice},
    {"moves material", channel_material_outside},
    {"moves joint", channel_visibility_outside},
    {"channel 0", channel_path},
    {"channel 0", channel_interpolation},
    {"channel 0", channel_keys_none},
    {"values", channel_keys_many},
    {"channel 0", channel_times_outside},
    {"channel 0", channel_times_overflow},
    {"channel 0", channel_values_outside},
    {"channel 2", channel_tangents_missing},
    {"channel 2", channel_tangents_outside},
    {"channel 0", channel_tangents_not_wanted},
    {"channel 0: its keys cannot be 2 floats apart", channel_stride_short},
    {"channel 0: its 3 keys are outside the block", channel_stride_huge},
    {"channel 0: its 3 keys are outside the block", channel_stride_outside},
    {"channel 2: its 2 keys are outside the block", channel_tangent_stride_outside},
    {"channel 0: its 3 keys are outside the block", channel_still_outside},
    {"channels that do not move have 268435457 keys", channel_still_keys_many},
    {"channel 0: its 9 keys are outside the block", channel_still_keys_outside},
    {"channel 1: its keys cannot be 4 floats apart, in cells", channel_cells_unknown},
    {"channel 0: its keys cannot be 3 floats apart, in cells", channel_cells_narrow},
    {"channel 1: its keys cannot be 0 floats apart, in cells", channel_cells_still},
    {"channel 0: its keys cannot be 4 floats apart, in cells", channel_cells_of_weights},
    {"channel 0: its keys cannot be 4 floats apart, in cells", channel_cells_of_materials},
    {"channel 1: its 3 keys are outside the block", channel_cells_outside},
    {"channel 1: its cells do not end in 0", channel_cells_not_repeated},
    {"channel 0: its cells do not end in 0", channel_cells_of_three_end_otherwise},
    {"channel 0: its key times", key_times_equal},
    {"channel 0: its key times", key_times_fall},
    {"channel 0: its key times", key_times_nan},
    {"channel 0: its key times", key_times_infinite},
    {"VALUES", key_value_nan},
    {"channel 1", key_rotation_long},
    {"VALUES", tangent_infinite},
    {"clip 0 has unknown flags 0x2", clip_flags_unknown},
    {"clip 0: its events do not follow", clip_events_gap},
    {"clip 0: its events do not follow", clip_events_more},
    {"1 events belong to no clip", clip_events_fewer},
    {"event 1: a string", event_name_outside},
    {"event 0 at -0.25 s", event_early},
    {"event 1 at 2.25 s", event_late},
    {"event 1 at 0.25 s", event_out_of_order},
    {"event 0 at", event_nan},
    {"event 1 at inf s", event_infinite},
    {"clip 1: its root motion has an offset", motion_times_without_keys},
    {"clip 1: its root motion has an offset", motion_values_without_keys},
    {"clip 0: the 4294967295 keys of its root motion", motion_keys_many},
    {"clip 0: the 2 keys of its root motion", motion_times_outside},
    {"clip 0: the 2 keys of its root motion", motion_times_overflow},
    {"clip 0: the 2 keys of its root motion", motion_values_outside},
    {"clip 0: the 2 keys of its root motion", motion_values_overflow},
    {"clip 0: the times of its root motion", motion_times_equal},
    {"clip 0: the times of its root motion", motion_times_nan},
    {"VALUES", motion_value_nan},
    {"clip 0: a rotation of its root motion", motion_rotation_long},
    {"clip 0 has a key at 2 s, beyond its duration of 1.75 s", key_late},
    {"clip 0 has a key at 2.5 s, beyond its duration of 2 s", motion_key_late},
    {"report entry 0", report_reserved},
    {"EXTRAS is not a JSON object", extras_no_object},
    {"wrong near byte 11 of 12", extras_cut},
    {"report entry 0", report_severity},
    {"report entry 0", report_text_outside},
};

static void every_broken_rule_is_named(void) {
  size_t i;
  for (i = 0; i < COUNT(broken_models); i++) {
    small_model written;
    sk_block opened;
    sk_error error = {SK_OK, "it opened"};
    size_t size;
    void *block;
    small_model_set(&written);
    broken_models[i].spoil(&written);
    block = write_model(&written, &size);
    sk_block_open(block, size, &opened, &error);
    sk_free(block);
    if (error.status != SK_ERROR_BLOCK || !strstr(error.message, broken_models[i].words))
      check_failed(__FILE__, __LINE__, "row %zu of broken_models: \"%s\" lacks \"%s\"", i, error.message,
                   broken_models[i].words);
  }
}

/* Keys may lie at any distance that leaves each its room, over one another too, and be one for all times. */
static void strides_that_fit_open(void) {
  static const uint32_t strides[] = {0, 3, 4, 7, (KEY_VALUES - 3) / 2};
  size_t i, size;
  for (i = 0; i < COUNT(strides); i++) {
    small_model written;
    sk_block opened;
    sk_error error = {SK_OK, ""};
    void *block;
    small_model_set(&written);
    written.channels[0].stride = strides[i];
    block = write_model(&written, &size);
    CHECK_EQUAL(sk_block_open(block, size, &opened, &error), SK_OK);
    sk_free(block);
  }
}

/* Whether a block with the text as EXTRAS opens. */
static bool extras_open(const char *text) {
  small_model written;
  sk_block opened;
  sk_error error = {SK_OK, ""};
  size_t size;
  void *block;
  small_model_set(&written);
  written.extras = text;
  block = write_model(&written, &size);
  sk_block_open(block, size, &opened, &error);
  sk_free(block);
  if (error.status) CHECK_WORDS(error.message, "EXTRAS is not a JSON object");
  return error.status == SK_OK;
}

/* tests/test_block_sanity.py compares many more texts with Python's reader. */
static void extras_are_json(void) {
  static const char *const good[] = {
      " {} ", "{\"a\": [1, -0.5e+3, {\"\": {}}, [], true, false, null], \"b\\u00e9\\n\":\t0E-1\n}"};
  static const char *const bad[] = {" ",
                                    "[]",
                                    "{\"a\":01}",
                                    "{\"a\":1.}",
                                    "{\"a\":-}",
                                    "{\"a\":1e}",
                                    "{\"a\":\"\\x\"}",
                                    "{\"a\":\"\\u12g4\"}",
                                    "{\"a\":\"",
                                    "{\"a\" 1}",
                                    "{,}",
                                    "{\"a\":[1 2]}",
                                    "{\"a\":nul}",
                                    "{}{}",
                                    "{\"a\":[}]",
                                    "{\"a\":1",
                                    "{\"a",
                                    "{\"a\":\"\\u12",
                                    "{\"a\":\"\\"};
  char nested[2 * 600];
  size_t i, depth;
  for (i = 0; i < COUNT(good); i++) CHECK(extras_open(good[i]));
  for (i = 0; i < COUNT(bad); i++) CHECK(!extras_open(bad[i]));
  for (depth = 128; depth < 130; depth++) {
    memset(nested, '[', sizeof nested);
    memcpy(nested, "{\"a\":", 5);
    memset(nested + 5 + depth, ']', depth);
    memcpy(nested + 5 + 2 * depth, "}", 2);
    CHECK(extras_open(nested) == (depth == 128));
  }
}

/* ---- header and table ------------------------------------------------------------------ */

/* Writes a good block, puts `value` of `bytes` bytes at `offset`, and checks the answer's words. */
static void spoil_bytes(size_t offset, uint64_t value, size_t bytes, const char *words) {
  small_model written;
  sk_block opened;
  sk_error error = {SK_OK, "it opened"};
  size_t size;
  char *block;
  small_model_set(&written);
  block = write_model(&written, &size);
  memcpy(block + offset, &value, bytes);
  sk_block_open(block, size, &opened, &error);
  sk_free(block);
  CHECK_WORDS(error.message, words);
  CHECK_EQUAL(error.status, SK_ERROR_BLOCK);
}

static void a_broken_header_is_named(void) {
  enum { VERSION = 8, SECTION_COUNT = 12, SIZE = 16, FIRST = 64, SECOND = 96 };
  spoil_bytes(0, 'X', 1, "magic");
  spoil_bytes(VERSION, 1, 4, "version 1");
  spoil_bytes(SECTION_COUNT, UINT32_MAX, 4, "sections");
  spoil_bytes(SECTION_COUNT, 0, 4, "INFO");
  spoil_bytes(SIZE, 64, 8, "64 bytes");
  spoil_bytes(FIRST, SK_SECTION_COUNT, 4, "unknown kind");
  spoil_bytes(SECOND, SK_SECTION_INFO, 4, "twice");
  spoil_bytes(FIRST + 4, 8, 4, "INFO");
  spoil_bytes(SECOND + 4, 0, 4, "TEXT");
  spoil_bytes(SECOND + 8, 1, 8, "TEXT");
  spoil_bytes(SECOND + 8, UINT64_MAX - 63, 8, "TEXT");
  spoil_bytes(SECOND + 8, 0, 8, "TEXT lies in the block's header");
  spoil_bytes(SECOND + 8, 1152, 8, "sections INFO and TEXT share bytes");
  spoil_bytes(SECOND + 16, UINT64_MAX, 8, "TEXT");
  spoil_bytes(SECOND + 16, 0, 8, "TEXT");
}

static void an_odd_address_is_refused(void) {
  small_model written;
  sk_block opened;
  sk_error error;
  size_t size;
  char *block, *moved;
  small_model_set(&written);
  block = write_model(&written, &size);
  moved = malloc(size + 4);
  memcpy(moved + 4, block, size);
  CHECK_EQUAL(sk_block_open(moved + 4, size, &opened, &error), SK_ERROR_BLOCK);
  CHECK_EQUAL(sk_block_open(NULL, 0, &opened, &error), SK_ERROR_BLOCK);
  free(moved);
  sk_free(block);
}

static void a_mesh_among_clips_is_refused(void) {
  small_model written;
  sk_block opened;
  sk_error error = {SK_OK, "it opened"};
  size_t size;
  void *block;
  small_model_set(&written);
  written.info.kind = SK_BLOCK_CLIPS;
  block = write_model(&written, &size);
  CHECK_EQUAL(sk_block_open(block, size, &opened, &error), SK_ERROR_BLOCK);
  CHECK_WORDS(error.message, "clips");
  sk_free(block);
  written.info.slots = 0;
  written.info.vertices = written.info.faces = 0;
  block = write_model(&written, &size);
  CHECK_EQUAL(sk_block_open(block, size, &opened, &error), SK_ERROR_BLOCK);
  sk_free(block);
}

static void too_much_to_write_is_refused(void) {
  const sk_block_part parts[] = {{SK_SECTION_POSITIONS, 12, UINT64_MAX / 2, "x"}};
  sk_error error;
  size_t size;
  void *block = &size;
  CHECK(sk_block_write(parts, 1, &block, &size, &error) != SK_OK);
  CHECK(!block);
}

typedef struct poured {
  char bytes[2048];
  size_t size, promised;
  bool full;
} poured;

static bool take_poured(void *context, const sk_block_piece *pieces, size_t count, size_t size) {
  poured *into = context;
  size_t i;
  into->promised = size;
  for (i = 0; i < count; i++) {
    CHECK(pieces[i].size > 0 && into->size + pieces[i].size <= sizeof into->bytes);
    memcpy(into->bytes + into->size, pieces[i].data, pieces[i].size);
    into->size += pieces[i].size;
  }
  return !into->full;
}

static void a_poured_block_is_the_written_one(void) {
  const float positions[5][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}, {13, 14, 15}};
  const sk_block_part parts[] = {
      {SK_SECTION_TEXT, 1, 3, "abc"}, {SK_SECTION_NORMALS, 12, 0, NULL}, {SK_SECTION_POSITIONS, 12, 5, positions}};
  poured into = {.size = 0};
  const sk_block_sink sink = {take_poured, &into};
  sk_error error = {SK_OK, ""};
  size_t size, poured_size, before = sk_bytes_in_use();
  void *block;
  CHECK_EQUAL(sk_block_write(parts, COUNT(parts), &block, &size, &error), SK_OK);
  CHECK_EQUAL(sk_block_pour(parts, COUNT(parts), &sink, &poured_size, &error), SK_OK);
  CHECK(poured_size == size && into.size == size && into.promised == size);
  CHECK(!memcmp(block, into.bytes, size));
  sk_free(block);
  into = (poured){.full = true};
  CHECK_EQUAL(sk_block_pour(parts, COUNT(parts), &sink, &poured_size, &error), SK_ERROR_MEMORY);
  CHECK(sk_bytes_in_use() == before);
}

const check_test block_tests[] = {
    TEST(a_good_model_opens),           TEST(a_poured_block_is_the_written_one),
    TEST(a_block_of_clips_opens),       TEST(a_skeleton_alone_opens),
    TEST(every_broken_rule_is_named),   TEST(extras_are_json),
    TEST(strides_that_fit_open),        TEST(a_broken_header_is_named),
    TEST(an_odd_address_is_refused),    TEST(a_mesh_among_clips_is_refused),
    TEST(too_much_to_write_is_refused), {NULL, NULL},
};
