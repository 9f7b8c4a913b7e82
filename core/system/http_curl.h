/* What the files of the HTTP client share: the client (http.c), a single transfer (http_transfer.c) and the client's lists of transfers
 * (http_lists.c).  Private to them.  [loop] */
#ifndef RKB_SYSTEM_HTTP_CURL_H
#define RKB_SYSTEM_HTTP_CURL_H

#include <curl/curl.h>
#include "base/text.h"
#include "system/event_stream.h"
#include "system/http.h"

enum transfer_phase { PHASE_WAITING, PHASE_CONNECTING, PHASE_SENT, PHASE_ENDED };

typedef struct transfer_list {
   rkb_http_transfer_t *first, *last;
   uint32_t count;
} transfer_list_t;

struct rkb_http {
   rkb_loop_t *loop;
   CURLM *multi;
   char *ca_file;
   uint32_t most_transfers, most_waiting, most_connecting;
   uint32_t connecting, sockets;
   transfer_list_t waiting, running;
   uv_timer_t curl_timer;  /* the timer that curl asks for */
   uv_timer_t start_timer; /* 0 ms: start_waiting in the next turn */
   uv_timer_cb start_waiting;
   unsigned handles;       /* handles that are not yet closed, those of the transfers' timers included */
   bool freeing;
};

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
   bool draining; /* it was cancelled inside an event: further events are dropped */
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

/* Ends a transfer that waits or that curl still runs, with transfer->outcome.  Never call it inside a callback of curl. */
void rkb_http_abandon(rkb_http_transfer_t *transfer);

/* http_lists.c ------------------------------------------------------------------------------------- */

/* Adds a new transfer to the waiting ones.  It starts in a later turn of the loop. */
void rkb_http_add_waiting(rkb_http_t *http, rkb_http_transfer_t *transfer);
/* Takes the first waiting transfer; it counts as connecting from now on. */
rkb_http_transfer_t *rkb_http_take_waiting(rkb_http_t *http);
/* Starts waiting transfers in the next turn of the loop, because the caller may be a callback of curl. */
void rkb_http_start_soon(rkb_http_t *http);
/* Removes a transfer, waiting or running, from the client's lists and counts. */
void rkb_http_forget(rkb_http_transfer_t *transfer);
/* A connection was made, so the client may open another. */
void rkb_http_connected(rkb_http_t *http);
/* Counts one more open handle. */
void rkb_http_handle_added(rkb_http_t *http);
/* Counts one open handle less.  If the client is being freed, the last handle frees its memory. */
void rkb_http_handle_closed(rkb_http_t *http);

#endif
