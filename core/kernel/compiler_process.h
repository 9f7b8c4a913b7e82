/* One rkb-compiler process, seen from its parent: start, exchange, watch, kill.  One thread at a time. */
#ifndef RKB_KERNEL_COMPILER_PROCESS_H
#define RKB_KERNEL_COMPILER_PROCESS_H

#include "base/text.h"
#include "system/peer.h"

typedef struct compiler_process {
   rkb_peer_t peer;
   uint64_t inherited; /* bytes that its memory use is counted from: its parent's when it was started */
} compiler_process_t;

typedef struct compiler_bounds {
   uint64_t cpu_ns;  /* of the compile */
   uint64_t memory;  /* resident bytes */
   uint64_t wall_ns; /* for a process that neither works nor answers */
   bool (*cancelled)(void *);
   void *argument;
} compiler_bounds_t;

enum exchange_end {
   EXCHANGE_ANSWERED,
   EXCHANGE_CPU,    /* over its CPU time */
   EXCHANGE_MEMORY, /* over its memory, or died close to it */
   EXCHANGE_DIED,   /* crashed or left; signal says how */
   EXCHANGE_WALL,
   EXCHANGE_CANCELLED,
   EXCHANGE_NONSENSE /* an answer that is no frame */
};

/* arguments[0] is the program. */
int compiler_process_start(compiler_process_t *process, const char *const *arguments, rkb_error_t *err);
bool compiler_process_runs(const compiler_process_t *process);
/* Sends a frame (NULL: none) and reads one; payload is malloc'd.  After any end but ANSWERED the process is
 * gone. */
enum exchange_end compiler_process_exchange(compiler_process_t *process, const rkb_text_t *request,
                                            const compiler_bounds_t *bounds, char **payload, size_t *length,
                                            int *signal_number);
void compiler_process_kill(compiler_process_t *process); /* with its group; reaps it */

#endif
