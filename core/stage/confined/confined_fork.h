/* A fork of the server for one job (confined.h), seen from the process that asked for it: the program or a screening worker
 * (stage/screen/screen_protocol.h).  One thread at a time. */
#ifndef RKB_STAGE_CONFINED_CONFINED_FORK_H
#define RKB_STAGE_CONFINED_CONFINED_FORK_H

#include "stage/confined/confined.h"
#include "stage/confined/confined_protocol.h"
#include "system/pipe_process.h"

typedef struct confined_fork {
   rkb_pipe_process_t
      channel; /* to the fork; its pid stays 0, because the fork is not a child of this process */
   int watch;
   pid_t pid;     /* 0: not known */
   uint64_t most; /* bytes of memory that the fork may use */
   bool ended, over_memory, cancelled;
   int wait_status; /* valid once `ended` is true */
   bool (*nobody_waits)(void *); /* whether the answer is no longer wanted; called at least every 50 ms */
   void *argument;
} confined_fork_t;

/* The request that starts a job of the entry with this number of threads. */
confined_start_t confined_fork_plan(const rkb_confined_t *confined, uint32_t entry, uint32_t threads);
/* On entry only nobody_waits and argument of fork are set.  Returns RKB_ERR_UNAVAILABLE when the server cannot be reached; call
 * confined_fork_leave in any case. */
int confined_fork_start(const rkb_confined_t *confined, const confined_start_t *start, confined_fork_t *fork, rkb_error_t *err);
/* Whether to give the fork up: its job was cancelled, or it uses too much memory.  A callback for rkb_pipe_process_send and
 * rkb_pipe_process_receive; argument: the confined_fork_t. */
bool confined_fork_over(void *fork);
/* After its channel closed or confined_fork_over returned true: the reason why there is no answer. */
int confined_fork_explain(confined_fork_t *fork, rkb_error_t *err);
/* Closes the sockets.  The server then ends the fork if it still runs. */
void confined_fork_leave(confined_fork_t *fork);

/* Send and receive one frame of kernel/byte_record.h over a peer's two descriptors.  False when the frame did not pass whole or
 * is malformed. */
bool confined_send(rkb_pipe_process_t *peer, const void *payload, size_t bytes, bool (*over)(void *),
                   void *argument);
/* Sets *payload to a malloc'd frame, or to NULL; in reads from it. */
bool confined_receive(rkb_pipe_process_t *peer, size_t most, char **payload, record_reader_t *in,
                      bool (*over)(void *), void *argument);

#endif
