/* import_left_over.c: a walk over Assimp's scene for what no step of the import takes. */
#include <stdio.h>
#include <string.h>

#include <assimp/camera.h>
#include <assimp/light.h>
#include <assimp/material.h>

#include "import_left_over.h"

#define NAME 60 /* bytes of names in the report, with a zero byte */

/* ---- materials ------------------------------------------------------------------------- */

static const char *name_of_texture(unsigned type) {
  static const char *const names[] = {[aiTextureType_DIFFUSE] = "a second color",
                                      [aiTextureType_SPECULAR] = "specular",
                                      [aiTextureType_AMBIENT] = "ambient",
                                      [aiTextureType_EMISSIVE] = "emissive",
                                      [aiTextureType_HEIGHT] = "bump",
                                      [aiTextureType_NORMALS] = "normal",
                                      [aiTextureType_SHININESS] = "shininess",
                                      [aiTextureType_OPACITY] = "opacity",
                                      [aiTextureType_DISPLACEMENT] = "displacement",
                                      [aiTextureType_LIGHTMAP] = "light map",
                                      [aiTextureType_REFLECTION] = "reflection",
                                      [aiTextureType_BASE_COLOR] = "a second color"};
  const char *name = type < sizeof names / sizeof *names ? names[type] : NULL;
  return name ? name : "another";
}

static bool has_key(const struct aiMaterialProperty *property, const char *key) {
  return property && !strcmp(property->mKey.data, key);
}

/* Assimp invents materials, which have no name or AI_DEFAULT_MATERIAL_NAME: their colors are none of the file. */

/* The kind of texture that import_material.c takes for the base color. */
static unsigned type_of_color(const struct aiMaterial *material) {
  unsigned i;
  for (i = 0; i < material->mNumProperties; i++) {
    const struct aiMaterialProperty *p = material->mProperties[i];
    if (has_key(p, _AI_MATKEY_TEXTURE_BASE) && p->mSemantic == aiTextureType_BASE_COLOR && !p->mIndex)
      return aiTextureType_BASE_COLOR;
  }
  return aiTextureType_DIFFUSE;
}

static bool is_bright(const struct aiMaterialProperty *property) {
  float color[3];
  if (property->mType != aiPTI_Float || property->mDataLength < sizeof color) return false;
  memcpy(color, property->mData, sizeof color);
  return color[0] > 0.0f || color[1] > 0.0f || color[2] > 0.0f;
}

/* A text is its length in 4 bytes, its bytes and a zero byte, which a broken file may lack. */
static bool read_text(const struct aiMaterialProperty *property, char out[NAME]) {
  if (property->mDataLength <= 4) return false;
  snprintf(out, NAME, "%.*s", (int)(property->mDataLength - 4 < NAME ? property->mDataLength - 4 : NAME),
           property->mData + 4);
  return true;
}

/* Whether a texture is neither the color's, nor the same one under Assimp's older name of it. */
static bool is_other_texture(const struct aiMaterialProperty *p, unsigned color) {
  return has_key(p, _AI_MATKEY_TEXTURE_BASE) &&
         (p->mIndex || (p->mSemantic != color && p->mSemantic != aiTextureType_DIFFUSE));
}

static void note_material(import_job *job, const struct aiMaterial *material) {
  unsigned color = type_of_color(material), i;
  char name[NAME] = "", texture[NAME];
  for (i = 0; i < material->mNumProperties; i++)
    if (has_key(material->mProperties[i], "?mat.name")) read_text(material->mProperties[i], name);
  if (!strcmp(name, AI_DEFAULT_MATERIAL_NAME)) name[0] = 0;
  for (i = 0; i < material->mNumProperties; i++) {
    const struct aiMaterialProperty *p = material->mProperties[i];
    if (is_other_texture(p, color) && read_text(p, texture))
      import_note_add(job, NOTE_looks_ignored, 1, "material '%s': %s texture '%s'", name, name_of_texture(p->mSemantic),
                      texture);
    if (has_key(p, "$clr.emissive") && is_bright(p) && name[0])
      import_note_add(job, NOTE_looks_ignored, 1, "material '%s': emissive color", name);
    if (has_key(p, "$clr.specular") && is_bright(p) && name[0])
      import_note_add(job, NOTE_looks_ignored, 1, "material '%s': specular color", name);
  }
}

/* ---- meshes and nodes ------------------------------------------------------------------ */

static void note_mesh(import_job *job, const struct aiMesh *mesh) {
  unsigned i;
  for (i = 1; i < AI_MAX_NUMBER_OF_TEXTURECOORDS; i++)
    if (mesh->mTextureCoords[i])
      import_note_add(job, NOTE_attributes_ignored, 1, "mesh '%.80s': texture coordinates %u", mesh->mName.data, i);
  for (i = 1; i < AI_MAX_NUMBER_OF_COLOR_SETS; i++)
    if (mesh->mColors[i])
      import_note_add(job, NOTE_attributes_ignored, 1, "mesh '%.80s': colors %u", mesh->mName.data, i);
}

/* Marks the meshes that nodes have. */
static void find_used(const import_job *job, bool *used) {
  const struct aiNode *const *nodes = job->model.nodes.data;
  size_t j;
  unsigned i;
  for (j = 0; j < job->model.nodes.count; j++)
    for (i = 0; nodes[j] && i < nodes[j]->mNumMeshes; i++)
      if (nodes[j]->mMeshes[i] < job->scene->mNumMeshes) used[nodes[j]->mMeshes[i]] = true;
}

static sk_status note_meshes(import_job *job) {
  const struct aiScene *scene = job->scene;
  bool *meshes = sk_alloc_zero((size_t)scene->mNumMeshes + 1), *materials = NULL;
  unsigned i;
  if (meshes) materials = sk_alloc_zero((size_t)scene->mNumMaterials + 1);
  if (!materials) {
    sk_free(meshes);
    return import_no_memory(job, (size_t)scene->mNumMeshes + scene->mNumMaterials);
  }
  find_used(job, meshes);
  for (i = 0; i < scene->mNumMeshes; i++) {
    const struct aiMesh *mesh = scene->mMeshes[i];
    if (!mesh) continue;
    if (!meshes[i]) import_note_add(job, NOTE_meshes_outside_scene, 1, "mesh '%.100s'", mesh->mName.data);
    if (meshes[i]) note_mesh(job, mesh);
    if (meshes[i] && mesh->mMaterialIndex < scene->mNumMaterials) materials[mesh->mMaterialIndex] = true;
  }
  for (i = 0; i < scene->mNumMaterials; i++)
    if (materials[i] && scene->mMaterials[i]) note_material(job, scene->mMaterials[i]);
  sk_free(meshes);
  sk_free(materials);
  return SK_OK;
}

static void note_nodes(import_job *job) {
  const struct aiNode *const *nodes = job->model.nodes.data;
  size_t j;
  for (j = 0; j < job->model.nodes.count; j++)
    if (nodes[j] && nodes[j]->mMetaData && nodes[j]->mMetaData->mNumProperties)
      import_note_add(job, NOTE_metadata_ignored, 1, "node '%.60s': '%.60s'", nodes[j]->mName.data,
                      nodes[j]->mMetaData->mKeys[0].data);
}

sk_status import_left_over(import_job *job) {
  const struct aiScene *scene = job->scene;
  unsigned i;
  if (!scene || job->format->reader) return SK_OK;
  for (i = 0; i < scene->mNumCameras; i++)
    if (scene->mCameras[i])
      import_note_add(job, NOTE_cameras_lights_ignored, 1, "camera '%.100s'", scene->mCameras[i]->mName.data);
  for (i = 0; i < scene->mNumLights; i++)
    if (scene->mLights[i])
      import_note_add(job, NOTE_cameras_lights_ignored, 1, "light '%.100s'", scene->mLights[i]->mName.data);
  note_nodes(job);
  return note_meshes(job);
}
