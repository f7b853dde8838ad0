/* worker_fill.c: memset in place of the C library's.

   Assimp's reader of OBJ fills a buffer of 16 MiB with line ends, however short the file. A process that has memory at
   hand does so in a millisecond; a new one needs three, and where a virtual machine's host has the memory, twenty. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "worker_malloc.h"

#if WORKER_HAS_OWN

#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "worker_io.h"

#define FILLED_LEAST ((size_t)4 << 20)
#define ROW_BYTES 4096
#define ROWS 64 /* of the file, which is mapped as often as it takes */
#define FILE_BYTES ((size_t)ROW_BYTES * ROWS)

static void *find_memset(void *memory, int byte, size_t size);

static void *(*libc_memset)(void *, int, size_t) = find_memset;
static int file = -1, file_byte; /* of which it is full */

static void *find_memset(void *memory, int byte, size_t size) {
  *(void **)&libc_memset = dlsym(RTLD_NEXT, "memset");
  return libc_memset(memory, byte, size);
}

static bool write_rows(int descriptor, const char *row) {
  int i;
  for (i = 0; i < ROWS; i++)
    if (!worker_write(descriptor, row, ROW_BYTES)) return false;
  return true;
}

void worker_fill_by_file(int byte) {
  static char row[ROW_BYTES];
  int made = memfd_create("skinpy-fill", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (made < 0) return;
  libc_memset(row, byte, sizeof row);
  if (write_rows(made, row) && !fcntl(made, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)) {
    file = made;
    file_byte = byte;
  } else {
    close(made);
  }
}

/* The whole pages of what lies between; the last one that was done, or `from`. */
static char *map_pages(char *from, char *to) {
  const int how = MAP_PRIVATE | MAP_FIXED;
  while (from < to) {
    size_t size = (size_t)(to - from) < FILE_BYTES ? (size_t)(to - from) : FILE_BYTES;
    if (mmap(from, size, PROT_READ | PROT_WRITE, how, file, 0) == MAP_FAILED) break;
    from += size;
  }
  return from;
}

static __attribute__((noinline)) void *fill_large(char *memory, size_t size) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)memory;
  char *from = (char *)((first + page - 1) / page * page), *to = (char *)((first + size) / page * page);
  char *done = map_pages(from, to);
  libc_memset(memory, file_byte, (size_t)(from - memory));
  libc_memset(done, file_byte, (size_t)(memory + size - done));
  return memory;
}

WORKER_OWN void *memset(void *memory, int byte, size_t size) {
  if (size >= FILLED_LEAST && file >= 0 && (unsigned char)byte == file_byte && worker_is_mapped_piece(memory, size))
    return fill_large(memory, size);
  return libc_memset(memory, byte, size);
}

#else

void worker_fill_by_file(int byte) { (void)byte; }

#endif
