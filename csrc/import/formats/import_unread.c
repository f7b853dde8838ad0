/* import_unread.c: see import_unread.h.

   Assimp 6.0.5 reads the meshes of these formats, but not the motion that is looked for here. A keyword of the format
   shows that a file has such motion. */
#define _GNU_SOURCE /* memmem */
#include "import_unread.h"

#include <string.h>

#include "../import_bytes.h"

#define BLEND_HEADER 12 /* bytes of a .blend file in front of its blocks */

/* Whether the file has the word, without a letter behind it. */
static bool has_word(const import_source *file, const char *word) {
  size_t length = strlen(word), at = 0;
  while (at < file->size) {
    const uint8_t *found = memmem(file->data + at, file->size - at, word, length);
    if (!found) return false;
    at = (size_t)(found - file->data) + length;
    if (at == file->size || !((file->data[at] | 32) >= 'a' && (file->data[at] | 32) <= 'z')) return true;
  }
  return false;
}

/* Reports the first of the words that the file has. */
static void note_words(import_job *job, import_note_code code, const char *const *words) {
  for (; *words; words++)
    if (has_word(job->files.sources.data, *words)) {
      import_note_add(job, code, 1, "\"%s\", which Assimp's reader of .%s ignores", *words, job->suffix);
      return;
    }
}

void import_note_zae(import_job *job) {
  import_note_add(job, NOTE_archive_misread, 1, "unpack the archive and load its .dae file");
}

void import_note_ogex(import_job *job) {
  static const char *const moving[] = {"Animation", "Skin", NULL}, *const shapes[] = {"Morph", "MorphWeight", NULL};
  note_words(job, NOTE_channels_dropped, moving);
  note_words(job, NOTE_morph_targets_dropped, shapes);
}

void import_note_x3d(import_job *job) {
  static const char *const moving[] = {
      "PositionInterpolator", "OrientationInterpolator", "CoordinateInterpolator", "PositionInterpolator2D",
      "ScalarInterpolator",   "ColorInterpolator",       "HAnimHumanoid",          NULL};
  note_words(job, NOTE_channels_dropped, moving);
}

/* Reports morph maps, which move vertices. */
void import_note_lwo(import_job *job) {
  const import_source *file = job->files.sources.data;
  const uint8_t *at = file->data, *end = file->data + file->size;
  while (at < end && (at = memmem(at, (size_t)(end - at), "VMAP", 4)) != NULL) {
    bool morph = end - at >= 12 && (!memcmp(at + 8, "MORF", 4) || !memcmp(at + 8, "SPOT", 4));
    if (morph) import_note_add(job, NOTE_morph_targets_dropped, 1, "a morph map of LightWave");
    at += 4;
  }
}

void import_note_ase(import_job *job) {
  static const char *const frames[] = {"*MESH_ANIMATION", NULL};
  note_words(job, NOTE_morph_targets_dropped, frames);
}

/* Blocks of a .blend file: four letters, the size of the body, an address, two numbers. Assimp does not
   read the blocks of actions, armatures and shape keys. */
void import_note_blend(import_job *job) {
  const import_source *file = job->files.sources.data;
  size_t address = file->size > 7 && file->data[7] == '-' ? 8 : 4, at = BLEND_HEADER;
  bool big = file->size > 8 && file->data[8] == 'V';
  uint32_t actions = 0, armatures = 0, shapes = 0;
  while (file->size >= BLEND_HEADER && !memcmp(file->data, "BLENDER", 7) && file->size - at >= 16 + address) {
    const uint8_t *block = file->data + at;
    uint64_t size = big ? (uint64_t)block[4] << 24 | (uint64_t)block[5] << 16 | (uint64_t)block[6] << 8 | block[7]
                        : import_number(block + 4, 4);
    actions += !memcmp(block, "AC\0\0", 4);
    armatures += !memcmp(block, "AR\0\0", 4);
    shapes += !memcmp(block, "KE\0\0", 4);
    if (size > file->size - at - 16 - address) break;
    at += 16 + address + (size_t)size;
  }
  import_note_add(job, NOTE_channels_dropped, actions, "an action of Blender; export the scene as glTF 2.0 (.glb)");
  import_note_add(job, NOTE_weights_dropped, armatures, "an armature of Blender; export the scene as glTF 2.0 (.glb)");
  import_note_add(job, NOTE_morph_targets_dropped, shapes,
                  "shape keys of Blender; export the scene as glTF 2.0 (.glb)");
}
