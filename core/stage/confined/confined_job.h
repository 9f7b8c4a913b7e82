/* The fork that runs one job (confined.h), and what the server makes ready for it. */
#ifndef RKB_STAGE_CONFINED_CONFINED_JOB_H
#define RKB_STAGE_CONFINED_CONFINED_JOB_H

#include "kernel/byte_record.h"
#include "stage/confined/confined.h"
#include "stage/runtime.h"

void confined_job_open(rkb_runtime_t *runtime);                 /* in the server, once */
void confined_job_warm(rkb_runtime_t *runtime, uint32_t entry); /* in the server: makes the stage's instance if there is none */
/* In the fork: reads the job, runs it, answers.  False when the program could not be understood or is gone. */
bool confined_job_serve(rkb_runtime_t *runtime, uint32_t entry, uint32_t threads, int channel);

/* confined_question.c: frames of kernel/byte_record.h over the channel; false when they did not pass whole, or are none.  in: of malloc'd bytes,
 * which go with the process. */
bool confined_frame_send(int channel, const rkb_text_t *payload);
bool confined_frame_receive(int channel, record_reader_t *in);
/* The build of a message, or NULL where it has none. */
struct rkb_build *confined_build_read(record_reader_t *in);

#endif
