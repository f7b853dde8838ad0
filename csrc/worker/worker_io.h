/* worker_io.h: what both sides do with files: writing all of something, and asking for pages ahead. */
#ifndef SK_WORKER_IO_H
#define SK_WORKER_IO_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

/* Pages that come at one go, before they are touched. Linux before 5.14 refuses, and headers as old know no names. */
#if !defined(MADV_POPULATE_READ)
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

#define WORKER_MOST_AT_ONCE ((size_t)1 << 30) /* one call writes at most 2 GiB */

static inline bool worker_write(int descriptor, const void *data, size_t size) {
  const char *from = data;
  while (size) {
    ssize_t done = write(descriptor, from, size < WORKER_MOST_AT_ONCE ? size : WORKER_MOST_AT_ONCE);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    from += done, size -= (size_t)done;
  }
  return true;
}

#endif
