/* fill.c: memory that worker_fill.c fills, against what memset has to do. With the argument "without" the system gives
   no file to fill it from. */
#define _GNU_SOURCE
#include "../../csrc/worker/worker_malloc.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define LARGE (16 * MIB)
#define LINE '\n'

#define CHECK(what)                                         \
  do {                                                      \
    if (!(what)) {                                          \
      printf("%s is not so (line %d)\n", #what, __LINE__);  \
      exit(1);                                              \
    }                                                       \
  } while (0)

/* So that the compiler neither leaves it out nor makes calloc of it. */
static void *(*volatile fill)(void *, int, size_t) = memset;

static size_t resident(void) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  CHECK(file && fscanf(file, "%*d %ld", &pages) == 1);
  fclose(file);
  return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void expect(const unsigned char *at, const unsigned char *end, int byte) {
  for (; at < end; at++) CHECK(*at == (unsigned char)byte);
}

/* Fills a part of a piece of ones. */
static void fill_part(size_t piece, size_t from, size_t size, int byte) {
  unsigned char *data = malloc(piece);
  CHECK(data);
  fill(data, 1, from);
  fill(data + from + size, 1, piece - from - size);
  CHECK(fill(data + from, byte, size) == data + from);
  expect(data, data + from, 1);
  expect(data + from, data + from + size, byte);
  expect(data + from + size, data + piece, 1);
  free(data);
}

/* What is written into it stands there alone, and what is filled once more is as new. */
static void write_into(unsigned char *data) {
  data[5 * MIB] = data[LARGE - 1] = data[0] = 7;
  expect(data + 1, data + 5 * MIB, LINE);
  CHECK(data[5 * MIB] == 7 && data[LARGE - 1] == 7 && data[0] == 7);
  expect(data + 5 * MIB + 1, data + LARGE - 1, LINE);
  fill(data, LINE, LARGE);
  expect(data, data + LARGE, LINE);
}

int main(int count, char **arguments) {
  const struct rlimit none = {3, 3};
  bool without = count > 1 && !strcmp(arguments[1], "without");
  unsigned char *data, *other;
  size_t before, i;
  if (without) CHECK(!setrlimit(RLIMIT_NOFILE, &none));
  worker_fill_by_file(LINE);
  data = malloc(LARGE);
  CHECK(data);
  before = without ? 0 : resident();
  fill(data, LINE, LARGE);
  CHECK(without || resident() < before + MIB / 2);
  expect(data, data + LARGE, LINE);
  write_into(data);
  other = malloc(LARGE); /* the last one now */
  CHECK(other);
  fill(data, LINE, LARGE);
  fill(other, LINE, LARGE);
  write_into(data), write_into(other);
  data = realloc(data, 2 * LARGE);
  CHECK(data);
  expect(data, data + LARGE, LINE);
  free(other);
  other = malloc(LARGE); /* where the freed one lay */
  CHECK(other);
  fill(other, 0, LARGE), expect(other, other + LARGE, 0);
  free(other), free(data);
  for (i = 0; i < 20; i++) fill_part(LARGE, i * 997, LARGE - i * 1777, i % 4 ? LINE : 0);
  for (i = 0; i < 8; i++) fill_part(8 * MIB, i * 4096, 4 * MIB + i % 3, LINE + 256 * (int)(i % 2));
  fill_part(100, 10, 80, LINE), fill_part(3 * MIB, 0, 3 * MIB, LINE), fill_part(LARGE, 8, 0, LINE);
  printf("good\n");
  return 0;
}
