/* Declarations that the client (http.c) and a single transfer (http_transfer.c) share.  Private to these two.  [loop] */
#ifndef RKB_SYSTEM_HTTP_CURL_H
#define RKB_SYSTEM_HTTP_CURL_H

#include <curl/curl.h>
#include "base/text.h"
#include "system/event_stream.h"
#include "system/http.h"

enum transfer_phase { PHASE_WAITING, PHASE_CONNECTING, PHASE_SENT, PHASE_ENDED };

struct rkb_http_transfer {
   rkb_http_t *http;
   rkb_http_transfer_t *previous, *next; /* in the client's list of waiting or of running transfers */
   enum transfer_phase phase;
   enum rkb_http_outcome outcome; /* why rkb ended the transfer, set before curl reports the failure */

   CURL *easy; /* NULL while waiting */
   struct curl_slist *headers;
   char *method, *url, *host, *body; /* host: "https://name:port", for messages */
   size_t body_bytes;
   uint64_t connect_ns, idle_ns, limit_ns;
   size_t reply_limit;
   void (*event)(void *arg, const rkb_http_event_t *event);
   void (*done)(void *arg, const rkb_http_reply_t *reply);
   void *arg;

   uv_timer_t timer; /* fires at the next limit, or after 0 ms when the transfer was cancelled */
   uint64_t submitted, started, sent, first_byte, last_byte;

   bool begun; /* the first byte of the reply's body has arrived, and `streamed` is decided */
   bool streamed;
   bool draining; /* cancelled from an event: drop all further events */
   uint64_t received;
   rkb_text_t reply_headers, reply_body;
   rkb_event_stream_t stream;
   char curl_message[CURL_ERROR_SIZE];
};

/* http_transfer.c ---------------------------------------------------------------------------------- */

/* Makes a waiting transfer with copies of everything in the request. */
int rkb_http_transfer_new(rkb_http_t *http, const rkb_http_request_t *request, rkb_http_transfer_t **transfer,
                          rkb_error_t *err);
/* Makes the curl handle; false when memory is out. */
bool rkb_http_transfer_prepare(rkb_http_transfer_t *transfer, const char *ca_file);
/* Sets the timer to the next limit. */
void rkb_http_transfer_watch(rkb_http_transfer_t *transfer);
/* Calls done and releases what the transfer holds; its own memory is released when its timer has closed.  The transfer must be in
 * no list. */
void rkb_http_transfer_end(rkb_http_transfer_t *transfer, CURLcode result);

/* http.c ------------------------------------------------------------------------------------------- */

/* A connection was made, so the client may open another. */
void rkb_http_connected(rkb_http_t *http);
/* Ends a transfer that curl still runs, with transfer->outcome.  Never call it inside a callback of curl. */
void rkb_http_abandon(rkb_http_transfer_t *transfer);
/* Counts one more open handle. */
void rkb_http_handle_added(rkb_http_t *http);
void rkb_http_handle_closed(rkb_http_t *http);
rkb_loop_t *rkb_http_loop(const rkb_http_t *http);

#endif
