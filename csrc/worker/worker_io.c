/* worker_io.c: see worker_io.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "worker_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define MIN_DESCRIPTOR 10                /* above those of a worker, which posix_spawn sets one after another */
#define MAX_TRANSFER   ((size_t)1 << 30) /* Linux writes or reads less than 2 GiB in one call */

/* ---- limits from outside --------------------------------------------------------------------------------------- */

static const struct limit {
  int resource;
  const char *what, *name, *option; /* the last is that of ulimit */
} limits[] = {
    {RLIMIT_FSIZE, "bytes for a file", "RLIMIT_FSIZE", "f"},      {RLIMIT_DATA, "bytes of data", "RLIMIT_DATA", "d"},
    {RLIMIT_AS, "bytes of address space", "RLIMIT_AS", "v"},      {RLIMIT_NOFILE, "open files", "RLIMIT_NOFILE", "n"},
    {RLIMIT_NPROC, "processes of its user", "RLIMIT_NPROC", "u"}, {RLIMIT_STACK, "bytes of stack", "RLIMIT_STACK", "s"},
    {RLIMIT_CPU, "seconds of processor time", "RLIMIT_CPU", "t"}};

uint64_t worker_limit_of(int resource) {
  struct rlimit limit;
  return getrlimit(resource, &limit) ? (uint64_t)RLIM_INFINITY : (uint64_t)limit.rlim_cur;
}

bool worker_limit_words(int resource, char *words, size_t room) {
  uint64_t value = worker_limit_of(resource);
  size_t i;
  for (i = 0; value != RLIM_INFINITY && i < sizeof limits / sizeof *limits; i++) {
    if (limits[i].resource != resource) continue;
    snprintf(words, room, "this process has a limit of %llu %s (%s, set outside of skinpy); raise it with ulimit -%s",
             (unsigned long long)value, limits[i].what, limits[i].name, limits[i].option);
    return true;
  }
  return false;
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

/* Gives a descriptor a number that no descriptor of a worker has. */
static int out_of_reach(int descriptor) {
  int moved;
  if (descriptor < 0 || descriptor >= MIN_DESCRIPTOR) return descriptor;
  moved = fcntl(descriptor, F_DUPFD_CLOEXEC, MIN_DESCRIPTOR);
  if (moved < 0 && errno == EINVAL) errno = EMFILE; /* the limit of open files is below MIN_DESCRIPTOR */
  close(descriptor);
  return moved;
}

int worker_make_file(const char *name) { return out_of_reach(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)); }

bool worker_make_pipe(int ends[2]) {
  if (pipe2(ends, O_CLOEXEC)) return false;
  ends[0] = out_of_reach(ends[0]);
  ends[1] = out_of_reach(ends[1]);
  if (ends[0] >= 0 && ends[1] >= 0) return true;
  if (ends[0] >= 0) close(ends[0]);
  if (ends[1] >= 0) close(ends[1]);
  return false;
}

bool worker_seal(int file) {
  return fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
}

bool worker_write(int file, const void *data, size_t size) {
  const char *from = data;
  while (size) {
    ssize_t written = write(file, from, size < MAX_TRANSFER ? size : MAX_TRANSFER);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    from += written, size -= (size_t)written;
  }
  return true;
}

bool worker_read(int file, void *data, size_t size, off_t offset) {
  char *to = data;
  while (size) {
    ssize_t got = pread(file, to, size < MAX_TRANSFER ? size : MAX_TRANSFER, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got, offset += got, size -= (size_t)got;
  }
  return true;
}
