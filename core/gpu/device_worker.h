/* One rkb-worker process, seen from the program that started it: sends requests and receives replies (protocol.h).  One thread at a
 * time; every call blocks at most until its deadline or cancellation. */
#ifndef RKB_GPU_DEVICE_WORKER_H
#define RKB_GPU_DEVICE_WORKER_H

#include <rkb/ext/device.h>
#include "system/worker_command.h"
#include "gpu/protocol.h"

typedef struct rkb_device_worker {
   rkb_pipe_process_t child;
   uint32_t number;     /* number of the last request */
   char greeting[1024]; /* the answer to hello; "" before it arrives */
} rkb_device_worker_t;

typedef struct rkb_patience {
   uint64_t deadline_ns; /* CLOCK_MONOTONIC; 0: none */
   bool (*cancelled)(void *);
   void *argument;
} rkb_patience_t;

/* Starts command (NULL-terminated) and says hello.  RKB_ERR_UNAVAILABLE: no such program, no driver, no device. */
int rkb_device_worker_start(rkb_device_worker_t *worker, const char *const *command,
                            const char *const *environment, const rkb_patience_t *patience, rkb_error_t *err);
/* The same in two steps: launch returns at once, greet waits for the hello.  Make no request in between.  errors: the descriptor that
 * becomes its standard error; negative: none. */
int rkb_device_worker_launch(rkb_device_worker_t *worker, const char *const *command,
                             const char *const *environment, int errors, rkb_error_t *err);
int rkb_device_worker_greet(rkb_device_worker_t *worker, const rkb_patience_t *patience, rkb_error_t *err);
void rkb_device_worker_stop(rkb_device_worker_t *worker); /* kills it */
/* Asks the worker to end; call stop afterwards.  Its standard input stays open, because at end of input a worker gives up within
 * seconds, and a tool in it may still be writing. */
void rkb_device_worker_quit(rkb_device_worker_t *worker);
bool rkb_device_worker_alive(const rkb_device_worker_t *worker);

/* A part of a request's body. */
typedef struct rkb_piece {
   const void *data;
   size_t bytes;
} rkb_piece_t;

/* Sends one request and receives its reply.  When the worker refuses, *refusal is an enum rkb_worker_status,
 * the worker's sentence is in err->message, and the function still returns RKB_OK; otherwise *refusal is 0.
 * answer receives exactly answer_bytes of a successful reply; if length is not NULL, at most answer_bytes,
 * and *length is their number.  On any other return value the worker has been stopped. */
int rkb_device_worker_ask(rkb_device_worker_t *worker, uint32_t type, const rkb_piece_t *pieces,
                          uint32_t piece_count, void *answer, size_t answer_bytes, size_t *length,
                          const rkb_patience_t *patience, int *refusal, rkb_error_t *err);

/* Makes a worker's text safe for archives, logs and people: every byte that is not part of a printable
 * character becomes '?'.  lines: ends of lines stay. */
void rkb_worker_text_plain(char *text, size_t length, bool lines);

#endif
