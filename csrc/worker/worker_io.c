/* worker_io.c: see worker_io.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "worker_io.h"

bool worker_read(int descriptor, void *data, size_t size, off_t at) {
  char *to = data;
  while (size) {
    ssize_t got = pread(descriptor, to, size < WORKER_MOST_AT_ONCE ? size : WORKER_MOST_AT_ONCE, at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got, at += got, size -= (size_t)got;
  }
  return true;
}
