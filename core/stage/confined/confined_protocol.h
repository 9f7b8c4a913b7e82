/* What the program, the server and a job's process say to each other.
 *
 * To the server, one message a job (SOCK_SEQPACKET): confined_start_t with two sockets, of which the server gives the channel to the fork
 * and keeps the watch.
 *    watch     server: confined_told_t: TOLD_STARTED with the fork's number, later TOLD_ENDED with its wait status.  When the program
 *              closes its end, the server ends the fork.
 *    channel   frames of kernel/byte_record.h, each beginning with u32 kind:
 *              program: CONFINED_JOB: u32 section, u64 request, u32 child, text hash of the candidate, item, u32 has a build, build
 *              fork:    CONFINED_BUILD: u32 flags;  program: CONFINED_BUILT: u32 status, text message, finding, u32 has a build, build
 *              fork:    CONFINED_STREAM: u32 child;  program: CONFINED_STREAMED: u32 key, u32 key, u32 stream, u32 stream (rkb_random_t)
 *              fork:    CONFINED_DONE: u32 status, text message, text option, u32 count + items, u32 count + notes (text key, bytes)
 * A screening worker that stands between passes frames on as they are, and says CONFINED_FAILED, which is read as CONFINED_DONE, for a fork that
 * ended without an answer.
 * Program and server are one program; what the fork says may come from anywhere. */
#ifndef RKB_STAGE_CONFINED_CONFINED_PROTOCOL_H
#define RKB_STAGE_CONFINED_CONFINED_PROTOCOL_H

#include <stdint.h>
#include <stdlib.h>
#include "base/text.h"
#include "kernel/byte_record.h"

typedef struct confined_start {
   uint32_t entry; /* index in the pipeline */
   uint32_t threads;
   uint64_t processor_s; /* the kernel ends the fork after this much processor time */
} confined_start_t;

enum confined_told_kind { TOLD_STARTED = 1, TOLD_ENDED };

typedef struct confined_told {
   uint32_t kind; /* enum confined_told_kind */
   int32_t number; /* TOLD_STARTED: the process id; TOLD_ENDED: the wait status */
} confined_told_t;

enum confined_kind { CONFINED_JOB = 1, CONFINED_BUILD, CONFINED_BUILT, CONFINED_DONE, CONFINED_STREAM, CONFINED_STREAMED, CONFINED_FAILED };

enum {
   CONFINED_MAX_REQUEST = 128 << 20, /* room for the largest build that a compiler may give */
   CONFINED_MAX_ANSWER = 96 << 20,   /* room for the largest note that a candidate keeps */
   CONFINED_MAX_NOTES = 64,
   CONFINED_MAX_NOTE = 64 << 20
};

#endif
