/* import_library.c: opens the Assimp library by path and finds its functions by name. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "import_library.h"

static import_library library;
static bool library_is_open;

const import_library *import_assimp(void) { return library_is_open ? &library : NULL; }

static const char *find_functions(void *handle) {
  /* ISO C has no cast from an object pointer to a function pointer; POSIX means it to be done so. */
#define FIND(name)                                 \
  {                                                \
    void *symbol = dlsym(handle, #name);           \
    if (!symbol) return #name;                     \
    memcpy(&library.name, &symbol, sizeof symbol); \
  }
  IMPORT_ASSIMP_TABLE(FIND)
#undef FIND
  return NULL;
}

const char *import_formats(void) {
  static struct aiString list;
  if (!list.length) library.aiGetExtensionList(&list);
  return list.data;
}

static void remember_path(void *handle, const char *asked) {
  Dl_info info;
  void *symbol = dlsym(handle, "aiGetVersionMajor");
  bool known = symbol && dladdr(symbol, &info) && info.dli_fname;
  snprintf(library.path, sizeof library.path, "%s", known ? info.dli_fname : asked);
}

/* The structs of Assimp 5 are smaller, and its keys have no interpolation: it must not be read. */
static sk_status adopt(void *handle, const char *path, sk_error *error) {
  const char *missing = find_functions(handle);
  if (missing) return sk_fail(error, SK_ERROR_LIBRARY, "%s is not an Assimp library: it lacks %s", path, missing);
  snprintf(library.version, sizeof library.version, "%u.%u.%u", library.aiGetVersionMajor(),
           library.aiGetVersionMinor(), library.aiGetVersionPatch());
  if (library.aiGetVersionMajor() < 6) {
    sk_fail(error, SK_ERROR_LIBRARY, "%s is Assimp %s; version 6 or newer is needed", path, library.version);
    library.version[0] = 0;
    return SK_ERROR_LIBRARY;
  }
  remember_path(handle, path);
  library_is_open = true;
  return SK_OK;
}

sk_status import_start(const char *const *paths, sk_error *error) {
  char tried[SK_ERROR_LENGTH / 2] = "";
  if (library_is_open) return SK_OK;
  for (; paths && *paths; paths++) {
    void *handle = dlopen(*paths, RTLD_LAZY | RTLD_LOCAL);
    size_t used = strlen(tried);
    sk_error reason = {SK_OK, ""};
    if (handle && adopt(handle, *paths, &reason) == SK_OK) return SK_OK;
    snprintf(tried + used, sizeof tried - used, "%s%.300s", used ? "; " : "", handle ? reason.message : dlerror());
    if (handle) dlclose(handle);
  }
  return sk_fail(error, SK_ERROR_LIBRARY,
                 "no Assimp library of version 6 or newer could be opened (%s); "
                 "install one with: pip install 'cmeel-assimp>=6.0.5,<7'",
                 tried[0] ? tried : "no path was given");
}
