/* The fork that executes one job (confined.h), and what the server prepares for it. */
#ifndef RKB_STAGE_CONFINED_CONFINED_JOB_H
#define RKB_STAGE_CONFINED_CONFINED_JOB_H

#include "kernel/byte_record.h"
#include "stage/confined/confined.h"
#include "stage/runtime.h"

void confined_job_open(rkb_runtime_t *runtime);                 /* in the server, once */
void confined_job_warm(rkb_runtime_t *runtime, uint32_t entry); /* in the server: makes the entry's instance if there is none */
/* In the fork: reads the job, executes it and answers.  False when the request is malformed or the program is gone. */
bool confined_job_serve(rkb_runtime_t *runtime, uint32_t entry, uint32_t threads, int channel);

/* confined_question.c: send and receive one frame of kernel/byte_record.h over the channel.  False when the frame did not pass
 * whole or is malformed.  The bytes that `in` reads from are never freed, because the process ends soon. */
bool confined_frame_send(int channel, const rkb_text_t *payload);
bool confined_frame_receive(int channel, record_reader_t *in);
/* Reads the build that a message may contain; NULL when it contains none. */
struct rkb_build *confined_build_read(record_reader_t *in);

#endif
