/* sk_cores.h: how many processors this process may use. */
#ifndef SK_CORES_H
#define SK_CORES_H

#include "sk_base.h"

/* Those it may be scheduled on, and no more than the CPU quota of its control groups gives it, rounded up;
   at least 1. */
size_t sk_core_count(void);

#endif
