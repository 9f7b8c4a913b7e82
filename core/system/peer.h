/* A long-lived child process spoken to over two pipes: compilers, GPU workers.  It gets a process group of its own, default
 * signals, an empty environment plus what is listed, and no descriptor but its standard three; both pipe ends here are
 * non-blocking and close-on-exec.  Used by one thread at a time. */
#ifndef RKB_SYSTEM_PEER_H
#define RKB_SYSTEM_PEER_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <rkb/plugin.h>

typedef struct rkb_peer {
   pid_t pid; /* 0: not running */
   int in;    /* its standard input; -1 when closed */
   int out;   /* its standard output; -1 when closed */
} rkb_peer_t;

/* arguments[0] is looked up on PATH when it has no slash; environment (or NULL for none) and arguments are NULL-terminated.
 * Standard error goes to /dev/null, or to descriptor errors when that is not negative. */
int rkb_peer_start(rkb_peer_t *peer, const char *const *arguments, const char *const *environment, int errors,
                   rkb_error_t *err);
/* Kills the group, reaps, closes the pipes; the wait status.  used may be NULL. */
int rkb_peer_kill(rkb_peer_t *peer, struct rusage *used);

enum rkb_transfer { RKB_TRANSFERRED, RKB_TRANSFER_ENDED, RKB_TRANSFER_LATE, RKB_TRANSFER_CANCELLED };

/* Moves exactly bytes, waiting until deadline_ns (CLOCK_MONOTONIC; 0: for ever) and asking cancelled (or NULL) at least
 * every 50 ms.  ENDED: the child closed its end. */
enum rkb_transfer rkb_peer_send(rkb_peer_t *peer, const void *data, size_t bytes, uint64_t deadline_ns,
                                bool (*cancelled)(void *), void *argument);
enum rkb_transfer rkb_peer_receive(rkb_peer_t *peer, void *data, size_t bytes, uint64_t deadline_ns,
                                   bool (*cancelled)(void *), void *argument);

#endif
