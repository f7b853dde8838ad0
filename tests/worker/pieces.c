/* pieces.c: takes and gives back memory at random, with worker_malloc.c in place of the C library's functions. Each
   piece holds a pattern of its own, which shows whether another one lies over it. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECES 4000
#define TURNS 2000000
#define LIMIT ((rlim_t)256 << 20)

static struct { unsigned char *data; size_t size; unsigned char mark; } held[PIECES];
static uint64_t state = 88172645463325252u;

#define CHECK(what)                                         \
  do {                                                      \
    if (!(what)) {                                          \
      printf("%s is not so (line %d)\n", #what, __LINE__);  \
      exit(1);                                              \
    }                                                       \
  } while (0)

static uint64_t random_number(uint64_t below) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state % below;
}

/* Mostly small; the bounds, and what is the C library's, too. */
static size_t random_size(void) {
  uint64_t kind = random_number(100);
  return kind < 90 ? random_number(300) : kind < 99 ? random_number(5000) : random_number(300000);
}

static void mark_piece(int i, size_t size) {
  held[i].size = size;
  held[i].mark = (unsigned char)random_number(256);
  memset(held[i].data, held[i].mark, size);
}

static void look_at(int i, size_t size) {
  size_t k;
  for (k = 0; k < size; k++) CHECK(held[i].data[k] == held[i].mark);
}

static void take(int i) {
  size_t size = random_size(), k;
  int zero = random_number(3) == 0;
  held[i].data = zero ? calloc(size / 8 + 1, 8) : malloc(size);
  CHECK(held[i].data && (uintptr_t)held[i].data % 16 == 0);
  for (k = 0; zero && k < size; k++) CHECK(held[i].data[k] == 0);
  mark_piece(i, size);
}

static void resize(int i) {
  size_t size = random_size() + 1, kept = size < held[i].size ? size : held[i].size;
  held[i].data = realloc(held[i].data, size);
  CHECK(held[i].data && (uintptr_t)held[i].data % 16 == 0);
  look_at(i, kept);
  mark_piece(i, size);
}

static void give_back(int i) {
  look_at(i, held[i].size);
  free(held[i].data);
  held[i].data = NULL;
}

static void try_at_random(void) {
  int turn, i;
  for (turn = 0; turn < TURNS; turn++) {
    i = (int)random_number(PIECES);
    if (!held[i].data) take(i);
    else if (random_number(4)) give_back(i);
    else resize(i);
  }
  for (i = 0; i < PIECES; i++)
    if (held[i].data) give_back(i);
}

static void try_the_edges(void) {
  void *volatile a = malloc(0), *volatile b = malloc(0), *volatile c;
  volatile size_t much = SIZE_MAX;
  CHECK(a && b && a != b);
  free(a);
  c = malloc(16); /* what was freed comes back first */
  CHECK(c == a);
  free(NULL);
  CHECK(realloc(b, 0) == NULL);
  b = realloc(NULL, 24);
  CHECK(b);
  errno = 0;
  CHECK(!malloc(much) && errno == ENOMEM);
  errno = 0;
  CHECK(!calloc(much / 4, 8) && errno == ENOMEM);
  CHECK(!realloc(b, much));
  free(b);
  free(c);
}

/* In a process of its own: it ends by SIGABRT. */
static void try_to_free_twice(void) {
  int status = 0;
  pid_t child = fork();
  if (!child) {
    void *volatile a = malloc(100), *volatile b = malloc(100), *volatile again = a;
    free(a);
    free(b);
    free(again);
    _exit(0);
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

/* What looks as if it had been freed is not lost. */
static void try_the_mark(void) {
  void **volatile a = malloc(32), *mark;
  free(a);
  mark = a[1];
  CHECK(malloc(32) == a && a[1] != mark);
  a[1] = mark;
  free(a);
  CHECK(malloc(32) == a);
  free(a);
}

/* Takes pieces until there are no more, and gives all of them back: how many there were. */
static size_t fill(void) {
  void **last = NULL, **piece;
  size_t count = 0;
  while ((piece = malloc(48))) *piece = last, last = piece, count++;
  CHECK(errno == ENOMEM);
  while (last) piece = *last, free(last), last = piece;
  return count;
}

/* `each`: bytes that a piece of 48 takes at most, with all that is around it. */
static void try_the_end(size_t each) {
  struct rlimit limit = {LIMIT, LIMIT};
  size_t count, again;
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  count = fill();
  again = fill(); /* the last ones are the C library's, and may lie otherwise */
  CHECK(count > (size_t)LIMIT / each && again > count - count / 100 && again < count + count / 100);
}

/* With any argument large pieces lie in the heap, as in the worker. Else the pages of small ones are mapped anywhere. */
int main(int count, char **arguments) {
  (void)arguments;
  if (count > 1) mallopt(M_MMAP_THRESHOLD, 16 << 20);
  try_the_edges();
  try_the_mark();
  try_to_free_twice();
  try_at_random();
  try_the_end(count > 1 ? 56 : 72);
  printf("good\n");
  return 0;
}
