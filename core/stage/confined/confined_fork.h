/* A fork of the server for one job (confined.h), as the process that asked for it sees it: the program, or a screening worker
 * (stage/screen/screen_protocol.h).  One thread at a time. */
#ifndef RKB_STAGE_CONFINED_CONFINED_FORK_H
#define RKB_STAGE_CONFINED_CONFINED_FORK_H

#include "stage/confined/confined.h"
#include "stage/confined/confined_protocol.h"
#include "system/peer.h"

typedef struct confined_fork {
   rkb_peer_t channel; /* to the fork; the pid is not of a child of ours, so it is 0 */
   int watch;
   pid_t pid;     /* 0: not known */
   uint64_t most; /* bytes it may have */
   bool ended, over_memory, cancelled;
   int wait_status; /* once ended */
   bool (*nobody_waits)(void *); /* asked at least every 50 ms */
   void *argument;
} confined_fork_t;

/* The start of a job of the entry on so many threads. */
confined_start_t confined_fork_plan(const rkb_runtime_t *runtime, uint32_t entry, uint32_t threads);
/* fork: with nobody_waits and argument set, and nothing else.  RKB_ERR_UNAVAILABLE when the server cannot be reached; call confined_fork_leave in
 * any case. */
int confined_fork_start(const rkb_runtime_t *runtime, const confined_start_t *start, confined_fork_t *fork, rkb_error_t *err);
/* Whether it is to be given up: nobody waits for it any more, or it has too much memory.  For rkb_peer_send and _receive; argument: the
 * confined_fork_t. */
bool confined_fork_over(void *fork);
/* Once its channel has closed, or confined_fork_over said so: why there is no answer. */
int confined_fork_explain(confined_fork_t *fork, rkb_error_t *err);
/* Gives it up; the server ends a fork that is still there. */
void confined_fork_leave(confined_fork_t *fork);

/* Frames of kernel/byte_record.h over a peer's two descriptors.  False when they did not pass whole, or are none. */
bool confined_send(rkb_peer_t *peer, const void *payload, size_t bytes, bool (*over)(void *), void *argument);
/* *payload is malloc'd, or NULL; in reads it. */
bool confined_receive(rkb_peer_t *peer, size_t most, char **payload, record_reader_t *in, bool (*over)(void *), void *argument);

#endif
