/* Long-lived child processes connected by two pipes: compilers, GPU workers.  A child gets a process group of its own, default
 * signals, only the listed environment, and only the standard three descriptors.  Our ends of the pipes are non-blocking and
 * close-on-exec.  One thread at a time. */
#ifndef RKB_SYSTEM_PIPE_PROCESS_H
#define RKB_SYSTEM_PIPE_PROCESS_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <rkb/plugin.h>

typedef struct rkb_pipe_process {
   pid_t pid; /* 0: not running */
   int in;    /* its standard input; -1 when closed */
   int out;   /* its standard output; -1 when closed */
} rkb_pipe_process_t;

/* Starts a child.  arguments[0] is looked up on PATH when it has no slash.  arguments and environment are NULL-terminated; a NULL
 * environment is empty.  Standard error goes to the descriptor `errors`, or to /dev/null when that is negative. */
int rkb_pipe_process_start(rkb_pipe_process_t *peer, const char *const *arguments,
                           const char *const *environment, int errors, rkb_error_t *err);
/* The same in another working directory; NULL: in this program's. */
int rkb_pipe_process_start_in(rkb_pipe_process_t *peer, const char *directory, const char *const *arguments,
                              const char *const *environment, int errors, rkb_error_t *err);
/* Kills the process group, reaps the child and closes the pipes.  Returns the wait status.  used may be NULL. */
int rkb_pipe_process_kill(rkb_pipe_process_t *peer, struct rusage *used);

enum rkb_transfer { RKB_TRANSFERRED, RKB_TRANSFER_ENDED, RKB_TRANSFER_LATE, RKB_TRANSFER_CANCELLED };

/* Each moves exactly `bytes`.  Waits at most until deadline_ns (CLOCK_MONOTONIC; 0: no deadline) and calls cancelled, if not NULL, at least every 50 ms.
 * ENDED means that the child closed its end. */
enum rkb_transfer rkb_pipe_process_send(rkb_pipe_process_t *peer, const void *data, size_t bytes,
                                        uint64_t deadline_ns, bool (*cancelled)(void *), void *argument);
enum rkb_transfer rkb_pipe_process_receive(rkb_pipe_process_t *peer, void *data, size_t bytes,
                                           uint64_t deadline_ns, bool (*cancelled)(void *), void *argument);

#endif
