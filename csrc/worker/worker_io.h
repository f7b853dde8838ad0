/* worker_io.h: what both sides do with files: writing and reading all of something. */
#ifndef SK_WORKER_IO_H
#define SK_WORKER_IO_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

#define WORKER_MOST_AT_ONCE ((size_t)1 << 30) /* one call writes or reads less than 2 GiB */

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

/* From `at` on; false where it ends before. */
bool worker_read(int descriptor, void *data, size_t size, off_t at);

#endif
