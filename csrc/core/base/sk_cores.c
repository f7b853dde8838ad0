/* sk_cores.c: see sk_cores.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "sk_cores.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__)
#include <sched.h>
#endif

/* Processors on which the system may run this process, or all processors where it does not tell. */
static size_t schedulable(void) {
  long online;
#if defined(__linux__)
  cpu_set_t set; /* it is too small for machines of over 1,024 processors, and then the call fails */
  if (sched_getaffinity(0, sizeof set, &set) == 0) return (size_t)CPU_COUNT(&set);
#endif
  online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (size_t)online : 1;
}

size_t sk_core_quota(const char *path) {
  double quota = 0, period = 0;
  size_t cores = 0;
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  if (fscanf(file, "%lf %lf", &quota, &period) == 2 && quota > 0 && period > 0 && quota < 65536 * period) {
    cores = (size_t)(quota / period);
    if ((double)cores * period < quota) cores++;
  }
  fclose(file);
  return cores;
}

/* Path of this process's control group (version 2), from the line "0::/a/b" of /proc/self/cgroup; "" at the root. */
static void read_group(char *path, size_t size) {
  FILE *file = fopen("/proc/self/cgroup", "re");
  char line[1024];
  path[0] = 0;
  while (file && fgets(line, sizeof line, file))
    if (strncmp(line, "0::/", 4) == 0 && strchr(line, '\n')) {
      line[strcspn(line, "\n")] = 0;
      snprintf(path, size, "%s", strcmp(line + 3, "/") ? line + 3 : "");
    }
  if (file) fclose(file);
}

/* The smallest quota of this group and of its ancestors, in processors, but at most `limit`. */
static size_t smallest_quota(size_t limit) {
  char group[1024], path[1100];
  read_group(group, sizeof group);
  for (;;) {
    char *slash = strrchr(group, '/');
    size_t cores;
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group);
    cores = sk_core_quota(path);
    if (cores && cores < limit) limit = cores;
    if (!slash) return limit;
    *slash = 0;
  }
}

size_t sk_core_count(void) {
  size_t count = schedulable();
  return smallest_quota(count ? count : 1);
}

size_t sk_cache_bytes(void) {
#if defined(_SC_LEVEL3_CACHE_SIZE)
  static _Atomic long bytes = -1; /* -1: unknown so far; the call takes microseconds in a virtual machine */
  long found = atomic_load_explicit(&bytes, memory_order_relaxed);
  if (found < 0) {
    found = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (found < 0) found = 0;
    atomic_store_explicit(&bytes, found, memory_order_relaxed);
  }
  return (size_t)found;
#else
  return 0;
#endif
}
