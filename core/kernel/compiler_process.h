/* One rkb-compiler process, seen from its parent: start, exchange, watch, kill.  One thread at a time. */
#ifndef RKB_KERNEL_COMPILER_PROCESS_H
#define RKB_KERNEL_COMPILER_PROCESS_H

#include "base/text.h"
#include "system/pipe_process.h"

typedef struct compiler_process {
   rkb_pipe_process_t peer;
   /* The memory use at its start, which is this program's; the compiler's own use is counted from there. */
   uint64_t inherited;
} compiler_process_t;

typedef struct compiler_bounds {
   uint64_t cpu_ns;  /* processor time of the compile */
   uint64_t memory;  /* resident bytes */
   uint64_t wall_ns; /* limit for a process that neither works nor answers */
   bool (*cancelled)(void *);
   void *argument;
} compiler_bounds_t;

enum exchange_end {
   EXCHANGE_ANSWERED,
   EXCHANGE_CPU,    /* over its CPU time */
   EXCHANGE_MEMORY, /* over its memory, or died close to it */
   EXCHANGE_DIED,   /* crashed or exited; `signal` says how */
   EXCHANGE_OPEN,   /* its sandbox could not be closed: it compiled nothing */
   EXCHANGE_WALL,
   EXCHANGE_CANCELLED,
   EXCHANGE_NONSENSE /* the answer was no frame */
};

/* Whether so much of the limit was used that a failure counts as a lack of memory. */
static inline bool compiler_memory_is_used(uint64_t bytes, uint64_t limit) {
   return bytes > limit / 10 * 7;
}

/* arguments[0] is the program. */
int compiler_process_start(compiler_process_t *process, const char *const *arguments, rkb_error_t *err);
bool compiler_process_runs(const compiler_process_t *process);
/* Sends a frame (NULL: none) and reads one; payload is malloc'd.  After any end except ANSWERED the process
 * is gone. */
enum exchange_end compiler_process_exchange(compiler_process_t *process, const rkb_text_t *request,
                                            const compiler_bounds_t *bounds, char **payload, size_t *length,
                                            int *signal_number);
void compiler_process_kill(compiler_process_t *process); /* kills it with its group, and reaps it */

#endif
