/* import_fbx_reader.c: the steps of an import of FBX. */
#include "../import_fit.h"
#include "../import_limit.h"
#include "import_fbx_mesh.h"
#include "import_fbx_shape.h"

#define OLDEST_VERSION 7100u
/* ---- opening ---------------------------------------------------------------------------------------- */

/* Files before 7.1 (FBX 2011) have another structure: objects without ids. */
static sk_status check_version(import_job *job, const fbx_file *file) {
  if (!file->version || file->version >= OLDEST_VERSION) return SK_OK;
  return sk_fail(job->error, SK_ERROR_IMPORT,
                 "this is FBX version %u.%u, of before 2011, which is not supported; convert the file to FBX 2011 or "
                 "newer, for example with Autodesk's FBX Converter or with Blender",
                 file->version / 1000, file->version % 1000 / 100);
}

/* Counts nodes, their depth, and the keys of all stacks against the limits of the request. */
static sk_status check_motion(import_job *job) {
  const fbx_scene *scene = &job->fbx->scene;
  import_counts counts = {.nodes = scene->nodes.count + 1, .depth = 1};
  uint32_t *depth = sk_alloc((scene->nodes.count + 1) * sizeof *depth);
  size_t i, k;
  int axis;
  if (!depth) return import_no_memory(job, scene->nodes.count * sizeof *depth);
  for (i = 0; i < scene->nodes.count; i++) {
    int32_t parent = fbx_node_at(scene, i)->parent;
    depth[i] = parent < 0 ? 2 : depth[parent] + 1;
    if (depth[i] > counts.depth) counts.depth = depth[i];
    counts.nodes += fbx_node_at(scene, i)->is_split;
  }
  sk_free(depth);
  for (i = 0; i < scene->stacks.count; i++) {
    const fbx_stack *stack = fbx_stack_at(scene, i);
    for (k = 0; k < stack->sources.count; k++)
      for (axis = 0; axis < 3; axis++) {
        uint32_t curve = ((const fbx_value_source *)stack->sources.data)[k].curves[axis];
        if (curve != FBX_NONE) counts.keys += ((const fbx_curve *)scene->curves.data)[curve].count;
      }
  }
  job->fbx->keys_left = import_fit_budget(counts.keys);
  return import_check_counts(job, &counts);
}

sk_status import_fbx_open(import_job *job) {
  fbx_file file;
  sk_status status = import_files_whole(job);
  if (status) return status;
  file = fbx_open_file(job->files.sources.data);
  status = check_version(job, &file);
  if (status) return status;
  job->fbx = sk_alloc_zero(sizeof *job->fbx);
  if (!job->fbx) return import_no_memory(job, sizeof *job->fbx);
  status = fbx_open_scene(job, &job->fbx->scene);
  if (!status) fbx_read_space(job->fbx);
  if (!status && !job->fbx->scene.nodes.count && job->fbx->scene.document.objects.count <= 1)
    status = sk_fail(job->error, SK_ERROR_IMPORT, "the file has no objects");
  if (!status) status = check_motion(job);
  return status ? status : fbx_list_materials(job);
}

void import_fbx_close(import_job *job) {
  import_fbx *fbx = job->fbx;
  if (!fbx) return;
  fbx_free_meshes(fbx);
  fbx_close_scene(&fbx->scene);
  sk_array_free(&fbx->joints);
  sk_array_free(&fbx->materials);
  sk_array_free(&fbx->targets);
  sk_free(fbx);
  job->fbx = NULL;
}

const import_reader fbx_reader = {
    .add_joints = fbx_add_joints,
    .rest = fbx_rest,
    .material_count = fbx_material_count,
    .read_material = fbx_read_material,
    .list_submeshes = fbx_list_submeshes,
    .name_submesh = fbx_name_submesh,
    .copy_faces = fbx_copy_faces,
    .has = fbx_has,
    .read = fbx_read_attribute,
    .skin = fbx_skin,
    .target_count = fbx_target_count,
    .read_shapes = fbx_read_shapes,
    .default_weight = fbx_default_weight,
    .name_target = fbx_name_target,
    .clip_count = fbx_clip_count,
    .name_clip = fbx_name_clip,
    .add_channels = fbx_add_channels,
    .add_extras = fbx_add_extras,
};
