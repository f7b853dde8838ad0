/* import_file.c: opens files and keeps them in memory; import_file.h says which ones.

   Only regular files are opened (a FIFO would hang), and no more bytes are read than the caller allows. */
#define _GNU_SOURCE /* realpath, O_CLOEXEC, PATH_MAX, memmem */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import_job.h"
#include "import_limit.h"

/* ---- sources --------------------------------------------------------------------- */

static const import_source *find_source(const import_files *files, const char *name) {
  const import_source *source = files->sources.data;
  size_t i;
  for (i = 0; i < files->sources.count; i++)
    if (!strcmp(source[i].name, name)) return &source[i];
  return NULL;
}

bool import_files_put(import_files *files, const char *name, const void *data, size_t size, void *owned) {
  import_source *source = (import_source *)find_source(files, name);
  if (!source) {
    char *copy = import_copy_text(name, strlen(name));
    source = copy ? sk_array_extend(&files->sources, 1) : NULL;
    if (!source) {
      sk_free(copy);
      sk_free(owned);
      files->no_memory = true;
      return false;
    }
    source->name = copy;
  }
  if (source->owned != owned) sk_free(source->owned);
  source->data = data;
  source->size = size;
  source->owned = owned;
  return true;
}

size_t import_files_read_at(int descriptor, size_t at, void *data, size_t size) {
  size_t done = 0;
  while (done < size) {
    ssize_t got = pread(descriptor, (char *)data + done, size - done, (off_t)(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += (size_t)got;
  }
  return done;
}

/* The first `size` bytes, which the caller owns, and a zero byte behind them; NULL, and `*why` or no_memory. */
static uint8_t *take_bytes(import_files *files, int descriptor, size_t size, const char **why) {
  uint8_t *data = sk_alloc(size + 1);
  files->no_memory |= !data;
  if (!data) return NULL;
  if (import_files_read_at(descriptor, 0, data, size) < size) {
    *why = "it could not be read to its end";
    sk_free(data);
    return NULL;
  }
  data[size] = 0;
  return data;
}

/* Opens a regular file; else returns -1 and sets `*why`. */
static int open_regular(const char *path, struct stat *facts, const char **why) {
  bool is_regular = stat(path, facts) || S_ISREG(facts->st_mode); /* opening a device may do something */
  int descriptor = is_regular ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
  *why = NULL;
  if (is_regular && (descriptor < 0 || fstat(descriptor, facts))) *why = strerror(errno);
  else if (!is_regular || !S_ISREG(facts->st_mode)) *why = "it is not a regular file";
  if (!*why) return descriptor;
  if (descriptor >= 0) close(descriptor);
  return -1;
}

/* Reads a regular file into a new source. Of a large file the head is read, where that is enough. On failure `*why` has
   the words, or is NULL where there was no memory. */
static bool load(import_files *files, const char *path, const char *name, bool head_is_enough, const char **why) {
  struct stat facts;
  uint8_t *data = NULL;
  size_t size = 0;
  bool done = false;
  int descriptor = open_regular(path, &facts, why);
  if (descriptor < 0) return false;
  if ((uint64_t)facts.st_size > IMPORT_MAX_BYTES - files->total) {
    *why = "the model and its files are larger than 2 GiB";
  } else if ((uint64_t)facts.st_size > files->max_total - files->total) {
    files->exceeded = files->total + (uint64_t)facts.st_size;
    *why = "it is larger than the limit of file_bytes";
  } else {
    size = head_is_enough && facts.st_size > IMPORT_LARGE_BYTES ? IMPORT_HEAD_BYTES : (size_t)facts.st_size;
    data = take_bytes(files, descriptor, size, why);
  }
  if (data) {
    files->total += (size_t)facts.st_size;
    done = import_files_put(files, name, data, size, data);
  }
  if (done && size < (size_t)facts.st_size) {
    files->descriptor = descriptor;
    files->model_size = (size_t)facts.st_size;
    descriptor = -1;
  }
  if (descriptor >= 0) close(descriptor);
  return done;
}

/* ---- names below the folder ---------------------------------------------------------- */

#define WINDOWS "/\\" /* what separates the parts of a path there; here it is "/" */

/* Writes `name` with forward slashes and without "." parts; false where it would leave the folder. */
static bool clean_name(const char *name, const char *separators, char *out, size_t room) {
  size_t used = 0;
  if (strspn(name, separators) || (separators[1] && name[0] && name[1] == ':')) return false;
  while (*name) {
    size_t length = strcspn(name, separators);
    bool dot = length == 1 && name[0] == '.';
    if (length == 2 && name[0] == '.' && name[1] == '.') return false;
    if (length && !dot) {
      if (used + length + 2 > room) return false;
      if (used) out[used++] = '/';
      memcpy(out + used, name, length);
      used += length;
    }
    name += length + (name[length] != 0);
  }
  out[used] = 0;
  return used > 0;
}

/* A backslash, or a colon as second letter, may belong to the name of a file here: true if there is such a file, whose
   clean name is then in `out`. */
static bool find_literal(const import_files *files, const char *name, char *out, size_t room) {
  char joined[PATH_MAX];
  struct stat facts;
  int written;
  if (!strpbrk(name, "\\:") || !clean_name(name, "/", out, room)) return false;
  if (find_source(files, out)) return true;
  written = snprintf(joined, sizeof joined, "%s%s", files->folder, out);
  return files->has_folder && written > 0 && (size_t)written < sizeof joined && !lstat(joined, &facts);
}

/* Resolves a link, or a name with folders in it. NULL and errno where it does not lead to a file below the folder. The
   caller frees the path with free. */
static char *resolve_below(import_files *files, const char *clean) {
  char joined[PATH_MAX], *real;
  size_t length;
  int written;
  if (!files->real_folder) files->real_folder = realpath(files->folder[0] ? files->folder : ".", NULL);
  if (!files->real_folder) return NULL;
  length = strlen(files->real_folder);
  written = snprintf(joined, sizeof joined, "%s/%s", files->real_folder, clean);
  errno = ENAMETOOLONG;
  if (written < 0 || (size_t)written >= sizeof joined) return NULL;
  real = realpath(joined, NULL);
  if (!real) return NULL;
  while (length && files->real_folder[length - 1] == '/') length--;
  if (!strncmp(real, files->real_folder, length) && real[length] == '/') return real;
  free(real);
  errno = EACCES;
  return NULL;
}

/* The path of a file below the folder, to be freed with free, or NULL and errno. For a file that lies in the folder
   itself and is not a link, the folder need not be resolved. */
static char *resolve(import_files *files, const char *clean) {
  char joined[PATH_MAX];
  struct stat facts;
  int written = snprintf(joined, sizeof joined, "%s%s", files->folder, clean);
  errno = ENAMETOOLONG;
  if (written < 0 || (size_t)written >= sizeof joined) return NULL;
  if (strchr(clean, '/')) return resolve_below(files, clean);
  if (lstat(joined, &facts)) return NULL;
  return S_ISLNK(facts.st_mode) ? resolve_below(files, clean) : strdup(joined);
}

const char *import_files_below(const import_files *files, const char *name) {
  size_t prefix = strlen(files->folder), here = strlen(IMPORT_HERE);
  while (!strncmp(name, IMPORT_HERE, here)) name += here;
  return prefix && !strncmp(name, files->folder, prefix) ? name + prefix : name;
}

#define INVENTED "../../../scripts/" /* where Assimp's reader of .md3 looks for scripts that no file names */

/* Assimp tries the ends of a path that it does not find as if they were absolute: these are not counted. */
const import_source *import_files_refuse(import_files *files, const char *name) {
  name = import_files_below(files, name);
  if (name[0] == '/' || !strncmp(name, INVENTED, strlen(INVENTED))) return NULL;
  if (!files->refused) snprintf(files->first_refused, sizeof files->first_refused, "%s", name);
  files->refused += !files->refused || strncmp(name, files->first_refused, sizeof files->first_refused - 1);
  return NULL;
}

const char *import_suffix_of(const char *path) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash + 1 : path, '.');
  return dot && dot != (slash ? slash + 1 : path) ? dot + 1 : "";
}

/* Reads the file that the name leads to, wherever it is, and keeps it under its real path, which no other name equals.
   */
static const import_source *read_anywhere(import_files *files, const char *name) {
  char joined[PATH_MAX], *real, *at;
  const import_source *source;
  const char *why;
  bool absolute = name[0] == '/';
  int written = snprintf(joined, sizeof joined, "%s%s", absolute ? "" : files->folder, name);
  if (written < 0 || (size_t)written >= sizeof joined) return NULL;
  if (!absolute && !files->has_folder) return import_files_refuse(files, name);
  real = realpath(joined, NULL);
  for (at = joined; !real && *at; at++)
    if (*at == '\\') *at = '/';
  if (!real) real = realpath(joined, NULL);
  source = real ? find_source(files, real) : NULL;
  if (real && !source && load(files, real, real, false, &why)) source = find_source(files, real);
  free(real);
  return source;
}

static const import_source *read_named(import_files *files, const char *name) {
  char clean[PATH_MAX], *real;
  const import_source *source;
  const char *why;
  name = import_files_below(files, name);
  if (files->external == SK_EXTERNAL_ANY) return read_anywhere(files, name);
  if (!find_literal(files, name, clean, sizeof clean) && !clean_name(name, WINDOWS, clean, sizeof clean))
    return import_files_refuse(files, name);
  source = find_source(files, clean);
  if (source || !files->has_folder) return source;
  real = resolve(files, clean);
  if (!real) return errno == ENOENT || errno == ENOTDIR ? NULL : import_files_refuse(files, name);
  if (files->external == SK_EXTERNAL_NONE) {
    free(real);
    return import_files_refuse(files, name);
  }
  source = load(files, real, clean, false, &why) ? find_source(files, clean) : NULL;
  free(real);
  return source;
}

const import_source *import_files_read(import_files *files, const char *name) {
  const import_source *source = read_named(files, name);
  files->is_pointer = source && import_is_lfs_pointer(source);
  return files->is_pointer ? NULL : source;
}

/* ---- the model itself ---------------------------------------------------------------------- */

static void set_format(import_job *job, const char *suffix) {
  size_t i;
  for (i = 0; suffix[i] && i + 1 < sizeof job->suffix; i++)
    job->suffix[i] = (char)(suffix[i] >= 'A' && suffix[i] <= 'Z' ? suffix[i] | 32 : suffix[i]);
  job->suffix[i] = 0;
  job->format = job->files.format = import_format_of(job->suffix);
}

/* The suffix by the first bytes, for a name that has none; "" where they say nothing. */
static const char *suffix_of_bytes(const import_source *model) {
  const import_magic *magic;
  return import_format_of_bytes(model->data, model->size, &magic) ? magic->suffix : "";
}

/* Sets the folder as the path has it: "", or with a slash at its end. */
static sk_status find_folder(import_job *job) {
  import_files *files = &job->files;
  const char *path = job->request->path, *slash = path ? strrchr(path, '/') : NULL;
  files->has_folder = path != NULL;
  files->folder = import_copy_text(path ? path : "", slash ? (size_t)(slash + 1 - path) : 0);
  return files->folder ? SK_OK : import_no_memory(job, 1);
}

static sk_status load_model(import_job *job, const char *name) {
  import_files *files = &job->files;
  const sk_import_request *request = job->request;
  const char *why = NULL;
  if (!request->path) {
    if (request->size > files->max_total) {
      files->exceeded = request->size;
      return import_check_bytes(job);
    }
    files->total = request->size;
    return import_files_put(files, name, request->bytes, request->size, NULL) ? SK_OK
                                                                              : import_no_memory(job, request->size);
  }
  if (load(files, request->path, name, true, &why)) return SK_OK;
  if (files->exceeded) return import_check_bytes(job);
  if (!why) return import_no_memory(job, 1);
  if (access(request->path, F_OK)) return sk_fail(job->error, SK_ERROR_MISSING, "no such file: '%s'", request->path);
  return sk_fail(job->error, SK_ERROR_IMPORT, "%s", why);
}

/* Sets the format, and the name under which Assimp gets the model. Assimp goes by the suffix, so the name ends in the
   one of the format, in lower case: its MD5 reader looks for no other. The folder is always IMPORT_HERE, as some of
   Assimp's readers put the real one in front of other names once more, and take a backslash for a separator. */
static sk_status name_model(import_job *job) {
  import_files *files = &job->files;
  const import_source *model = files->sources.data;
  const char *name = model->name, *suffix = job->request->path ? import_suffix_of(name) : "";
  size_t room = sizeof IMPORT_HERE + strlen(name) + sizeof job->suffix + 2;
  char *at;
  set_format(job, job->request->format ? job->request->format : suffix);
  if (!job->suffix[0]) set_format(job, suffix_of_bytes(model));
  files->main_name = sk_alloc(room);
  if (!files->main_name) return import_no_memory(job, room);
  if (job->request->path && !job->request->format && suffix[0] && strlen(suffix) == strlen(job->suffix))
    snprintf(files->main_name, room, IMPORT_HERE "%.*s%s", (int)(suffix - name), name, job->suffix);
  else snprintf(files->main_name, room, job->suffix[0] ? IMPORT_HERE "%s.%s" : IMPORT_HERE "%s", name, job->suffix);
  for (at = files->main_name; *at; at++)
    if (*at == '\\' || *at == ':') *at = '_';
  return SK_OK;
}

sk_status import_files_open(import_job *job) {
  import_files *files = &job->files;
  const char *path = job->request->path, *slash = path ? strrchr(path, '/') : NULL;
  sk_status status;
  files->descriptor = -1;
  files->external = job->request->external;
  files->formats = job->request->formats;
  files->max_total = IMPORT_MAX_BYTES;
  if (job->request->limits.file_bytes && job->request->limits.file_bytes < files->max_total)
    files->max_total = (size_t)job->request->limits.file_bytes;
  files->sources = SK_ARRAY(import_source);
  files->io = import_assimp_io(files);
  status = find_folder(job);
  if (!status) status = load_model(job, path ? (slash ? slash + 1 : path) : "model");
  return status ? status : name_model(job);
}

const char *import_find_word(const import_source *file, const char *word) {
  const char *at =
      memmem(file->data, file->size < IMPORT_HEAD_BYTES ? file->size : IMPORT_HEAD_BYTES, word, strlen(word));
  return at ? at + strlen(word) : NULL;
}

static void close_descriptor(import_files *files) {
  if (files->descriptor >= 0) close(files->descriptor);
  files->descriptor = -1;
}

sk_status import_files_whole(import_job *job) {
  import_files *files = &job->files;
  import_source *model = files->sources.data;
  uint8_t *data;
  const char *why = NULL;
  if (files->descriptor < 0) return SK_OK;
  data = take_bytes(files, files->descriptor, files->model_size, &why);
  if (!data) return why ? sk_fail(job->error, SK_ERROR_IMPORT, "%s", why) : import_no_memory(job, files->model_size);
  sk_free(model->owned);
  model->data = data;
  model->owned = data;
  model->size = files->model_size;
  close_descriptor(files);
  return SK_OK;
}

void import_files_close(import_files *files) {
  import_source *source = files->sources.data;
  size_t i;
  for (i = 0; i < files->sources.count; i++) {
    sk_free(source[i].name);
    sk_free(source[i].owned);
  }
  close_descriptor(files);
  sk_array_free(&files->sources);
  sk_free(files->main_name);
  sk_free(files->folder);
  free(files->real_folder);
}
