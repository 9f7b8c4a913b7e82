/* Zeros that take no memory until they are written.  Any thread. */
#include "machine/state/execution.h"

#include <sys/mman.h>

uint8_t *machine_sparse(uint64_t bytes) {
   void *memory =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
   return memory == MAP_FAILED ? NULL : memory;
}
