/* How many processors this process may use (processors.h).  A process may be bound to a few of the processors that are online; a thread for each online
 * processor would then be too many. */
#include "system/processors.h"

#include <sched.h>
#include <unistd.h>

enum { MOST_PROCESSORS = 8192 }; /* the most that a Linux kernel for x86-64 supports */

uint32_t rkb_processors(void) {
   cpu_set_t *allowed = CPU_ALLOC(MOST_PROCESSORS);
   const size_t bytes = CPU_ALLOC_SIZE(MOST_PROCESSORS);
   long count = 0;
   if (allowed && sched_getaffinity(0, bytes, allowed) == 0)
      count = CPU_COUNT_S(bytes, allowed);
   CPU_FREE(allowed);
   if (count < 1)
      count = sysconf(_SC_NPROCESSORS_ONLN);
   return count < 1 ? 1 : (uint32_t)count;
}
