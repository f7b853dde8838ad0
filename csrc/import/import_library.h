/* import_library.h: the Assimp library, opened by its path, with its functions found by name.

   Nothing is linked against Assimp, so that skinpy can be imported and saved models can be loaded where there is none.
   The library is opened once and stays open until the process ends; the structs that its functions return are those of
   Assimp 6, so an older library is refused. */
#ifndef IMPORT_LIBRARY_H
#define IMPORT_LIBRARY_H

#include <assimp/cimport.h>
#include <assimp/material.h>
#include <assimp/version.h>

#include "sk_import.h"

/* clang-format off */
#define IMPORT_ASSIMP_TABLE(ROW) \
  ROW(aiImportFileExWithProperties) \
  ROW(aiReleaseImport) \
  ROW(aiGetErrorString) \
  ROW(aiCreatePropertyStore) \
  ROW(aiReleasePropertyStore) \
  ROW(aiSetImportPropertyInteger) \
  ROW(aiIsExtensionSupported) \
  ROW(aiGetExtensionList) \
  ROW(aiGetVersionMajor) \
  ROW(aiGetVersionMinor) \
  ROW(aiGetVersionPatch) \
  ROW(aiGetMaterialColor) \
  ROW(aiGetMaterialString) \
  ROW(aiGetMaterialFloatArray) \
  ROW(aiGetMaterialIntegerArray)
/* clang-format on */

typedef struct import_library {
#define IMPORT_ASSIMP_MEMBER(name) __typeof__(&name) name;
  IMPORT_ASSIMP_TABLE(IMPORT_ASSIMP_MEMBER)
#undef IMPORT_ASSIMP_MEMBER
  char path[1024];   /* of the file that was opened, where the system tells it */
  char version[32];  /* such as "6.0.5" */
} import_library;

/* The opened library; NULL before import_start. It stays open until the process ends. */
const import_library *import_assimp(void);
/* The suffixes that Assimp knows, "*.3ds;*.obj"; found out at the first call, and only after import_start. */
const char *import_formats(void);
/* As sk_importer.start. */
sk_status import_start(const char *const *paths, sk_error *error);

#endif
