/* import_hint.c: why a file that the model names is not read: a name in other letters, or a Git LFS pointer. */
#define _GNU_SOURCE /* O_NOFOLLOW */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import_bytes.h"
#include "import_file.h"

#define MAX_ENTRIES 10000u /* of a folder that are compared */

bool import_is_lfs_pointer(const import_source *file) {
  return import_has_bytes(file->data, file->size, 0, "version https://git-lfs.github.com/spec/");
}

/* Whether two names are equal but for upper and lower case. Letters beyond ASCII all count as equal, because C has no
   table of their cases, and a hint may be wrong. */
static bool is_alike(const char *a, const char *b, size_t length) {
  size_t i;
  for (i = 0; i < length; i++)
    if (((a[i] | b[i]) & 0x80) ? !(a[i] & b[i] & 0x80) : strncasecmp(&a[i], &b[i], 1)) return false;
  return true;
}

/* Copies the entry of a folder that has this name, but for upper and lower case. Closes `descriptor`. */
static bool find_entry(int descriptor, const char *name, size_t length, char *out, size_t room) {
  DIR *folder = descriptor >= 0 ? fdopendir(descriptor) : NULL;
  const struct dirent *entry;
  unsigned count = 0;
  bool found = false;
  if (!folder) {
    if (descriptor >= 0) close(descriptor);
    return false;
  }
  while (!found && count++ < MAX_ENTRIES && (entry = readdir(folder)))
    found = strlen(entry->d_name) == length && is_alike(entry->d_name, name, length) && length < room;
  if (found) snprintf(out, room, "%s", entry->d_name);
  closedir(folder);
  return found;
}

/* The path below the folder that equals `name` but for upper and lower case; links are not followed. `is_there`: a
   regular file of the very name is. */
static bool find_other_case(const char *folder, const char *name, char *out, size_t room, bool *is_there) {
  struct stat facts;
  size_t used = 0;
  bool differs = false; /* a file of the very name is there, but may not be read */
  int at = open(folder[0] ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (at >= 0 && *name) {
    size_t length = strcspn(name, "/\\");
    int listed = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), next = -1;
    if (!find_entry(listed, name, length, out + used, room - used)) break;
    differs |= memcmp(out + used, name, length) != 0;
    name += length;
    if (!*name) {
      *is_there = !differs && !fstatat(at, out + used, &facts, AT_SYMLINK_NOFOLLOW) && S_ISREG(facts.st_mode);
      close(at);
      return differs;
    }
    name++;
    next = openat(at, out + used, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    close(at);
    at = next;
    used += length;
    if (used + 1 < room) out[used++] = '/';
  }
  if (at >= 0) close(at);
  return false;
}

const char *import_files_hint(import_files *files, const char *name) {
  char other[80];
  bool is_there = false;
  name = import_files_below(files, name);
  files->hint[0] = 0;
  if (files->is_pointer) return " is a Git LFS pointer";
  if (!files->has_folder || files->external == SK_EXTERNAL_NONE || name[0] == '/' || strstr(name, "..")) return "";
  if (find_other_case(files->folder, name, other, sizeof other, &is_there))
    snprintf(files->hint, sizeof files->hint, "; there is '%s'", other);
  if (is_there) snprintf(files->hint, sizeof files->hint, " is there, but the system does not let this user read it");
  return files->hint;
}

const char *import_files_why(import_files *files, const char *name) {
  const char *hint = import_files_hint(files, name);
  if (files->is_pointer) return "is a Git LFS pointer; run git lfs pull";
  if (!strncmp(hint, " is there", 9)) return hint + 1;
  if (hint[0]) {
    char found[sizeof files->hint];
    snprintf(found, sizeof found, "%s", hint);
    snprintf(files->hint, sizeof files->hint, "does not exist%.90s", found);
    return files->hint;
  }
  if (files->external == SK_EXTERNAL_NONE) return "is another file; external=\"none\" allows no other files";
  if (files->external == SK_EXTERNAL_ANY) return "is not a file that can be read";
  return "is not a file in the model's folder that may be read; put it beside the model";
}
