/* import_format.c: the table of formats; import_format.h says what each column means. */
#define _GNU_SOURCE /* memmem */
#include <stdio.h>
#include <string.h>

#include "formats/import_3ds.h"
#include "formats/import_b3d.h"
#include "formats/import_bvh.h"
#include "formats/import_collada.h"
#include "formats/import_fbx.h"
#include "formats/import_gltf.h"
#include "formats/import_iqm.h"
#include "formats/import_md5.h"
#include "formats/import_md2.h"
#include "formats/import_ms3d.h"
#include "formats/import_quake.h"
#include "formats/import_obj.h"
#include "formats/import_ply.h"
#include "formats/import_smd.h"
#include "formats/import_unread.h"
#include "formats/import_x.h"
#include "import_bytes.h"
#include "import_check.h"
#include "import_contents.h"
#include "import_format.h"
#include "import_twin.h"

#define ALSO_BYTES   4096 /* in which the second word of a magic stands */

#define ZIP          "PK\003\004"
#define GZIP         "\x1f\x8b\x08"

/* No requirement here asks for more than Assimp's reader itself does, except that what may stand anywhere must stand
   in the first IMPORT_HEAD_BYTES. Formats without one have nothing that must stand in them: text without keywords,
   and binary files of which the reader skips the signature. */
#define MD5_REQUIRED {{"MD5Version"}, IMPORT_HAS, "\"MD5Version\""}
#define SMD_REQUIRED \
  {{"version", "nodes", "skeleton", "triangles", "vertexanimation"}, IMPORT_HAS_LINE, "line \"version\" or \"nodes\""}
#define ZIP_REQUIRED {{ZIP}, IMPORT_HAS, "zip archive"}

static const import_format rows[] = {
    /* ---- read by default ---- */
    {.suffixes = "gltf glb vrm vrma",
     .allowance = IMPORT_ALWAYS,
     .magics = {{"glTF", "glb", true}, {"{", "gltf"}},
     .required = {{"glTF", "{"}, IMPORT_BEGINS, "JSON or \"glTF\""},
     .reader = &gltf_reader,
     .open = gltf_open,
     .space = gltf_space,
     .tell = gltf_write_extras,
     .has_scenes = true,
     .close = gltf_close,
     .keeps_vertices = true},
    {.suffixes = "fbx",
     .allowance = IMPORT_ALWAYS,
     .magics = {{"Kaydara FBX Binary", "fbx", true}, {"; FBX", "fbx", true}},
     .required = {{"FBX"}, IMPORT_HAS, "\"FBX\""},
     .reader = &fbx_reader,
     .open = import_fbx_open,
     .space = import_fbx_space,
     .note = import_fbx_note,
     .close = import_fbx_close},
    {.suffixes = "dae",
     .allowance = IMPORT_ALWAYS,
     .magics = {{"<COLLADA", "dae", true}, {"<?xml", "dae"}},
     .required = {{"COLLADA"}, IMPORT_HAS, "\"<COLLADA\""},
     .reader = &contents_reader,
     .open = import_collada_open,
     .space = import_collada_space,
     .close = import_collada_close},
    {.suffixes = "bvh",
     .allowance = IMPORT_ALWAYS,
     .magics = {{"HIERARCHY", "bvh", true}},
     .required = {{"HIERARCHY"}, IMPORT_HAS, "\"HIERARCHY\""},
     .reader = &contents_reader,
     .open = import_bvh_open},
    {.suffixes = "obj",
     .allowance = IMPORT_ALWAYS,
     .magics = {{"mtllib", "obj"}, {"v ", "obj"}},
     .companion = "mtl",
     .note = import_obj_note,
     .has_meshes = true},
    {.suffixes = "stl",
     .allowance = IMPORT_ALWAYS,
     .magics = {{"solid", "stl"}},
     .is_own = import_is_binary_stl,
     .has_meshes = true},
    {.suffixes = "ply",
     .allowance = IMPORT_ISOLATED,
     .magics = {{"ply\n", "ply", true}, {"ply\r", "ply", true}, {"ply", "ply"}},
     .required = {{"ply"}, IMPORT_BEGINS, "\"ply\""},
     .open = import_ply_open,
     .is_validated = true,
     .has_meshes = true},
    {.suffixes = "3ds",
     .allowance = IMPORT_ALWAYS,
     .required = {{"MM", "\x3d\xc2", "\xaa\x3d"}, IMPORT_BYTES, "main chunk"},
     .reader = &contents_reader,
     .open = import_3ds_open},
    {.suffixes = "x",
     .allowance = IMPORT_ALWAYS,
     .magics = {{"xof ", "x", true}},
     .required = {{"xof "}, IMPORT_BYTES, "\"xof \""},
     .reader = &contents_reader,
     .open = import_x_open},
    {.suffixes = "md2",
     .allowance = IMPORT_ISOLATED,
     .magics = {{"IDP2", "md2", true}},
     .required = {{"IDP2", "2PDI"}, IMPORT_BYTES, "\"IDP2\""},
     .has_meshes = true,
     .note = import_md2_note,
     .frames = {"IDP2", 40}},
    {.suffixes = "smd",
     .allowance = IMPORT_ALWAYS,
     .required = SMD_REQUIRED,
     .open = import_smd_open,
     .correct = import_smd_correct,
     .ticks = import_smd_ticks},
    {.suffixes = "ms3d",
     .allowance = IMPORT_ALWAYS,
     .magics = {{"MS3D000000", "ms3d", true}},
     .required = {{"MS3D000000"}, IMPORT_BYTES, "\"MS3D000000\""},
     .open = import_ms3d_open,
     .correct = import_ms3d_correct},
    {.suffixes = "b3d",
     .allowance = IMPORT_ALWAYS,
     .magics = {{"BB3D", "b3d", true}},
     .required = {{"BB3D"}, IMPORT_BYTES, "\"BB3D\""},
     .open = import_b3d_open,
     .correct_scene = import_b3d_correct_scene,
     .correct = import_unmark_names,
     .ticks = import_b3d_ticks,
     .offsets_follow_rest = true},
    {.suffixes = "iqm",
     .allowance = IMPORT_ALWAYS,
     .magics = {{"INTERQUAKEMODEL", "iqm", true}},
     .required = {{"INTERQUAKEMODEL"}, IMPORT_BYTES, "\"INTERQUAKEMODEL\""},
     .reader = &contents_reader,
     .open = import_iqm_open},
    {.suffixes = "md5mesh md5anim",
     .allowance = IMPORT_ALWAYS,
     .magics = {{"MD5Version", "md5anim", true, "numFrames"}, {"MD5Version", "md5mesh", true}},
     .required = MD5_REQUIRED,
     .reader = &contents_reader,
     .open = import_md5_open},

    /* ---- read where they are named: those that share code with the ones above ---- */
    {.suffixes = "zae",
     .required = {{ZIP, "COLLADA"}, IMPORT_HAS, "zip archive or \"<COLLADA\""},
     .may_hold = "zip dae",
     .note = import_note_zae,
     .space = import_collada_space,
     .texture_replaces_color = true},
    {.suffixes = "vta",
     .required = SMD_REQUIRED,
     .open = import_smd_open,
     .correct = import_smd_correct,
     .ticks = import_smd_ticks},
    {.suffixes = "md5camera", .required = MD5_REQUIRED, .may_hold = "md5mesh md5anim"},

    /* ---- and those that Assimp reads alone ---- */
    {.suffixes = "xml mesh.xml",
     .required = {{"<COLLADA", "irr_scene", "irrmesh", "<mesh>"}, IMPORT_HAS_EARLY, "scene or mesh of a known kind"},
     .may_hold = "dae",
     .brings_models = true,
     .companion = "skeleton"},
    {.suffixes = "irr",
     .required = {{"<irr_scene"}, IMPORT_HAS, "\"<irr_scene\""},
     .brings_models = true,
     .companion = "obj"},
    {.suffixes = "irrmesh", .required = {{"<mesh"}, IMPORT_HAS, "\"<mesh\""}},
    {.suffixes = "amf", .required = {{"<amf"}, IMPORT_HAS, "\"<amf\""}},
    {.suffixes = "x3d", .required = {{"<X3D"}, IMPORT_HAS, "\"<X3D\""}, .is_read_again = true, .note = import_note_x3d},
    {.suffixes = "x3dv", .magics = {{"#X3D V", "x3dv", true}}, .is_read_again = true, .note = import_note_x3d},
    {.suffixes = "wrl", .magics = {{"#VRML V", "wrl", true}}, .is_read_again = true, .note = import_note_x3d},
    {.suffixes = "ogex", .is_read_again = true, .note = import_note_ogex},
    {.suffixes = "xgl", .required = {{"<WORLD"}, IMPORT_HAS, "\"<WORLD\""}},
    {.suffixes = "zgl", .may_hold = "gz"},
    {.suffixes = "3mf bsp ifczip", .required = ZIP_REQUIRED, .may_hold = "zip"},
    {.suffixes = "pk3", .required = ZIP_REQUIRED, .may_hold = "zip", .brings_models = true},
    {.suffixes = "prj",
     .required = {{"MM", "\x3d\xc2", "\xaa\x3d"}, IMPORT_BYTES, "main chunk"},
     .reader = &contents_reader,
     .open = import_3ds_open},
    {.suffixes = "md3",
     .magics = {{"IDP3", "md3", true}},
     .required = {{"IDP3", "3PDI"}, IMPORT_BYTES, "\"IDP3\""},
     .brings_models = true,
     .correct_scene = import_md3_correct,
     .frames = {"IDP3", 76}},
    {.suffixes = "mdc",
     .magics = {{"IDPC", "mdc", true}},
     .required = {{"IDPC", "CPDI"}, IMPORT_BYTES, "\"IDPC\""},
     .frames = {"IDPC", 76}},
    {.suffixes = "mdl",
     .magics = {{"IDPO", "mdl", true},
                {"IDST", "mdl", true},
                {"IDSQ", "mdl", true},
                {"MDL2", "mdl", true},
                {"MDL3", "mdl", true},
                {"MDL4", "mdl", true},
                {"MDL5", "mdl", true},
                {"MDL7", "mdl", true}},
     .required = {{"IDPO", "OPDI", "IDST", "TSDI", "IDSQ", "QSDI", "MDL~", "~LDM"},
                  IMPORT_BYTES,
                  "\"IDPO\", \"IDST\" or \"MDL\""},
     .open = import_mdl_open,
     .correct_scene = import_mdl_correct,
     .frames = {"IDPO", 68}},
    {.suffixes = "hmp",
     .magics = {{"HMP5", "hmp", true}, {"HMP7", "hmp", true}},
     .required = {{"HMP~", "~PMH"}, IMPORT_BYTES, "\"HMP\""}},
    {.suffixes = "mesh",
     .magics = {{"~\x10[MeshSerializer_v", "mesh", true}},
     .required = {{"~\x10[MeshSerializer_v"}, IMPORT_BYTES, "\"[MeshSerializer_v\""},
     .companion = "skeleton"},
    {.suffixes = "lwo lxo",
     .magics = {{"FORM~~~~LWOB", "lwo", true},
                {"FORM~~~~LWO2", "lwo", true},
                {"FORM~~~~LWO3", "lwo", true},
                {"FORM~~~~LXOB", "lxo", true}},
     .required = {{"FORM~~~~LWOB", "FORM~~~~LWO2", "FORM~~~~LWO3", "FORM~~~~LXOB"},
                  IMPORT_BYTES,
                  "\"FORM\" of LightWave or Modo"},
     .is_read_again = true,
     .note = import_note_lwo},
    {.suffixes = "lws mot",
     .magics = {{"LWSC", "lws", true}, {"LWMO", "lws", true}},
     .required = {{"LWSC", "LWMO"}, IMPORT_BEGINS, "\"LWSC\" or \"LWMO\""},
     .brings_models = true,
     .companion = "lwo"},
    {.suffixes = "ac ac3d acc", .magics = {{"AC3D", "ac", true}}, .required = {{"AC3D"}, IMPORT_BEGINS, "\"AC3D\""}},
    {.suffixes = "ase ask",
     .magics = {{"*3DSMAX_ASCIIEXPORT", "ase", true}},
     .required = {{"*3DSMAX_ASCIIEXPORT", "*SCENE", "*GROUP", "*MATERIAL_LIST", "*GEOMOBJECT", "*HELPEROBJECT",
                   "*LIGHTOBJECT", "*CAMERAOBJECT"},
                  IMPORT_HAS,
                  "\"*3DSMAX_ASCIIEXPORT\", \"*SCENE\" or \"*GEOMOBJECT\""},
     .is_read_again = true,
     .note = import_note_ase},
    {.suffixes = "blend",
     .magics = {{"BLENDER", "blend", true}},
     .required = {{"BLENDER", GZIP}, IMPORT_BYTES, "\"BLENDER\", compressed or not"},
     .may_hold = "gz",
     .is_read_again = true,
     .note = import_note_blend},
    {.suffixes = "ndo", .magics = {{"nendo", "ndo", true}}, .required = {{"nendo "}, IMPORT_BYTES, "\"nendo \""}},
    {.suffixes = "pmx", .magics = {{"PMX ", "pmx", true}}, .required = {{"PMX "}, IMPORT_BYTES, "\"PMX \""}},
    {.suffixes = "q3o q3s",
     .magics = {{"quick3Do", "q3o", true}, {"quick3Ds", "q3s", true}},
     .required = {{"quick3Do", "quick3Ds"}, IMPORT_BEGINS, "\"quick3Do\" or \"quick3Ds\""}},
    {.suffixes = "ter",
     .magics = {{"TERRAGEN", "ter", true}},
     .required = {{"TERRAGENTERRAIN "}, IMPORT_BYTES, "\"TERRAGENTERRAIN \""}},
    {.suffixes = "ifc step stp",
     .magics = {{"ISO-10303-21", "ifc", true}},
     .required = {{"ISO-10303-21;"}, IMPORT_BEGINS, "\"ISO-10303-21;\""}},
    {.suffixes = "m3d a3d",
     .component = "M3D",
     .magics = {{"3DMO", "m3d", true}, {"3dmodel ", "a3d", true}},
     .required = {{"3DMO", "3dmo"}, IMPORT_BYTES, "\"3DMO\" or \"3dmodel\""}},
    {.suffixes = "usd",
     .component = "USD",
     .required = {{"#usda", "PXR-USDC", ZIP}, IMPORT_HAS, "\"#usda\", \"PXR-USDC\" or zip archive"},
     .may_hold = "usda usdc zip"},
    {.suffixes = "usda",
     .component = "USD",
     .magics = {{"#usda", "usda", true}},
     .required = {{"#usda"}, IMPORT_BEGINS, "\"#usda\""},
     .may_hold = "usdc"},
    {.suffixes = "usdc",
     .component = "USD",
     .magics = {{"PXR-USDC", "usdc", true}},
     .required = {{"PXR-USDC"}, IMPORT_BYTES, "\"PXR-USDC\""},
     .may_hold = "usda"},
    {.suffixes = "usdz", .component = "USD", .required = ZIP_REQUIRED, .may_hold = "usda usdc zip"},
    {.suffixes = "drc", .component = "Draco"},
    {.suffixes = "cob scn", .magics = {{"Caligari", "cob", true}}},
    {.suffixes = "csm", .magics = {{"$Filename", "csm", true}, {"$FileName", "csm", true}}},
    {.suffixes = "assbin", .magics = {{"ASSIMP.binary-dump.", "assbin", true}}},
    {.suffixes = "dxf", .magics = {{"AutoCAD Binary DXF", "dxf", true}}, .has_meshes = true},
    {.suffixes = "off", .magics = {{"BlockBegin", "off"}, {"OFF", "off"}}, .has_meshes = true},
    {.suffixes = "nff", .has_meshes = true},
    {.suffixes = "raw", .has_meshes = true},

    /* ---- what files may be wrapped in ---- */
    {.suffixes = "zip", .container = "a zip archive", .magics = {{ZIP, "zip", true}}},
    {.suffixes = "gz", .container = "compressed with gzip", .magics = {{GZIP, "gz", true}}},
};

/* Whether the names, with a blank between each two, have this one. */
static bool has_name(const char *names, const char *name) {
  size_t length = strlen(name);
  while (names && *names) {
    size_t item = strcspn(names, " ");
    if (item == length && !memcmp(names, name, length)) return true;
    names += item + (names[item] != 0);
  }
  return false;
}

const import_format *import_format_of(const char *suffix) {
  static const import_format unknown = {.suffixes = ""};
  size_t i;
  for (i = 0; i < sizeof rows / sizeof *rows; i++)
    if (has_name(rows[i].suffixes, suffix)) return &rows[i];
  return &unknown;
}

static bool begins_with(const import_magic *magic, const uint8_t *data, size_t size) {
  if (!import_has_bytes(data, size, import_skip_space(data, size), magic->bytes)) return false;
  return !magic->also || memmem(data, size < ALSO_BYTES ? size : ALSO_BYTES, magic->also, strlen(magic->also));
}

const import_format *import_format_of_bytes(const uint8_t *data, size_t size, const import_magic **magic) {
  size_t i;
  for (i = 0; i < sizeof rows / sizeof *rows; i++)
    for (*magic = rows[i].magics; (*magic)->bytes; ++*magic)
      if (begins_with(*magic, data, size)) return &rows[i];
  *magic = NULL;
  return NULL;
}

bool import_format_may_hold(const import_format *outer, const import_format *inner) {
  const char *names = outer->may_hold;
  if (outer == inner) return true;
  for (; names && *names; names += strcspn(names, " "), names += *names != 0) {
    char name[IMPORT_MAX_SUFFIX];
    size_t length = strcspn(names, " ");
    memcpy(name, names, length);
    name[length] = 0;
    if (has_name(inner->suffixes, name)) return true;
  }
  return false;
}

/* Whether the list, "*.3ds;*.obj", has a suffix of so many bytes. */
static bool lists(const char *list, const char *suffix, size_t length) {
  for (; list; list = strchr(list, ';')) {
    list += *list == ';';
    if (!strncmp(list, "*.", 2) && strcspn(list, ";") == length + 2 && !memcmp(list + 2, suffix, length)) return true;
  }
  return false;
}

void import_format_add_own(char *list, size_t size) {
  size_t i, length, used = strlen(list);
  for (i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *names = rows[i].reader ? rows[i].suffixes : "";
    for (; *names; names += length, names += *names == ' ') {
      length = strcspn(names, " ");
      if (lists(list, names, length) || used + length + 4 > size) continue;
      used += (size_t)snprintf(list + used, size - used, "%s*.%.*s", used ? ";" : "", (int)length, names);
    }
  }
}
