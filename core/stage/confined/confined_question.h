/* A job's process and its channel to the program (confined_protocol.h): frames, and the builds in them.  The bytes that are read are never
 * freed, because the process ends soon. */
#ifndef RKB_STAGE_CONFINED_CONFINED_QUESTION_H
#define RKB_STAGE_CONFINED_CONFINED_QUESTION_H

#include "kernel/byte_record.h"
#include "stage/confined/confined.h"

/* Send and receive one frame of kernel/byte_record.h over the channel.  False when the frame did not pass whole or is malformed. */
bool confined_frame_send(int channel, const rkb_text_t *payload);
bool confined_frame_receive(int channel, record_reader_t *in);
/* Reads the build that a message may contain; NULL when it contains none. */
struct rkb_build *confined_build_read(record_reader_t *in);

#endif
