/* The parser of text/event-stream (WHATWG HTML standard, 'Parsing an event stream'): bytes in, in pieces of any size,
 * events out.  One thread at a time. */
#ifndef RKB_SYSTEM_EVENT_STREAM_H
#define RKB_SYSTEM_EVENT_STREAM_H

#include <rkb/draft/http.h>
#include "base/text.h"

typedef struct rkb_event_stream {
   rkb_text_t line; /* the current, incomplete line */
   rkb_text_t data, type, id;
   bool after_return; /* the last byte was '\r': skip a '\n' that follows */
   bool started;      /* a line was read, so a byte order mark can no longer follow */
   void (*event)(void *arg, const rkb_http_event_t *event);
   void *arg;
} rkb_event_stream_t;

/* limit: most bytes of one event, and of one line.  event must not be NULL. */
void rkb_event_stream_init(rkb_event_stream_t *stream, size_t limit,
                           void (*event)(void *arg, const rkb_http_event_t *event), void *arg);
void rkb_event_stream_free(rkb_event_stream_t *stream);

/* Calls event for each event that is now complete.  Returns RKB_ERR_LIMIT when a line or an event is over the limit; the stream
 * cannot be used after that.  Bytes that are not UTF-8 become U+FFFD. */
int rkb_event_stream_feed(rkb_event_stream_t *stream, const char *bytes, size_t length);

/* True when the stream is inside an event.  If the connection ends now, that event is dropped, as the standard says. */
bool rkb_event_stream_is_partial(const rkb_event_stream_t *stream);

#endif
