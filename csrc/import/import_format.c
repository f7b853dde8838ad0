/* import_format.c: which formats are known and allowed, of a model and of those that it brings in. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "import_internal.h"

/* ---- what is known and allowed --------------------------------------------------------------- */

/* Formats of Assimp that this build of it may lack. */
static const char *missing_format(const char *format) {
  static const char *const table[][2] = {{"m3d", "M3D"}, {"a3d", "M3D"}, {"usd", "USD"}, {"usda", "USD"},
                                         {"usdc", "USD"}, {"usdz", "USD"}, {"drc", "Draco"}};
  size_t i;
  for (i = 0; i < sizeof table / sizeof *table; i++)
    if (!strcmp(format, table[i][0])) return table[i][1];
  return NULL;
}

/* Whether the list of Assimp's formats, "*.3d;*.3ds", or of those allowed, "fbx;glb", has it. */
static bool is_listed(const char *list, const char *format) {
  size_t length = strlen(format);
  while (*list) {
    size_t item = strcspn(list, ";"), skip = item >= 2 && !memcmp(list, "*.", 2) ? 2 : 0;
    if (item - skip == length && !strncmp(list + skip, format, length)) return true;
    list += item + (list[item] != 0);
  }
  return false;
}

static sk_status check_known(import_job *job) {
  const import_library *ai = import_assimp();
  const char *missing = missing_format(job->format);
  char suffix[20];
  /* To ask Assimp makes all its readers anew, so its list comes first. */
  if (!job->format[0] || is_listed(import_formats(), job->format)) return SK_OK;
  snprintf(suffix, sizeof suffix, ".%s", job->format);
  if (ai->aiIsExtensionSupported(suffix)) return SK_OK;
  if (missing)
    return sk_fail(job->error, SK_ERROR_IMPORT, "%s (%s) is missing in this build of Assimp %s", missing,
                   suffix, ai->version);
  return sk_fail(job->error, SK_ERROR_IMPORT,
                 "no format has the suffix %s; Assimp %s reads, among others, .glb .gltf .fbx .dae .bvh "
                 ".x .obj .md5mesh (skinpy.build_info()[\"formats\"] lists all)",
                 suffix, ai->version);
}

sk_status import_check_format(import_job *job) {
  const char *allowed = job->request->formats;
  sk_status status;
  if (allowed && job->format[0] && is_listed(allowed, job->format)) return SK_OK;
  status = check_known(job);
  if (status || !allowed) return status;
  if (!job->format[0])
    return sk_fail(job->error, SK_ERROR_FORMAT,
                   "neither its name nor its content tells its format; say which with format=\"...\"");
  if (job->request->isolated)
    return sk_fail(job->error, SK_ERROR_FORMAT,
                   "its format, .%s, is not among those allowed; allow it with "
                   "allow_formats=(*skinpy.DEFAULT_FORMATS, \"%s\")",
                   job->format, job->format);
  return sk_fail(job->error, SK_ERROR_FORMAT, /* with all default ones those would come that break most often */
                 "its format, .%s, is not among those allowed; allow it with allow_formats=(\"%s\",); "
                 "isolate=True allows more by default",
                 job->format, job->format);
}

sk_status import_explain_unread(import_job *job) {
  sk_error unread = *job->error;
  sk_status status = check_known(job);
  if (!status) *job->error = unread;
  return unread.status;
}

/* ---- models inside models --------------------------------------------------------------------- */

bool import_may_bring_in(const import_files *files, const char *suffix, const import_source *source) {
  static const char *const scenes[] = {"lws", "mot", "irr", "xml", "mesh.xml", "md3", "pk3"};
  static const char *const parts[] = {"mtl", "skin", "shader", "material", "skeleton"};
  char format[sizeof ((import_job *)0)->format];
  size_t i;
  bool scene = false;
  for (i = 0; i < sizeof scenes / sizeof *scenes; i++) scene |= !strcmp(files->format, scenes[i]);
  if (!scene || !files->formats) return true;
  for (i = 0; suffix[i] && i + 1 < sizeof format; i++) format[i] = (char)tolower((unsigned char)suffix[i]);
  format[i] = 0;
  for (i = 0; i < sizeof parts / sizeof *parts; i++)
    if (!strcmp(format, parts[i])) return true;
  return is_listed(files->formats, format) && import_is_of(format, source->data, source->size, source->size);
}
