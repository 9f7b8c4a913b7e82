/* An HTTP client on the event loop, over libcurl: <rkb/draft/http.h> without jobs.  In a build without libcurl (RKB_HTTP=OFF),
 * rkb_http_new returns RKB_ERR_UNAVAILABLE. */
#ifndef RKB_SYSTEM_HTTP_H
#define RKB_SYSTEM_HTTP_H

#include <rkb/draft/http.h>
#include "system/loop.h"

typedef struct rkb_http rkb_http_t;

typedef struct rkb_http_options {
   const char *ca_file;      /* PEM file of certificates that are trusted instead of the system's, or NULL */
   uint32_t most_transfers;  /* running at once; further transfers wait; 0: 4096 */
   uint32_t most_waiting;    /* when this many wait, a start returns RKB_ERR_LIMIT; 0: 65536 */
   uint32_t most_connecting; /* connections being opened at once; 0: 8 */
} rkb_http_options_t;

/* options may be NULL.  [loop] */
int rkb_http_new(rkb_loop_t *loop, const rkb_http_options_t *options, rkb_http_t **http, rkb_error_t *err);

/* Ends every transfer with RKB_HTTP_CANCELLED, calling their `done` before it returns, and closes all connections.  The loop releases
 * the memory a little later.  Do not call it from event or done.  NULL is accepted.  [loop] */
void rkb_http_free(rkb_http_t *http);

int rkb_http_start(rkb_http_t *http, const rkb_http_request_t *request, rkb_http_transfer_t **transfer,
                   rkb_error_t *err);
void rkb_http_cancel(rkb_http_transfer_t *transfer);

typedef struct rkb_http_state {
   uint32_t waiting, connecting, running; /* running counts the connecting ones too */
   uint32_t sockets;                      /* watched by the loop */
} rkb_http_state_t;

rkb_http_state_t rkb_http_state(const rkb_http_t *http); /* [loop] */

#endif
