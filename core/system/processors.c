/* How many processors this process may use (processors.h).  The number of processors that are online would be too many threads
 * wherever a process is bound to a few of them. */
#include "system/processors.h"

#include <sched.h>
#include <unistd.h>

enum { MOST_PROCESSORS = 8192 }; /* of a Linux kernel for x86-64 */

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
