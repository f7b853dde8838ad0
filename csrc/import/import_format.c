/* import_format.c: which format a file is of, whether that is allowed, and whether its bytes are of it.

   Assimp 6 takes the reader that has the name's suffix, unasked, where only one has it. Where several
   have it (.gltf .glb .xml) or none has, it asks their CanRead, and when these say no it asks all its
   readers: so bytes of any kind can reach any reader. Here a name always has a suffix that is listed and
   allowed; glTF is rewritten, so that its own reader knows it; and the first bytes must be of the format. */
#define _GNU_SOURCE /* memmem */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "import_internal.h"

#define XML_HEAD 200 /* bytes in which Assimp looks for what tells the readers of .xml apart */

/* ---- what the first bytes say ---------------------------------------------------------- */

typedef struct kind {
  const char *magic;
  size_t at;
  const char *format;
  bool certain; /* nothing else begins so, text neither */
} kind;

static const kind kinds[] = {
    {"glTF", 0, "glb", true},          {"Kaydara FBX Binary", 0, "fbx", true}, {"; FBX", 0, "fbx", true},
    {"xof ", 0, "x", true},            {"HIERARCHY", 0, "bvh", true},       {"MD5Version", 0, "md5mesh", true},
    {"IDP2", 0, "md2", true},          {"MS3D000000", 0, "ms3d", true},     {"BB3D", 0, "b3d", true},
    {"INTERQUAKEMODEL", 0, "iqm", true}, {"IDP3", 0, "md3", true},          {"IDPC", 0, "mdc", true},
    {"IDPO", 0, "mdl", true},          {"IDST", 0, "mdl", true},            {"$Filename", 0, "csm", true},
    {"$FileName", 0, "csm", true},     {"LWOB", 8, "lwo", true},            {"LWO2", 8, "lwo", true},
    {"LXOB", 8, "lxo", true},          {"LWSC", 0, "lws", true},            {"LWMO", 0, "lws", true},
    {"AC3D", 0, "ac", true},           {"PK\003\004", 0, "zip", true},      {"BLENDER", 0, "blend", true},
    {"3DMO", 0, "m3d", true},          {"PXR-USDC", 0, "usdc", true},       {"#usda", 0, "usda", true},
    {"PMX ", 0, "pmx", true},          {"Caligari", 0, "cob", true},        {"nendo", 0, "ndo", true},
    {"quick3Do", 0, "q3o", true},      {"TERRAGEN", 0, "ter", true},        {"ISO-10303-21", 0, "ifc", true},
    {"*3DSMAX_ASCIIEXPORT", 0, "ase", true}, {"ASSIMP.binary-dump.", 0, "assbin", true},
    {"ply\n", 0, "ply", true},         {"ply\r", 0, "ply", true},           {"ply", 0, "ply", false},
    {"solid", 0, "stl", false},        {"<?xml", 0, "dae", false},          {"<COLLADA", 0, "dae", true},
    {"{", 0, "gltf", false},           {"BlockBegin", 0, "off", false},     {"OFF", 0, "off", false},
    {"mtllib", 0, "obj", false},       {"v ", 0, "obj", false}};

/* Where the text begins: behind a byte order mark and white space. */
static size_t skip_space(const uint8_t *data, size_t size) {
  size_t at = size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3) ? 3 : 0;
  while (at < size && data[at] && strchr(" \t\r\n", data[at])) at++;
  return at;
}

static const kind *kind_of(const uint8_t *data, size_t size) {
  size_t i, skip = skip_space(data, size);
  for (i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    size_t length = strlen(kinds[i].magic), at = skip + kinds[i].at;
    if (size >= at + length && !memcmp(data + at, kinds[i].magic, length)) return &kinds[i];
  }
  return NULL;
}

const char *import_sniff(const uint8_t *data, size_t size) {
  const kind *found = kind_of(data, size);
  if (!found) return "";
  if (!strcmp(found->format, "md5mesh") && memmem(data, size < 4096 ? size : 4096, "numFrames", 9))
    return "md5anim"; /* both kinds of MD5 begin alike */
  return found->format;
}

/* ---- what they must say ----------------------------------------------------------------- */

typedef struct rule { /* one of the words must stand at the beginning, or somewhere in the head */
  const char *format;
  const char *words[5];
  enum {
    BYTES,    /* at the very beginning */
    BEGINS,   /* behind a byte order mark and white space; small letters count as capital ones */
    HAS,      /* somewhere near the beginning */
    HAS_LINE, /* there, at the beginning of a line */
    ALL       /* everything is of this format that is not certainly of another one */
  } where;
  const char *wish;
} rule;

#define GLTF_WISH "JSON or \"glTF\""

/* No rule here asks for more than the reader itself does. .obj and .stl have nothing that must stand
   in them, but are read by one reader only. */
static const rule rules[] = {
    {"gltf", {"{", "glTF"}, BEGINS, GLTF_WISH},
    {"glb", {"glTF", "{"}, BEGINS, GLTF_WISH},
    {"vrm", {"glTF", "{"}, BEGINS, GLTF_WISH},
    {"fbx", {"FBX"}, HAS, "\"FBX\""},
    {"dae", {"COLLADA"}, HAS, "\"<COLLADA\""},
    {"xml", {"<COLLADA", "irr_scene", "irrmesh", "<mesh>"}, HAS, "a scene or mesh of a known kind"},
    {"bvh", {"HIERARCHY"}, BEGINS, "\"HIERARCHY\""},
    {"ply", {"ply"}, BEGINS, "\"ply\""},
    {"x", {"xof "}, BYTES, "\"xof \""},
    {"md2", {"IDP2", "2PDI"}, BYTES, "\"IDP2\""},
    {"3ds", {"MM", "\x3d\xc2", "\xaa\x3d"}, BYTES, "its main chunk"},
    {"ms3d", {"MS3D000000"}, BYTES, "\"MS3D000000\""},
    {"b3d", {"BB3D"}, BYTES, "\"BB3D\""},
    {"md5mesh", {"MD5Version"}, HAS, "\"MD5Version\""},
    {"md5anim", {"MD5Version"}, HAS, "\"MD5Version\""},
    {"md5camera", {"MD5Version"}, HAS, "\"MD5Version\""},
    {"smd", {"version", "nodes", "skeleton", "triangles", "vertexanimation"}, HAS_LINE, "line \"version\" or \"nodes\""},
    {"stl", {NULL}, ALL, NULL},
    {"obj", {NULL}, ALL, NULL}};

static const rule *rule_of(const char *format) {
  size_t i;
  for (i = 0; i < sizeof rules / sizeof *rules; i++)
    if (!strcmp(rules[i].format, format)) return &rules[i];
  return NULL;
}

/* Whether the text has the word at `at`, with zero bytes among its letters as in UTF-16 and UTF-32. */
static bool is_word(const uint8_t *data, size_t size, size_t at, const char *word) {
  for (; *word && at < size; at++) {
    if (!data[at]) continue;
    if (tolower(data[at]) != tolower((unsigned char)*word++)) return false;
  }
  return !*word;
}

static bool has_word(const uint8_t *data, size_t size, const char *word, bool at_line) {
  size_t i, line = skip_space(data, size); /* where the line begins, behind its spaces */
  for (i = 0; i < size; i++) {
    if (data[i] && (!at_line || i == line) && is_word(data, size, i, word)) return true;
    if (i >= line && (data[i] == '\n' || data[i] == '\r')) line = i + 1;
    else if (i == line && (data[i] == ' ' || data[i] == '\t')) line++;
  }
  return false;
}

static bool begins_with(const rule *r, const uint8_t *data, size_t size, const char *word) {
  size_t length = strlen(word), skip = r->where == BEGINS ? skip_space(data, size) : 0;
  if (size < skip + length) return false;
  if (r->where == BEGINS) return !strncasecmp((const char *)data + skip, word, length);
  return !memcmp(data + skip, word, length);
}

static bool follows_rule(const rule *r, const uint8_t *data, size_t size) {
  size_t i;
  if (size > IMPORT_HEAD) size = IMPORT_HEAD;
  if (!strcmp(r->format, "xml") && size > XML_HEAD) size = XML_HEAD;
  for (i = 0; i < sizeof r->words / sizeof *r->words && r->words[i]; i++) {
    bool has = r->where == HAS || r->where == HAS_LINE;
    if (has ? has_word(data, size, r->words[i], r->where == HAS_LINE)
            : begins_with(r, data, size, r->words[i]))
      return true;
  }
  return r->where == ALL;
}

/* Formats that begin alike, or of which one holds the other. */
static bool is_alike(const char *format, const char *found) {
  static const char *const families[][4] = {
      {"glb", "gltf", "vrm"}, {"md5mesh", "md5anim", "md5camera"}, {"dae", "xml"}};
  size_t i, k;
  if (!strcmp(format, found)) return true;
  for (i = 0; i < sizeof families / sizeof *families; i++) {
    bool a = false, b = false;
    for (k = 0; k < 4 && families[i][k]; k++)
      a |= !strcmp(format, families[i][k]), b |= !strcmp(found, families[i][k]);
    if (a && b) return true;
  }
  return false;
}

bool import_is_binary_stl(const uint8_t *data, size_t size, size_t whole) {
  return size >= 84 && 84 + 50 * import_number(data + 80, 4) == whole;
}

/* Another format that the bytes are certainly of, or NULL. */
static const char *other_kind(const char *format, const uint8_t *data, size_t size, size_t whole) {
  const kind *found = kind_of(data, size);
  if (!found || !found->certain || is_alike(format, found->format)) return NULL;
  return !strcmp(format, "stl") && import_is_binary_stl(data, size, whole) ? NULL : found->format;
}

sk_status import_check_content(import_job *job) {
  const import_source *file = job->files.sources.data;
  size_t whole = job->files.descriptor >= 0 ? job->files.model_size : file->size;
  const rule *r = rule_of(job->format);
  const char *other = r ? other_kind(job->format, file->data, file->size, whole) : NULL;
  const char *named = job->request->format || !job->request->path ? "given as" : "named";
  if (other && !strcmp(other, "zip"))
    return sk_fail(job->error, SK_ERROR_IMPORT, "it is %s .%s, but is a zip archive", named, job->format);
  if (other)
    return sk_fail(job->error, SK_ERROR_IMPORT, "it is %s .%s, but begins as a .%s file does", named,
                   job->format, other);
  if (!r || follows_rule(r, file->data, file->size)) return SK_OK;
  return sk_fail(job->error, SK_ERROR_IMPORT, "it is %s .%s, but does not begin as a .%s file does: there is no %s",
                 named, job->format, job->format, r->wish);
}

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
  if (job->request->process_ends)
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
  static const char *const scenes[] = {"lws", "mot", "irr", "xml", "md3", "pk3"};
  static const char *const parts[] = {"mtl", "skin", "shader", "material", "skeleton"};
  char format[sizeof ((import_job *)0)->format];
  const rule *r;
  size_t i;
  bool scene = false;
  for (i = 0; i < sizeof scenes / sizeof *scenes; i++) scene |= !strcmp(files->format, scenes[i]);
  if (!scene || !files->formats) return true;
  for (i = 0; suffix[i] && i + 1 < sizeof format; i++) format[i] = (char)tolower((unsigned char)suffix[i]);
  format[i] = 0;
  for (i = 0; i < sizeof parts / sizeof *parts; i++)
    if (!strcmp(format, parts[i])) return true;
  r = rule_of(format);
  if (!is_listed(files->formats, format)) return false;
  return !r || (follows_rule(r, source->data, source->size) &&
                !other_kind(format, source->data, source->size, source->size));
}
