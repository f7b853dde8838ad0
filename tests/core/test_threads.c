/* test_threads.c: the pool of threads: every element once, whoever asks and whatever happens meanwhile. */
#define _GNU_SOURCE /* usleep, sigset_t */
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../csrc/core/pose/sk_compile.h"
#include "../../csrc/core/base/sk_cores.h"
#include "../../csrc/core/base/sk_cpu.h"
#include "../../csrc/core/pose/sk_palette.h"
#include "../../csrc/core/base/sk_threads.h"
#include "small_model.h"

/* The threads are to work in each test, however busy the machine. */
static void use_threads(size_t count) {
  sk_set_thread_count(count);
  sk_end_rest();
}

/* What one call of sk_parallel did. Checks fail by a jump, which no other thread may make: ranges only note. */
typedef struct record {
  size_t count, grain, workers;
  atomic_uchar *visits;  /* (count,) */
  atomic_bool *in_use;   /* (workers,) a range of this worker is running */
  atomic_size_t ranges;
  atomic_int faults;     /* ranges that were not as promised */
  atomic_int waiting;    /* for meet(): ranges that stand inside */
} record;

static void visit(const void *job, size_t worker, size_t first, size_t count) {
  record *own = (record *)job; /* not const where it was made */
  size_t left = own->count - first, i;
  bool fits = first < own->count && first % own->grain == 0 && worker < own->workers &&
              count == (left < own->grain ? left : own->grain);
  atomic_fetch_add(&own->ranges, 1);
  if (!fits || atomic_exchange(&own->in_use[worker], true)) {
    atomic_fetch_add(&own->faults, 1);
    return;
  }
  for (i = first; i < first + count; i++) atomic_fetch_add(&own->visits[i], 1);
  atomic_store(&own->in_use[worker], false);
}

static void visit_slowly(const void *job, size_t worker, size_t first, size_t count) {
  usleep(500);
  visit(job, worker, first, count);
}

/* 0 where every element had its visit, in ranges as promised. */
static int faults_of(size_t count, size_t grain, sk_range_run run) {
  record own = {.count = count, .grain = grain ? grain : 1};
  size_t i;
  int faults;
  sk_end_rest();
  own.workers = sk_worker_count(count, own.grain);
  own.visits = calloc(count + 1, sizeof *own.visits);
  own.in_use = calloc(own.workers, sizeof *own.in_use);
  sk_parallel(&own, run, count, grain, own.workers);
  for (i = 0; i < count; i++) own.faults += own.visits[i] != 1;
  own.faults += own.ranges != count / own.grain + (count % own.grain != 0);
  faults = own.faults;
  free(own.visits);
  free(own.in_use);
  return faults;
}

static void every_element_has_one_visit(void) {
  static const size_t counts[] = {0, 1, 2, 3, 7, 8, 9, 64, 1000, 4097}, grains[] = {0, 1, 2, 3, 8, 100, 5000},
                      threads[] = {1, 2, 3, 8, 2};
  size_t t, c, g;
  for (t = 0; t < COUNT(threads); t++) {
    sk_set_thread_count(threads[t]);
    CHECK_EQUAL(sk_thread_count(), threads[t]);
    for (c = 0; c < COUNT(counts); c++)
      for (g = 0; g < COUNT(grains); g++) CHECK_EQUAL(faults_of(counts[c], grains[g], visit), 0);
  }
}

static void a_range_may_be_as_long_as_memory(void) {
  CHECK_EQUAL(faults_of(0, SIZE_MAX, visit), 0);
  CHECK_EQUAL(faults_of(5, SIZE_MAX, visit), 0);
}

/* ---- how many ----------------------------------------------------------------------------------- */

static void the_count_has_bounds(void) {
  sk_set_thread_count(SIZE_MAX);
  CHECK_EQUAL(sk_thread_count(), SK_MAX_THREADS);
  sk_set_thread_count(0);
  CHECK(sk_thread_count() >= 1 && sk_thread_count() <= sk_core_count());
}

static void a_worker_has_two_ranges_or_more(void) {
  static const struct {
    size_t threads, count, grain, workers;
  } rows[] = {{8, 0, 1, 1},   {8, 3, 1, 1},   {8, 4, 1, 2}, {8, 7, 1, 3},        {8, 100, 1, 8},
              {8, 100, 7, 7}, {1, 100, 1, 1}, {2, 5, 1, 2}, {8, SIZE_MAX, 9, 8}, {8, 5, SIZE_MAX, 1}};
  size_t i;
  for (i = 0; i < COUNT(rows); i++) {
    use_threads(rows[i].threads);
    CHECK_EQUAL(sk_worker_count(rows[i].count, rows[i].grain), rows[i].workers);
  }
}

static void a_quota_counts_as_processors(void) {
  static const struct {
    const char *text;
    size_t cores;
  } rows[] = {{"max 100000\n", 0},   {"100000 100000\n", 1}, {"250000 100000\n", 3}, {"1000 100000\n", 1},
              {"-1 100000\n", 0},    {"100000 0\n", 0},      {"100000", 0},          {"", 0},
              {"1e300 100000\n", 0}, {"nan 1\n", 0},         {"6400000 100000\n", 64}};
  char path[] = "/tmp/sk_quota_XXXXXX";
  int handle = mkstemp(path);
  size_t i, wrong = 0;
  CHECK(handle >= 0);
  for (i = 0; i < COUNT(rows); i++) {
    wrong += ftruncate(handle, 0) != 0 || pwrite(handle, rows[i].text, strlen(rows[i].text), 0) < 0;
    wrong += sk_core_quota(path) != rows[i].cores;
  }
  close(handle);
  unlink(path);
  CHECK_EQUAL(wrong, 0);
  CHECK_EQUAL(sk_core_quota(path), 0);
}

/* ---- several threads at work ------------------------------------------------------------------- */

/* Waits, but not for ever, until two ranges are inside at once: as only two threads can do. */
static void meet(const void *job, size_t worker, size_t first, size_t count) {
  record *own = (record *)job; /* not const where it was made */
  int waits;
  atomic_fetch_add(&own->waiting, 1);
  for (waits = 0; waits < 20000 && atomic_load(&own->waiting) < 2; waits++) usleep(1000);
  if (atomic_load(&own->waiting) < 2) atomic_fetch_add(&own->faults, 1);
  visit(job, worker, first, count);
}

static void two_threads_work_at_once(void) {
  sk_set_thread_count(2);
  CHECK_EQUAL(faults_of(4, 1, meet), 0);
}

enum { RANGES = 1000 };

/* Of two workers: the first range of each, how many ranges each has run, and how many are done. */
typedef struct pair {
  atomic_size_t first[2], ranges[2], done;
  bool stops;        /* the thread stops in its first range until the caller has run all others */
  atomic_bool alone; /* it waited for that in vain */
} pair;

static bool wait_for(atomic_size_t *number, size_t value) {
  int waits;
  for (waits = 0; waits < 20000 && atomic_load(number) < value; waits++) usleep(1000);
  return atomic_load(number) >= value;
}

/* The caller waits in its first range until the thread is in its own. */
static void run_of_pair(const void *job, size_t worker, size_t first, size_t count) {
  pair *own = (pair *)job; /* not const where it was made */
  (void)count;
  if (atomic_fetch_add(&own->ranges[worker], 1) == 0) {
    atomic_store(&own->first[worker], first);
    if (worker == 0 && !own->alone) atomic_store(&own->alone, !wait_for(&own->ranges[1], 1));
    if (worker == 1 && own->stops) {
      atomic_store(&own->alone, !wait_for(&own->done, RANGES - 1));
      usleep(100000); /* more than threads may have saved before */
    }
  }
  atomic_fetch_add(&own->done, 1);
}

static void a_thread_begins_with_its_own_part(void) {
  pair own = {.stops = false};
  use_threads(2);
  sk_parallel(&own, run_of_pair, RANGES, 1, SK_MAX_THREADS);
  CHECK(!own.alone);
  CHECK_EQUAL(own.done, RANGES);
  CHECK_EQUAL(own.first[0], 0);
  CHECK_EQUAL(own.first[1], RANGES / 2);
}

/* It costs the caller the one range in which it stands. Threads then rest, because they cost more than they saved. */
static void a_thread_that_is_stopped_keeps_one_range(void) {
  pair own = {.stops = true}, next = {.alone = true};
  use_threads(2);
  sk_parallel(&own, run_of_pair, RANGES, 1, SK_MAX_THREADS);
  CHECK(!own.alone);
  CHECK_EQUAL(own.ranges[0], RANGES - 1);
  CHECK_EQUAL(own.ranges[1], 1);
  sk_parallel(&next, run_of_pair, RANGES, 1, SK_MAX_THREADS);
  CHECK_EQUAL(next.ranges[0], RANGES);
  CHECK_EQUAL(faults_of(4, 1, meet), 0); /* which ends the rest */
}

/* A range that calls sk_parallel: the inner ranges stay on this thread, as its worker 0. */
static void nest(const void *job, size_t worker, size_t first, size_t count) {
  record *own = (record *)job; /* not const where it was made */
  if (faults_of(50, 3, visit)) atomic_fetch_add(&own->faults, 1);
  visit(job, worker, first, count);
}

static void ranges_may_call_again(void) {
  sk_set_thread_count(3);
  CHECK_EQUAL(faults_of(40, 2, nest), 0);
}

typedef struct caller {
  pthread_t thread;
  size_t seed;
  int faults;
} caller;

static void *call_often(void *argument) {
  caller *caller = argument;
  size_t i;
  for (i = 0; i < 200; i++) caller->faults += faults_of((caller->seed * 37 + i * 11) % 300, i % 7, visit);
  return NULL;
}

static int run_callers(caller *callers, size_t count, void (*meanwhile)(void)) {
  size_t i;
  int faults = 0;
  for (i = 0; i < count; i++) {
    callers[i] = (caller){.seed = i};
    CHECK(pthread_create(&callers[i].thread, NULL, call_often, &callers[i]) == 0);
  }
  if (meanwhile) meanwhile();
  for (i = 0; i < count; i++) {
    pthread_join(callers[i].thread, NULL);
    faults += callers[i].faults;
  }
  return faults;
}

static void many_call_at_once(void) {
  caller callers[6];
  sk_set_thread_count(4);
  CHECK_EQUAL(run_callers(callers, COUNT(callers), NULL), 0);
}

static void change_the_count(void) {
  size_t i;
  for (i = 0; i < 60; i++) sk_set_thread_count(1 + i * 5 % 7);
}

static void the_count_changes_while_others_work(void) {
  caller callers[4];
  sk_set_thread_count(4);
  CHECK_EQUAL(run_callers(callers, COUNT(callers), change_the_count), 0);
}

static void *grow(void *flag) {
  sk_set_thread_count(8);
  if (flag) atomic_store((atomic_bool *)flag, true);
  return NULL;
}

/* Scratch was taken for some workers; that somebody else asks for more meanwhile must not bring another. */
static void a_caller_gets_no_more_workers_than_it_was_told(void) {
  size_t count, i;
  for (count = 1; count <= 2; count++) {
    record own = {.count = 100, .grain = 1};
    atomic_uchar visits[100] = {0};
    atomic_bool in_use[2] = {false, false};
    pthread_t other;
    use_threads(count);
    own.workers = sk_worker_count(own.count, own.grain);
    own.visits = visits;
    own.in_use = in_use;
    CHECK_EQUAL(own.workers, count);
    CHECK(pthread_create(&other, NULL, grow, NULL) == 0);
    pthread_join(other, NULL);
    sk_parallel(&own, visit_slowly, own.count, 1, own.workers);
    CHECK_EQUAL(own.faults, 0);
    for (i = 0; i < COUNT(visits); i++) CHECK_EQUAL(visits[i], 1);
    CHECK_EQUAL(sk_thread_count(), 8);
  }
}

/* A caller whose ranges last until they are let go. */
typedef struct held {
  atomic_bool inside, let_go, was_set, end_was_early;
} held;

static void hold(const void *job, size_t worker, size_t first, size_t count) {
  held *own = (held *)job;
  (void)worker, (void)first, (void)count;
  atomic_store(&own->inside, true);
  while (!atomic_load(&own->let_go)) usleep(500);
  if (atomic_load(&own->was_set)) atomic_store(&own->end_was_early, true);
}

static void *call_held(void *argument) {
  sk_parallel(argument, hold, 4, 1, SK_MAX_THREADS);
  return NULL;
}

static void a_new_count_waits_for_running_work(void) {
  held own = {false, false, false, false};
  pthread_t caller, setter;
  use_threads(2);
  CHECK(pthread_create(&caller, NULL, call_held, &own) == 0);
  while (!atomic_load(&own.inside)) usleep(500);
  CHECK(pthread_create(&setter, NULL, grow, &own.was_set) == 0);
  usleep(50000);
  atomic_store(&own.let_go, true);
  pthread_join(caller, NULL);
  pthread_join(setter, NULL);
  CHECK(own.was_set && !own.end_was_early);
}

/* ---- the jobs ------------------------------------------------------------------------------------- */

enum { MANY = 4099 }; /* poses: enough for several ranges, and not a multiple of any */

/* Palettes at random times; the caller frees them. */
static float *random_palettes(const sk_model *model, const sk_clip *clip, sk_result result) {
  static double times[MANY];
  sk_sampling sampling = {&model->skeleton, clip, SK_LOOP_WRAP, SK_SLERP, &model->morph};
  sk_palette_job job = {.skeleton = &model->skeleton, .skin = &model->skin, .count = MANY, .sampling = &sampling,
                        .times = times, .result = result, .affine = true};
  uint64_t random = 11;
  size_t i;
  for (i = 0; i < MANY; i++) times[i] = (double)(check_random(&random) % 5000) / 1000 - 1;
  job.scratch = aligned_alloc(64, sk_palette_scratch(&job));
  job.out = malloc(MANY * sk_palette_floats(&job) * sizeof(float));
  sk_palette_run(&job);
  free(job.scratch);
  return job.out;
}

static bool palettes_agree(const sk_model *model, const sk_clip *clip, sk_result result) {
  static const size_t threads[] = {2, 3, 8};
  size_t i, bytes = MANY * (result == SK_POSITIONS ? JOINTS * 3 : SLOTS * 12) * sizeof(float);
  bool agree = true;
  float *wanted;
  sk_set_thread_count(1);
  wanted = random_palettes(model, clip, result);
  for (i = 0; i < COUNT(threads); i++) {
    float *got;
    use_threads(threads[i]);
    got = random_palettes(model, clip, result);
    agree = agree && memcmp(got, wanted, bytes) == 0;
    free(got);
  }
  free(wanted);
  return agree;
}

/* On the plain path and, where there is one, by the kernels. */
static void palettes_are_the_same_with_any_number(void) {
  small_model written;
  sk_model model;
  sk_clip clip;
  sk_error error;
  sk_compiled *compiled = NULL;
  size_t size;
  void *block;
  small_model_set(&written);
  block = small_model_write(&written, &size, &error);
  CHECK(block && sk_model_open(block, size, &model, &error) == SK_OK);
  sk_clip_open(&model.block, 0, &clip);
  CHECK(palettes_agree(&model, &clip, SK_PALETTE) && palettes_agree(&model, &clip, SK_POSITIONS));
  if (sk_simd_chosen() != SK_SIMD_PLAIN) compiled = sk_compile(&clip, &model.skeleton, &model.skin, NULL);
  clip.compiled = compiled;
  CHECK(palettes_agree(&model, &clip, SK_PALETTE) && palettes_agree(&model, &clip, SK_POSITIONS));
  sk_free(compiled);
  sk_free(block);
}

/* ---- fork ----------------------------------------------------------------------------------------- */

#if defined(__SANITIZE_ADDRESS__)
#define TRIES 3 /* a fork that falls into the making of a thread may leave the sanitizer's own locks taken */
#else
#define TRIES 1
#endif

static int one_child_s_faults(void) {
  int status = 0;
  pid_t child = fork();
  if (child == 0) {
    alarm(60); /* a deadlock ends with a signal */
    _Exit(faults_of(100, 3, visit) + faults_of(4, 1, meet) ? 1 : 0);
  }
  waitpid(child, &status, 0);
  return status;
}

static bool hung(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM; }

/* In a child, which must come to an end by itself: 0 where its own pool works. */
static int child_faults(void) {
  int status = one_child_s_faults(), i;
  for (i = 1; i < TRIES && hung(status); i++) status = one_child_s_faults();
  return status;
}

static void a_child_has_a_pool_of_its_own(void) {
  sk_set_thread_count(3);
  CHECK_EQUAL(faults_of(100, 3, visit), 0);
  CHECK_EQUAL(child_faults(), 0);
  CHECK_EQUAL(faults_of(100, 3, visit), 0);
}

static int fork_faults;

static void fork_often(void) {
  int i;
  for (i = 0; i < 20; i++) fork_faults += child_faults() != 0;
}

static void a_fork_may_fall_into_the_work_of_others(void) {
  caller callers[3];
  fork_faults = 0;
  sk_set_thread_count(3);
  CHECK_EQUAL(run_callers(callers, COUNT(callers), fork_often), 0);
  CHECK_EQUAL(fork_faults, 0);
}

/* ---- signals ---------------------------------------------------------------------------------------- */

static void note_mask(const void *job, size_t worker, size_t first, size_t count) {
  record *own = (record *)job; /* not const where it was made */
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  if (worker && (!sigismember(&mask, SIGINT) || !sigismember(&mask, SIGTERM) || sigismember(&mask, SIGSEGV)))
    atomic_fetch_add(&own->faults, 1);
  meet(job, worker, first, count);
}

static void threads_leave_signals_to_the_caller(void) {
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  sk_set_thread_count(1);
  sk_set_thread_count(2); /* so that a thread is made in this test */
  CHECK_EQUAL(faults_of(4, 1, note_mask), 0);
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  CHECK_EQUAL(sigismember(&after, SIGINT), sigismember(&before, SIGINT));
}

/* ---- the rows of a large block ------------------------------------------------------------------------ */

enum { NUMBERS = (2 << 20) + 5 }; /* 8 MiB, the last of them in a range of their own */

/* A block of clips whose keys are all at `numbers`; it has none that play them. */
static void *write_numbers(const float *numbers, size_t *size) {
  small_model m;
  sk_error error = {SK_OK, ""};
  void *block;
  sk_info info = {.kind = SK_BLOCK_CLIPS, .influences = 1, .joints = JOINTS};
  small_model_set(&m);
  {
    const sk_block_part parts[] = {{SK_SECTION_INFO, sizeof info, 1, &info},
                                   {SK_SECTION_TEXT, 1, m.text_length, m.text},
                                   {SK_SECTION_JOINT_NAMES, sizeof *m.names, JOINTS, m.names},
                                   {SK_SECTION_VALUES, sizeof *numbers, NUMBERS, numbers}};
    CHECK_EQUAL(sk_block_write(parts, COUNT(parts), &block, size, &error), SK_OK);
  }
  return block;
}

static void every_range_of_a_block_is_looked_at(void) {
  static const size_t places[] = {0, 32767, 32768, NUMBERS / 2 + 1, NUMBERS - 1}; /* 32,768 numbers are a range */
  float *numbers = calloc(NUMBERS, sizeof *numbers);
  size_t size, i, threads;
  void *block = write_numbers(numbers, &size);
  sk_error error = {SK_OK, ""};
  sk_model model;
  for (threads = 1; threads <= 4; threads++) {
    float *values;
    use_threads(threads);
    CHECK_EQUAL(sk_model_open(block, size, &model, &error), SK_OK);
    values = (float *)model.block.sections[SK_SECTION_VALUES].data;
    for (i = 0; i < COUNT(places); i++) {
      values[places[i]] = NAN;
      CHECK_EQUAL(sk_model_open(block, size, &model, &error), SK_ERROR_BLOCK);
      CHECK_WORDS(error.message, "VALUES holds a number that is not finite");
      values[places[i]] = 0.0f;
    }
  }
  sk_set_thread_count(0);
  sk_free(block);
  free(numbers);
}

const check_test threads_tests[] = {TEST(every_element_has_one_visit),
                                   TEST(a_range_may_be_as_long_as_memory),
                                   TEST(the_count_has_bounds),
                                   TEST(a_worker_has_two_ranges_or_more),
                                   TEST(a_quota_counts_as_processors),
                                   TEST(two_threads_work_at_once),
                                   TEST(a_thread_begins_with_its_own_part),
                                   TEST(a_thread_that_is_stopped_keeps_one_range),
                                   TEST(ranges_may_call_again),
                                   TEST(many_call_at_once),
                                   TEST(the_count_changes_while_others_work),
                                   TEST(a_caller_gets_no_more_workers_than_it_was_told),
                                   TEST(a_new_count_waits_for_running_work),
                                   TEST(palettes_are_the_same_with_any_number),
                                   TEST(a_child_has_a_pool_of_its_own),
                                   TEST(a_fork_may_fall_into_the_work_of_others),
                                   TEST(threads_leave_signals_to_the_caller),
                                   TEST(every_range_of_a_block_is_looked_at),
                                   {NULL, NULL}};
