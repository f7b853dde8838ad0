/* import_magic.c: what the first bytes of a file say, and whether they are of its format.

   Assimp 6 takes the reader that has the name's suffix, unasked, where only one has it. Where several
   have it (.gltf .glb .xml) or none has, it asks their CanRead, and when these say no it asks all its
   readers: so bytes of any kind can reach any reader. Here a name always has a suffix that is listed and
   allowed; glTF is rewritten, so that its own reader knows it; no format may begin as another one certainly
   does; and where the format's own reader asks for a beginning, the file must have it. */
#define _GNU_SOURCE /* memmem */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "import_internal.h"

#define XML_HEAD 200 /* bytes in which Assimp looks for what tells the readers of .xml apart */
#define ANY '~'      /* in the words below: one byte, whichever */

/* ---- what the first bytes say ---------------------------------------------------------- */

typedef struct kind {
  const char *magic;
  const char *format;
  bool certain; /* nothing else begins so, text neither */
} kind;

static const kind kinds[] = {
    {"glTF", "glb", true},            {"Kaydara FBX Binary", "fbx", true},   {"; FBX", "fbx", true},
    {"xof ", "x", true},              {"HIERARCHY", "bvh", true},            {"MD5Version", "md5mesh", true},
    {"IDP2", "md2", true},            {"MS3D000000", "ms3d", true},          {"BB3D", "b3d", true},
    {"INTERQUAKEMODEL", "iqm", true}, {"IDP3", "md3", true},                 {"IDPC", "mdc", true},
    {"IDPO", "mdl", true},            {"IDST", "mdl", true},                 {"IDSQ", "mdl", true},
    {"MDL2", "mdl", true},            {"MDL3", "mdl", true},                 {"MDL4", "mdl", true},
    {"MDL5", "mdl", true},            {"MDL7", "mdl", true},                 {"HMP5", "hmp", true},
    {"HMP7", "hmp", true},            {"$Filename", "csm", true},            {"$FileName", "csm", true},
    {"FORM~~~~LWOB", "lwo", true},    {"FORM~~~~LWO2", "lwo", true},         {"FORM~~~~LWO3", "lwo", true},
    {"FORM~~~~LXOB", "lxo", true},    {"LWSC", "lws", true},                 {"LWMO", "lws", true},
    {"AC3D", "ac", true},             {"PK\003\004", "zip", true},           {"\x1f\x8b\x08", "gz", true},
    {"BLENDER", "blend", true},       {"3DMO", "m3d", true},                 {"3dmodel ", "a3d", true},
    {"PXR-USDC", "usdc", true},       {"#usda", "usda", true},               {"#VRML V", "wrl", true},
    {"#X3D V", "x3dv", true},         {"PMX ", "pmx", true},                 {"Caligari", "cob", true},
    {"nendo", "ndo", true},           {"quick3Do", "q3o", true},             {"quick3Ds", "q3s", true},
    {"TERRAGEN", "ter", true},        {"ISO-10303-21", "ifc", true},         {"~\x10[MeshSerializer_v", "mesh", true},
    {"*3DSMAX_ASCIIEXPORT", "ase", true}, {"ASSIMP.binary-dump.", "assbin", true},
    {"AutoCAD Binary DXF", "dxf", true},  {"ply\n", "ply", true},            {"ply\r", "ply", true},
    {"ply", "ply", false},            {"solid", "stl", false},               {"<?xml", "dae", false},
    {"<COLLADA", "dae", true},        {"{", "gltf", false},                  {"BlockBegin", "off", false},
    {"OFF", "off", false},            {"mtllib", "obj", false},              {"v ", "obj", false}};

/* Where the text begins: behind a byte order mark and white space. */
static size_t skip_space(const uint8_t *data, size_t size) {
  size_t at = size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3) ? 3 : 0;
  while (at < size && data[at] && strchr(" \t\r\n\f", data[at])) at++;
  return at;
}

static bool has_bytes(const uint8_t *data, size_t size, size_t at, const char *bytes) {
  for (; *bytes && at < size; at++, bytes++)
    if (*bytes != ANY && data[at] != (uint8_t)*bytes) return false;
  return !*bytes;
}

static const kind *kind_of(const uint8_t *data, size_t size) {
  size_t i, skip = skip_space(data, size);
  for (i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (has_bytes(data, size, skip, kinds[i].magic)) return &kinds[i];
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
  const char *formats;
  const char *words[9];
  enum {
    BYTES,    /* at the very beginning */
    BEGINS,   /* behind a byte order mark and white space; small letters count as capital ones */
    HAS,      /* somewhere in the first IMPORT_HEAD bytes */
    HAS_LINE, /* there, at the beginning of a line */
    HAS_EARLY /* in the first XML_HEAD bytes */
  } where;
  const char *wish;
} rule;

/* No rule here asks for more than the reader itself does, except that what may stand anywhere must stand in the
   first IMPORT_HEAD bytes. Formats without a rule have nothing that must stand in them: .obj .stl .off .nff .enff
   .raw .dxf .csm .ogex .uc .3d .sib .x3db; .assbin, .cob and .scn, whose readers skip the signature (of .cob and
   .scn in binary files); and .zgl, whose first two bytes may be any. */
static const rule rules[] = {
    {"gltf glb vrm", {"glTF", "{"}, BEGINS, "JSON or \"glTF\""},
    {"fbx", {"FBX"}, HAS, "\"FBX\""},
    {"dae", {"COLLADA"}, HAS, "\"<COLLADA\""},
    {"zae", {"PK\003\004", "COLLADA"}, HAS, "zip archive or \"<COLLADA\""},
    {"xml mesh.xml", {"<COLLADA", "irr_scene", "irrmesh", "<mesh>"}, HAS_EARLY, "scene or mesh of a known kind"},
    {"irr", {"<irr_scene"}, HAS, "\"<irr_scene\""},
    {"irrmesh", {"<mesh"}, HAS, "\"<mesh\""},
    {"amf", {"<amf"}, HAS, "\"<amf\""},
    {"x3d", {"<X3D"}, HAS, "\"<X3D\""},
    {"xgl", {"<WORLD"}, HAS, "\"<WORLD\""},
    {"3mf pk3 bsp ifczip usdz", {"PK\003\004"}, HAS, "zip archive"},
    {"bvh", {"HIERARCHY"}, BEGINS, "\"HIERARCHY\""},
    {"ply", {"ply"}, BEGINS, "\"ply\""},
    {"x", {"xof "}, BYTES, "\"xof \""},
    {"3ds prj", {"MM", "\x3d\xc2", "\xaa\x3d"}, BYTES, "main chunk"},
    {"md2", {"IDP2", "2PDI"}, BYTES, "\"IDP2\""},
    {"md3", {"IDP3", "3PDI"}, BYTES, "\"IDP3\""},
    {"mdc", {"IDPC", "CPDI"}, BYTES, "\"IDPC\""},
    {"mdl", {"IDPO", "OPDI", "IDST", "TSDI", "IDSQ", "QSDI", "MDL~", "~LDM"}, BYTES, "\"IDPO\", \"IDST\" or \"MDL\""},
    {"hmp", {"HMP~", "~PMH"}, BYTES, "\"HMP\""},
    {"md5mesh md5anim md5camera", {"MD5Version"}, HAS, "\"MD5Version\""},
    {"smd vta",
     {"version", "nodes", "skeleton", "triangles", "vertexanimation"}, HAS_LINE, "line \"version\" or \"nodes\""},
    {"ms3d", {"MS3D000000"}, BYTES, "\"MS3D000000\""},
    {"b3d", {"BB3D"}, BYTES, "\"BB3D\""},
    {"iqm", {"INTERQUAKEMODEL"}, BYTES, "\"INTERQUAKEMODEL\""},
    {"mesh", {"~\x10[MeshSerializer_v"}, BYTES, "\"[MeshSerializer_v\""},
    {"lwo lxo",
     {"FORM~~~~LWOB", "FORM~~~~LWO2", "FORM~~~~LWO3", "FORM~~~~LXOB"}, BYTES, "\"FORM\" of LightWave or Modo"},
    {"lws mot", {"LWSC", "LWMO"}, BEGINS, "\"LWSC\" or \"LWMO\""},
    {"ac ac3d acc", {"AC3D"}, BEGINS, "\"AC3D\""},
    {"ase ask",
     {"*3DSMAX_ASCIIEXPORT", "*SCENE", "*GROUP", "*MATERIAL_LIST", "*GEOMOBJECT", "*HELPEROBJECT", "*LIGHTOBJECT",
      "*CAMERAOBJECT"}, HAS, "\"*3DSMAX_ASCIIEXPORT\", \"*SCENE\" or \"*GEOMOBJECT\""},
    {"blend", {"BLENDER", "\x1f\x8b\x08"}, BYTES, "\"BLENDER\", compressed or not"},
    {"ndo", {"nendo "}, BYTES, "\"nendo \""},
    {"pmx", {"PMX "}, BYTES, "\"PMX \""},
    {"q3o q3s", {"quick3Do", "quick3Ds"}, BEGINS, "\"quick3Do\" or \"quick3Ds\""},
    {"ter", {"TERRAGENTERRAIN "}, BYTES, "\"TERRAGENTERRAIN \""},
    {"ifc step stp", {"ISO-10303-21;"}, BEGINS, "\"ISO-10303-21;\""},
    {"m3d a3d", {"3DMO", "3dmo"}, BYTES, "\"3DMO\" or \"3dmodel\""},
    {"usd", {"#usda", "PXR-USDC", "PK\003\004"}, HAS, "\"#usda\", \"PXR-USDC\" or zip archive"},
    {"usda", {"#usda"}, BEGINS, "\"#usda\""},
    {"usdc", {"PXR-USDC"}, BYTES, "\"PXR-USDC\""}};

/* Whether the names, with a space between each two, have this one. */
static bool has_name(const char *names, const char *name) {
  size_t length = strlen(name);
  while (*names) {
    size_t item = strcspn(names, " ");
    if (item == length && !memcmp(names, name, length)) return true;
    names += item + (names[item] != 0);
  }
  return false;
}

static const rule *rule_of(const char *format) {
  size_t i;
  for (i = 0; i < sizeof rules / sizeof *rules; i++)
    if (has_name(rules[i].formats, format)) return &rules[i];
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

static bool begins_with(const uint8_t *data, size_t size, const char *word) {
  size_t length = strlen(word), skip = skip_space(data, size);
  return size >= skip + length && !strncasecmp((const char *)data + skip, word, length);
}

static bool follows_rule(const rule *r, const uint8_t *data, size_t size) {
  size_t i;
  if (size > IMPORT_HEAD) size = IMPORT_HEAD;
  if (r->where == HAS_EARLY && size > XML_HEAD) size = XML_HEAD;
  for (i = 0; r->words[i]; i++) {
    const char *word = r->words[i];
    if (r->where == BYTES    ? has_bytes(data, size, 0, word)
        : r->where == BEGINS ? begins_with(data, size, word)
                             : has_word(data, size, word, r->where == HAS_LINE))
      return true;
  }
  return false;
}

/* ---- what they must not say -------------------------------------------------------------- */

/* Formats that begin alike, that one reader reads, or of which one holds the other. */
static bool is_alike(const char *format, const char *found) {
  static const char *const families[] = {
      "glb gltf vrm", "md5mesh md5anim md5camera", "dae zae xml mesh.xml", "lwo lxo", "lws mot", "ac ac3d acc",
      "ase ask", "cob scn", "q3o q3s", "ifc step stp", "m3d a3d", "usd usda usdc usdz", "gz blend", "gz zgl",
      "zip 3mf zae pk3 bsp ifczip usd usdz"};
  size_t i;
  if (!strcmp(format, found)) return true;
  for (i = 0; i < sizeof families / sizeof *families; i++)
    if (has_name(families[i], format) && has_name(families[i], found)) return true;
  return false;
}

/* The header of a binary .stl is free text, so its length tells what it is. */
static bool is_binary_stl(const uint8_t *data, size_t size, size_t whole) {
  return size >= 84 && 84 + 50 * import_number(data + 80, 4) == whole;
}

/* Another format that the bytes are certainly of, or NULL. */
static const char *other_kind(const char *format, const uint8_t *data, size_t size, size_t whole) {
  const kind *found = kind_of(data, size);
  if (!found || !found->certain || is_alike(format, found->format)) return NULL;
  return !strcmp(format, "stl") && is_binary_stl(data, size, whole) ? NULL : found->format;
}

bool import_is_of(const char *format, const uint8_t *data, size_t size, size_t whole) {
  const rule *r = rule_of(format);
  return !other_kind(format, data, size, whole) && (!r || follows_rule(r, data, size));
}

sk_status import_check_content(import_job *job) {
  const import_source *file = job->files.sources.data;
  size_t whole = job->files.descriptor >= 0 ? job->files.model_size : file->size;
  const char *other = other_kind(job->format, file->data, file->size, whole);
  const char *named = job->request->format || !job->request->path ? "given as" : "named";
  const rule *r = rule_of(job->format);
  if (other && (!strcmp(other, "zip") || !strcmp(other, "gz")))
    return sk_fail(job->error, SK_ERROR_IMPORT, "it is %s .%s, but is %s", named, job->format,
                   strcmp(other, "gz") ? "a zip archive" : "compressed with gzip");
  if (other)
    return sk_fail(job->error, SK_ERROR_IMPORT, "it is %s .%s, but begins as a .%s file does", named,
                   job->format, other);
  if (!r || follows_rule(r, file->data, file->size)) return SK_OK;
  return sk_fail(job->error, SK_ERROR_IMPORT, "it is %s .%s, but does not begin as a .%s file does: there is no %s",
                 named, job->format, job->format, r->wish);
}
