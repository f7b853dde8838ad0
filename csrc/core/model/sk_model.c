/* sk_model.c: see sk_model.h. */
#include "sk_model.h"

#include <string.h>

static void open_skin(const sk_block *block, sk_skin *skin) {
  skin->slot_count = (int32_t)block->info->slots;
  skin->joints = block->sections[SK_SECTION_SLOT_JOINTS].data;
  skin->inverse_bind = block->sections[SK_SECTION_SLOT_INVERSE_BIND].data;
}

static void open_mesh(const sk_block *block, sk_mesh *mesh) {
  mesh->vertex_count = (size_t)block->info->vertices;
  mesh->influences = block->info->influences;
  mesh->positions = block->sections[SK_SECTION_POSITIONS].data;
  mesh->normals = block->sections[SK_SECTION_NORMALS].data;
  mesh->slots = block->sections[SK_SECTION_VERTEX_SLOTS].data;
  mesh->weights = block->sections[SK_SECTION_VERTEX_WEIGHTS].data;
}

sk_status sk_model_open(const void *memory, size_t size, sk_model *model, sk_error *error) {
  sk_status status;
  memset(model, 0, sizeof *model);
  status = sk_block_open(memory, size, &model->block, error);
  if (status) return status;
  model->clip_count = (uint32_t)model->block.sections[SK_SECTION_CLIPS].rows;
  sk_morph_open(&model->block, &model->morph);
  if (model->block.info->kind == SK_BLOCK_MODEL) {
    sk_skeleton_open(&model->block, &model->skeleton);
    open_skin(&model->block, &model->skin);
    open_mesh(&model->block, &model->mesh);
  }
  return SK_OK;
}
