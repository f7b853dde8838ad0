/* import_check.c: whether a file may be read: its format is known and allowed, and its bytes are of it. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "import_bytes.h"
#include "import_check.h"
#include "import_library.h"
#include "import_texture.h"

#define MAX_STEP    100 /* bytes of the next step that an error names */
#define EARLY_BYTES 200 /* in which Assimp looks for what tells the readers of .xml apart */

/* ---- known and allowed ----------------------------------------------------------------------- */

/* Whether the list of Assimp's formats, "*.3d;*.3ds", or of those allowed, "fbx;glb", has the suffix. */
static bool is_listed(const char *list, const char *suffix) {
  size_t length = strlen(suffix);
  while (*list) {
    size_t item = strcspn(list, ";"), skip = item >= 2 && !memcmp(list, "*.", 2) ? 2 : 0;
    if (item - skip == length && !strncmp(list + skip, suffix, length)) return true;
    list += item + (list[item] != 0);
  }
  return false;
}

/* What to do about files of formats that skinpy does not read, or not by default. */
static const struct {
  const char *suffixes, *words;
} advice[] = {{"blend", "export the scene from Blender as glTF 2.0 (.glb)"},
              {"m3d;a3d;drc", "export the model as glTF 2.0 (.glb)"},
              {"ma;mb", "export the scene from Maya as FBX"},
              {"max", "export the scene from 3ds Max as FBX"},
              {"c4d", "export the scene from Cinema 4D as FBX or glTF"},
              {"usd;usda;usdc;usdz", "convert the file to glTF, for example with Blender"},
              {"skn", "the file does not begin as a saved model does; save the model again"},
              {"abc", "export the scene as glTF or FBX; Alembic is not read"},
              {"c3d;trc;asf;amc", "convert the motion to BVH or FBX"},
              {"pmd;vmd", "convert the model to glTF, for example with Blender and MMD Tools"},
              {"unity;unitypackage;prefab;anim;uasset", "export the model from the game engine as FBX or glTF"},
              {"vrml", "this may be VRML; pass format=\"wrl\""},
              {"zip;rar;7z;tar;gz;tgz;bz2;xz;zst", "extract the archive and load the model in it"},
              {"htm;html", "this is a web page; download the model itself"},
              {"mtl", "load the .obj file that names it"},
              {"bin", "load the .gltf file that names it"},
              {"png;jpg;jpeg;webp;tga;dds;gif;bmp;tif;tiff;ktx;ktx2;exr;hdr;psd",
               "this is an image; load the model that names it"}};

const char *import_advice(const char *suffix) {
  size_t i;
  for (i = 0; i < sizeof advice / sizeof *advice; i++)
    if (is_listed(advice[i].suffixes, suffix)) return advice[i].words;
  return NULL;
}

/* What the bytes are of files that hold no model. */
static const struct {
  const char *bytes, *words;
} strangers[] = {{"Rar!", "this is a RAR archive; extract the model first"},
                 {"7z\xbc\xaf'", "this is a 7-Zip archive; extract the model first"},
                 {"BZh", "this is compressed with bzip2; extract the model first"},
                 {"\xfd"
                  "7zXZ",
                  "this is compressed with xz; extract the model first"},
                 {"\x28\xb5\x2f\xfd", "this is compressed with Zstandard; extract the model first"},
                 {"%PDF-", "this is a PDF document; download the model itself"},
                 {"\x7f"
                  "ELF",
                  "this is a program; download the model itself"},
                 {"MZ", "this is a program; download the model itself"},
                 {"//Maya", "this is a scene of Maya; export it from Maya as FBX"},
                 {"FOR4", "this is a scene of Maya; export it from Maya as FBX"},
                 {"\xd0\xcf\x11\xe0", "this may be a scene of 3ds Max; export it from 3ds Max as FBX"},
                 {"QC4DC4D", "this is a scene of Cinema 4D; export it from there as FBX or glTF"},
                 {"Ogawa", "this is Alembic, which is not read; export the scene as glTF or FBX"},
                 {"\xff\xfe", "this is text in UTF-16; save it as UTF-8"},
                 {"\xfe\xff", "this is text in UTF-16; save it as UTF-8"}};

static const char *stranger(const uint8_t *data, size_t size) {
  size_t i;
  for (i = 0; i < sizeof strangers / sizeof *strangers; i++)
    if (import_has_bytes(data, size, 0, strangers[i].bytes)) return strangers[i].words;
  return NULL;
}

/* What to do about a file whose name says another format than its bytes, which begin as the magic says. */
static void step_to_other(const import_job *job, const import_magic *magic, char *out, size_t room) {
  const char *allowed = job->request->formats, *words = import_advice(magic->suffix);
  if (words) snprintf(out, room, "%s", words);
  else if (!allowed || is_listed(allowed, magic->suffix)) snprintf(out, room, "pass format=\"%s\"", magic->suffix);
  else
    snprintf(out, room, "pass format=\"%s\" and allow_formats=(*skinpy.DEFAULT_FORMATS, \"%s\")", magic->suffix,
             magic->suffix);
}

/* A suffix that no format has: the bytes may tell which one it should be. */
static sk_status fail_unknown(import_job *job, const char *suffix) {
  const import_source *file = job->files.sources.data;
  const char *words = import_advice(job->suffix);
  const import_magic *magic;
  const import_format *format = import_format_of_bytes(file->data, file->size, &magic);
  char step[MAX_STEP];
  if (!words) words = stranger(file->data, file->size);
  if (words) return sk_fail(job->error, SK_ERROR_IMPORT, "no format has the suffix %s; %s", suffix, words);
  if (format && magic->certain) {
    step_to_other(job, magic, step, sizeof step);
    return sk_fail(job->error, SK_ERROR_IMPORT,
                   "no format has the suffix %s, but the model begins as a .%s file does; %s", suffix, magic->suffix,
                   step);
  }
  return sk_fail(
      job->error, SK_ERROR_IMPORT,
      "no format has the suffix %s; Assimp %s reads, among others, .glb .gltf .fbx .dae .bvh "
      ".x .obj .md5mesh (skinpy.build_info()[\"formats\"] lists all); format=\"...\" names the format of the "
      "content; or export the model as glTF 2.0 (.glb)",
      suffix, import_assimp()->version);
}

static sk_status check_known(import_job *job) {
  const import_library *ai = import_assimp();
  const char *words = import_advice(job->suffix);
  char suffix[IMPORT_MAX_SUFFIX + 1];
  /* Assimp makes all its readers anew when it is asked for one, so its list comes first. */
  if (!job->suffix[0] || job->format->reader || is_listed(import_formats(), job->suffix)) return SK_OK;
  snprintf(suffix, sizeof suffix, ".%s", job->suffix);
  if (ai->aiIsExtensionSupported(suffix)) return SK_OK;
  if (job->format->component)
    return sk_fail(job->error, SK_ERROR_IMPORT, "%s (%s) is missing in this build of Assimp %s%s%s",
                   job->format->component, suffix, ai->version, words ? "; " : "", words ? words : "");
  return fail_unknown(job, suffix);
}

sk_status import_check_format(import_job *job) {
  const char *allowed = job->request->formats, *words = import_advice(job->suffix);
  sk_status status;
  if (allowed && job->suffix[0] && is_listed(allowed, job->suffix)) return SK_OK;
  status = check_known(job);
  if (status || !allowed) return status;
  if (!job->suffix[0])
    return sk_fail(job->error, SK_ERROR_FORMAT,
                   "neither the name nor the content of the model tells its format; pass format=\"...\"");
  if (job->request->isolated)
    return sk_fail(job->error, SK_ERROR_FORMAT,
                   "the format .%s is not among those allowed; %s%sallow it with "
                   "allow_formats=(*skinpy.DEFAULT_FORMATS, \"%s\")",
                   job->suffix, words ? words : "", words ? ", or " : "", job->suffix);
  /* In this process the sentence does not suggest all default formats: their readers break most often. */
  return sk_fail(job->error, SK_ERROR_FORMAT,
                 "the format .%s is not among those allowed; allow it with allow_formats=(\"%s\",)%s", job->suffix,
                 job->suffix,
                 job->format->allowance == IMPORT_ISOLATED ? "; with isolate=True it is allowed by default" : "");
}

sk_status import_explain_unread(import_job *job) {
  sk_error unread = *job->error;
  sk_status status = check_known(job);
  if (!status) *job->error = unread;
  return unread.status;
}

/* ---- what the first bytes must say ------------------------------------------------------------ */

/* Whether the text has the word at `at`; zero bytes between its letters are skipped, as in UTF-16 and UTF-32. */
static bool is_word(const uint8_t *data, size_t size, size_t at, const char *word) {
  for (; *word && at < size; at++) {
    if (!data[at]) continue;
    if (tolower(data[at]) != tolower((unsigned char)*word++)) return false;
  }
  return !*word;
}

static bool has_word(const uint8_t *data, size_t size, const char *word, bool at_line) {
  size_t i, line = import_skip_space(data, size); /* where the line begins, behind its spaces */
  for (i = 0; i < size; i++) {
    if (data[i] && (!at_line || i == line) && is_word(data, size, i, word)) return true;
    if (i >= line && (data[i] == '\n' || data[i] == '\r')) line = i + 1;
    else if (i == line && (data[i] == ' ' || data[i] == '\t')) line++;
  }
  return false;
}

static bool begins_with(const uint8_t *data, size_t size, const char *word) {
  size_t length = strlen(word), skip = import_skip_space(data, size);
  return size >= skip + length && !strncasecmp((const char *)data + skip, word, length);
}

static bool has_required(const import_required *required, const uint8_t *data, size_t size) {
  size_t i;
  if (size > IMPORT_HEAD_BYTES) size = IMPORT_HEAD_BYTES;
  if (required->where == IMPORT_HAS_EARLY && size > EARLY_BYTES) size = EARLY_BYTES;
  for (i = 0; required->words[i]; i++) {
    const char *word = required->words[i];
    if (required->where == IMPORT_BYTES    ? import_has_bytes(data, size, 0, word)
        : required->where == IMPORT_BEGINS ? begins_with(data, size, word)
                                           : has_word(data, size, word, required->where == IMPORT_HAS_LINE))
      return true;
  }
  return !i;
}

/* ---- what they must not say -------------------------------------------------------------------- */

bool import_is_binary_stl(const uint8_t *data, size_t size, size_t whole) {
  return size >= 84 && 84 + 50 * import_number(data + 80, 4) == whole;
}

/* The magic of another format that the bytes are certainly of, and its row; NULL where there is none. */
static const import_magic *other_magic(const import_format *format, const uint8_t *data, size_t size, size_t whole,
                                       const import_format **other) {
  const import_magic *magic;
  *other = import_format_of_bytes(data, size, &magic);
  if (!*other || !magic->certain || import_format_may_hold(format, *other)) return NULL;
  return format->is_own && format->is_own(data, size, whole) ? NULL : magic;
}

sk_status import_check_stand_in(import_job *job) {
  const import_source *file = job->files.sources.data;
  if (!file->size && !import_advice(job->suffix))
    return sk_fail(job->error, SK_ERROR_IMPORT, "the file is empty; download or export it again");
  if (import_is_lfs_pointer(file))
    return sk_fail(job->error, SK_ERROR_IMPORT, "this is a Git LFS pointer, not a model; run git lfs pull");
  if (begins_with(file->data, file->size, "<!doctype html") || begins_with(file->data, file->size, "<html"))
    return sk_fail(job->error, SK_ERROR_IMPORT, "this is a web page, not a model; download the model itself");
  return SK_OK;
}

sk_status import_check_content(import_job *job) {
  const import_source *file = job->files.sources.data;
  const import_required *required = &job->format->required;
  size_t whole = job->files.descriptor >= 0 ? job->files.model_size : file->size;
  const import_format *other;
  const import_magic *magic = other_magic(job->format, file->data, file->size, whole, &other);
  const char *words = import_advice(job->suffix);
  const char *image = import_image_format(file->data, file->size);
  const char *named = job->request->format || !job->request->path ? "given as" : "named";
  char step[MAX_STEP];
  if (magic && other->container)
    return sk_fail(job->error, SK_ERROR_IMPORT, "the model is %s .%s, but is %s; extract the model first", named,
                   job->suffix, other->container);
  if (magic) {
    step_to_other(job, magic, step, sizeof step);
    return sk_fail(job->error, SK_ERROR_IMPORT, "the model is %s .%s, but begins as a .%s file does; %s", named,
                   job->suffix, magic->suffix, step);
  }
  if (has_required(required, file->data, file->size)) return SK_OK;
  if (import_advice(image) && strcmp(image, "tga")) words = import_advice(image); /* any bytes may be a TGA */
  else if (!words) words = stranger(file->data, file->size);
  return sk_fail(job->error, SK_ERROR_IMPORT,
                 "the model is %s .%s, but does not begin as a .%s file does: there is no %s; %s", named, job->suffix,
                 job->suffix, required->wish, words ? words : "download or export it again");
}

/* ---- models inside models ----------------------------------------------------------------------- */

bool import_may_bring_in(const import_files *files, const char *suffix, const import_source *source) {
  static const char *const harmless[] = {"mtl", "skin", "shader", "material", "skeleton"};
  char lower[IMPORT_MAX_SUFFIX];
  const import_format *format, *other;
  size_t i;
  if (!files->format->brings_models || !files->formats) return true;
  for (i = 0; suffix[i] && i + 1 < sizeof lower; i++) lower[i] = (char)tolower((unsigned char)suffix[i]);
  lower[i] = 0;
  for (i = 0; i < sizeof harmless / sizeof *harmless; i++)
    if (!strcmp(lower, harmless[i])) return true;
  format = import_format_of(lower);
  return is_listed(files->formats, lower) && has_required(&format->required, source->data, source->size) &&
         !other_magic(format, source->data, source->size, source->size, &other);
}
