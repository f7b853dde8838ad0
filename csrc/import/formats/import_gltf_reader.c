/* import_gltf_reader.c: what glTF answers to the steps of an import. */
#include "import_gltf.h"

void gltf_space(import_job *job) { job->model.info.unit_meters = 1.0; }

const import_reader gltf_reader = {
    .add_joints = gltf_add_joints,
    .rest = gltf_rest,
    .material_count = gltf_material_count,
    .read_material = gltf_read_material,
    .list_submeshes = gltf_list_submeshes,
    .name_submesh = gltf_name_submesh,
    .copy_faces = gltf_copy_faces,
    .has = gltf_has,
    .read = gltf_read,
    .skin = gltf_skin_submesh,
    .target_count = gltf_target_count,
    .read_shapes = gltf_read_shapes,
    .default_weight = gltf_default_weight,
    .name_target = gltf_name_target,
    .clip_count = gltf_clip_count,
    .name_clip = gltf_name_clip,
    .add_channels = gltf_add_channels,
    .add_extras = gltf_add_extras,
};
