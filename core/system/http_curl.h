/* What the client (http.c) and one transfer (http_transfer.c) know of each other.  Private to these two.  [loop] */
#ifndef RKB_SYSTEM_HTTP_CURL_H
#define RKB_SYSTEM_HTTP_CURL_H

#include <curl/curl.h>
#include "base/text.h"
#include "system/event_stream.h"
#include "system/http.h"

enum transfer_phase { PHASE_WAITING, PHASE_CONNECTING, PHASE_SENT, PHASE_ENDED };

struct rkb_http_transfer {
   rkb_http_t *http;
   rkb_http_transfer_t *previous, *next; /* in the client's list of waiting or of running ones */
   enum transfer_phase phase;
   enum rkb_http_outcome outcome; /* why we ended it ourselves, before curl says that it failed */

   CURL *easy; /* NULL while waiting */
   struct curl_slist *headers;
   char *method, *url, *host, *body; /* host: "https://name:port", for messages */
   size_t body_bytes;
   uint64_t connect_ns, idle_ns, limit_ns;
   size_t reply_limit;
   void (*event)(void *arg, const rkb_http_event_t *event);
   void (*done)(void *arg, const rkb_http_reply_t *reply);
   void *arg;

   uv_timer_t timer; /* for the next of its limits that can pass; 0 ms when it was cancelled */
   uint64_t submitted, started, sent, first_byte, last_byte;

   bool begun; /* the first byte of the reply's body was seen, and streamed decided */
   bool streamed;
   bool draining; /* events are dropped: it was cancelled from one */
   uint64_t received;
   rkb_text_t reply_headers, reply_body;
   rkb_event_stream_t stream;
   char curl_message[CURL_ERROR_SIZE];
};

/* http_transfer.c ---------------------------------------------------------------------------------- */

/* A transfer that waits, with copies of all that the request names. */
int rkb_http_transfer_new(rkb_http_t *http, const rkb_http_request_t *request, rkb_http_transfer_t **transfer,
                          rkb_error_t *err);
/* Makes its curl handle; false when memory is out. */
bool rkb_http_transfer_prepare(rkb_http_transfer_t *transfer, const char *ca_file);
/* Arms its timer for the limit that comes next. */
void rkb_http_transfer_watch(rkb_http_transfer_t *transfer);
/* Calls done and lets go of everything; its memory is released when its timer has closed.  It is in no list any more. */
void rkb_http_transfer_end(rkb_http_transfer_t *transfer, CURLcode result);

/* http.c ------------------------------------------------------------------------------------------- */

/* A connection stands and the request goes out: another may be opened. */
void rkb_http_connected(rkb_http_t *http);
/* Ends a transfer that curl has not ended, with transfer->outcome.  Never inside a callback of curl. */
void rkb_http_abandon(rkb_http_transfer_t *transfer);
/* The memory of one more handle's owner was released. */
void rkb_http_handle_added(rkb_http_t *http);
void rkb_http_handle_closed(rkb_http_t *http);
rkb_loop_t *rkb_http_loop(const rkb_http_t *http);

#endif
