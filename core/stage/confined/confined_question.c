/* Questions that a job's process asks the program: for random streams and for builds, over its channel (confined_question.h).  One
 * question at a time; any thread of the process. */
#include "stage/confined/confined_question.h"

#include <stdlib.h>
#include <unistd.h>
#include "base/memory.h"
#include "kernel/build_record.h"
#include "stage/confined/confined_protocol.h"

bool confined_frame_send(int channel, const rkb_text_t *payload) {
   unsigned char header[WIRE_HEADER_BYTES];
   record_header(header, payload->length);
   return !payload->cut && record_write_all(channel, header, sizeof header) &&
          record_write_all(channel, payload->data, payload->length);
}

bool confined_frame_receive(int channel, record_reader_t *in) {
   unsigned char header[WIRE_HEADER_BYTES];
   uint64_t length;
   if (!record_read_all(channel, header, sizeof header) ||
       !record_header_length(header, CONFINED_MAX_REQUEST, &length))
      return false;
   void *payload = rkb_try_uncleared(length + 1, 1, NULL);
   *in = (record_reader_t){.data = payload, .size = length};
   return payload && record_read_all(channel, payload, length);
}

struct rkb_build *confined_build_read(record_reader_t *in) {
   return record_u32(in) ? rkb_build_read(in) : NULL;
}

/* Asks the program a question that has one number as its argument.  False when the answer is of another kind. */
static bool ask(rkb_confined_job_t *own, uint32_t question, uint32_t number, uint32_t answer,
                record_reader_t *in) {
   rkb_text_t asked;
   rkb_text_init(&asked, 64);
   record_put_u32(&asked, question);
   record_put_u32(&asked, number);
   pthread_mutex_lock(&own->asking);
   const bool answered = confined_frame_send(own->channel, &asked) &&
                         confined_frame_receive(own->channel, in) && record_u32(in) == answer;
   pthread_mutex_unlock(&own->asking);
   rkb_text_free(&asked);
   return answered;
}

rkb_random_t rkb_confined_stream(rkb_confined_job_t *own, uint32_t child) {
   record_reader_t in;
   rkb_random_t stream = {.position = 0};
   if (!ask(own, CONFINED_STREAM, child, CONFINED_STREAMED, &in))
      _exit(1); /* without the program's random stream no verdict would be reproducible */
   for (int i = 0; i < 2; i++)
      stream.key[i] = record_u32(&in);
   for (int i = 0; i < 2; i++)
      stream.stream[i] = record_u32(&in);
   if (in.bad)
      _exit(1);
   return stream;
}

int rkb_confined_build(rkb_confined_job_t *own, uint32_t flags, rkb_build_t **build, rkb_finding_t *finding,
                       rkb_error_t *err) {
   record_reader_t in;
   *build = NULL;
   if (!ask(own, CONFINED_BUILD, flags, CONFINED_BUILT, &in))
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "the program gives no build");
   const int status = (int)record_u32(&in);
   const char *message = record_text(&in, sizeof err->message),
              *reason = record_text(&in, sizeof finding->reason),
              *found = record_text(&in, sizeof finding->message);
   *finding = (rkb_finding_t){.line = record_u32(&in), .column = record_u32(&in)};
   *build = confined_build_read(&in);
   if (in.bad)
      return rkb_fail(err, RKB_ERR_INTERNAL, "the program's build cannot be read");
   snprintf(finding->reason, sizeof finding->reason, "%s", reason);
   snprintf(finding->message, sizeof finding->message, "%s", found);
   return status == RKB_OK ? RKB_OK : rkb_fail(err, status, "%s", message);
}
