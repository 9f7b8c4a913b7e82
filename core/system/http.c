/* The HTTP client: libcurl's multi interface on libuv.  Owns the multi handle, a poll handle for each of its sockets, its timer, and
 * all transfers, waiting or running.  Loop thread only.
 *
 * Usual examples of libcurl with libuv contain mistakes that this file avoids:
 *   - The timer that curl asks for is stopped only when curl says so.  If every socket event stopped it, a stalled transfer would
 *     never time out.
 *   - Messages are drained after every call of curl_multi_socket_action, the call for the timer included.  Otherwise the last
 *     transfer's time-out is never reported.
 *   - curl_multi_socket_action is never called from curl's timer callback.
 *   - An error of a poll handle is passed to curl as CURL_CSELECT_ERR.
 *   - A poll handle is stopped and closed when curl removes its socket, also during curl_multi_cleanup.
 *   - No handle is added to or removed from the multi handle inside a callback of curl. */
#include "system/http.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "system/http_curl.h"

#define DEFAULT_TRANSFERS 4096u
#define DEFAULT_WAITING 65536u
#define DEFAULT_CONNECTING                                                                                   \
   8u /* TLS handshakes cost a millisecond or two each, and 200 at once stalled the loop 337 ms */
#define STARTS_A_TURN 4u

typedef struct watched_socket {
   uv_poll_t poll;
   rkb_http_t *http;
   curl_socket_t file;
} watched_socket_t;

static void on_timer_closed(uv_handle_t *handle) {
   rkb_http_handle_closed(handle->data);
}

/* Handles the transfers that have ended.  Reads each message before it removes the handle, because removal frees the message. */
static void drain_messages(rkb_http_t *http) {
   CURLMsg *message;
   int left;
   while ((message = curl_multi_info_read(http->multi, &left)) != NULL) {
      if (message->msg != CURLMSG_DONE)
         continue;
      CURLcode result = message->data.result;
      char *transfer;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
      rkb_http_forget((rkb_http_transfer_t *)transfer);
      rkb_http_transfer_end((rkb_http_transfer_t *)transfer, result);
   }
}

static void on_poll(uv_poll_t *poll, int status, int events) {
   watched_socket_t *watched = poll->data;
   rkb_http_t *http = watched->http;
   int running, flags = 0;
   if (status < 0)
      flags |= CURL_CSELECT_ERR;
   if (events & UV_READABLE)
      flags |= CURL_CSELECT_IN;
   if (events & UV_WRITABLE)
      flags |= CURL_CSELECT_OUT;
   curl_multi_socket_action(http->multi, watched->file, flags, &running);
   drain_messages(http);
}

static void on_poll_closed(uv_handle_t *handle) {
   watched_socket_t *watched = handle->data;
   rkb_http_t *http = watched->http;
   free(watched);
   rkb_http_handle_closed(http);
}

static watched_socket_t *watch_socket(rkb_http_t *http, curl_socket_t file) {
   watched_socket_t *watched = rkb_allocate(1, sizeof *watched);
   if (uv_poll_init_socket(rkb_loop_uv(http->loop), &watched->poll, file) != 0) {
      free(watched);
      return NULL;
   }
   watched->poll.data = watched;
   watched->http = http;
   watched->file = file;
   rkb_http_handle_added(http);
   http->sockets++;
   curl_multi_assign(http->multi, file, watched);
   return watched;
}

static int on_socket(CURL *easy, curl_socket_t file, int what, void *argument, void *assigned) {
   rkb_http_t *http = argument;
   watched_socket_t *watched = assigned;
   (void)easy;
   if (what == CURL_POLL_REMOVE) {
      if (!watched)
         return 0;
      curl_multi_assign(http->multi, file, NULL);
      http->sockets--;
      uv_poll_stop(&watched->poll);
      uv_close((uv_handle_t *)&watched->poll, on_poll_closed);
      return 0;
   }
   if (!watched)
      watched = watch_socket(http, file);
   if (!watched)
      return -1;
   int events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
   return uv_poll_start(&watched->poll, events, on_poll) == 0 ? 0 : -1;
}

static void on_curl_timer(uv_timer_t *timer) {
   rkb_http_t *http = timer->data;
   int running;
   curl_multi_socket_action(http->multi, CURL_SOCKET_TIMEOUT, 0, &running);
   drain_messages(http);
}

static int on_timer_wanted(CURLM *multi, long milliseconds, void *argument) {
   rkb_http_t *http = argument;
   (void)multi;
   if (milliseconds < 0)
      uv_timer_stop(&http->curl_timer);
   else if (!http->freeing)
      uv_timer_start(&http->curl_timer, on_curl_timer, (uint64_t)milliseconds, 0);
   return 0;
}

static void start_one(rkb_http_t *http) {
   rkb_http_transfer_t *transfer = rkb_http_take_waiting(http);
   if (rkb_http_transfer_prepare(transfer, http->ca_file) &&
       curl_multi_add_handle(http->multi, transfer->easy) == CURLM_OK) {
      rkb_http_transfer_watch(transfer);
      return;
   }
   transfer->outcome = RKB_HTTP_NO_MEMORY;
   rkb_http_abandon(transfer);
}

static void on_start_timer(uv_timer_t *timer) {
   rkb_http_t *http = timer->data;
   for (unsigned i = 0;
        i < STARTS_A_TURN && http->waiting.count && http->connecting < http->most_connecting &&
        http->running.count < http->most_transfers;
        i++)
      start_one(http);
   if (http->connecting < http->most_connecting && http->running.count < http->most_transfers)
      rkb_http_start_soon(http);
}

static uint32_t or_default(uint32_t value, uint32_t fallback) {
   return value ? value : fallback;
}

static bool set_up_multi(rkb_http_t *http) {
   http->multi = curl_multi_init();
   return http->multi && curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, on_socket) == CURLM_OK &&
          curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http) == CURLM_OK &&
          curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, on_timer_wanted) == CURLM_OK &&
          curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http) == CURLM_OK &&
          curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, 64L) == CURLM_OK; /* idle connections */
}

static void add_timer(rkb_http_t *http, uv_timer_t *timer) {
   uv_timer_init(rkb_loop_uv(http->loop), timer);
   timer->data = http;
   rkb_http_handle_added(http);
}

int rkb_http_new(rkb_loop_t *loop, const rkb_http_options_t *options, rkb_http_t **http, rkb_error_t *err) {
   static const rkb_http_options_t defaults = {0};
   if (!options)
      options = &defaults;
   if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "libcurl could not be initialised");
   rkb_http_t *made = rkb_allocate(1, sizeof *made);
   made->loop = loop;
   made->start_waiting = on_start_timer;
   made->most_transfers = or_default(options->most_transfers, DEFAULT_TRANSFERS);
   made->most_waiting = or_default(options->most_waiting, DEFAULT_WAITING);
   made->most_connecting = or_default(options->most_connecting, DEFAULT_CONNECTING);
   made->ca_file = options->ca_file ? rkb_duplicate(options->ca_file) : NULL;
   if (!set_up_multi(made))
      goto no_memory;
   add_timer(made, &made->curl_timer);
   add_timer(made, &made->start_timer);
   *http = made;
   return RKB_OK;
no_memory:
   curl_multi_cleanup(made->multi);
   free(made->ca_file);
   free(made);
   curl_global_cleanup();
   return rkb_fail_memory(err, 0);
}

void rkb_http_free(rkb_http_t *http) {
   if (!http)
      return;
   http->freeing = true;
   while (http->waiting.count || http->running.count) {
      rkb_http_transfer_t *transfer = http->waiting.count ? http->waiting.first : http->running.first;
      transfer->outcome = RKB_HTTP_CANCELLED;
      rkb_http_abandon(transfer);
   }
   curl_multi_cleanup(http->multi); /* closes kept connections, and may call on_socket for them */
   uv_close((uv_handle_t *)&http->curl_timer, on_timer_closed);
   uv_close((uv_handle_t *)&http->start_timer, on_timer_closed);
}

int rkb_http_start(rkb_http_t *http, const rkb_http_request_t *request, rkb_http_transfer_t **transfer,
                   rkb_error_t *err) {
   rkb_http_transfer_t *made;
   if (http->freeing)
      return rkb_fail(err, RKB_ERR_CANCELLED, "the HTTP client is being closed");
   if (http->waiting.count >= http->most_waiting)
      return rkb_fail(err, RKB_ERR_LIMIT, "%u requests wait already", http->waiting.count);
   int status = rkb_http_transfer_new(http, request, &made, err);
   if (status != RKB_OK)
      return status;
   rkb_http_add_waiting(http, made);
   if (transfer)
      *transfer = made;
   return RKB_OK;
}

rkb_http_state_t rkb_http_state(const rkb_http_t *http) {
   return (rkb_http_state_t){.waiting = http->waiting.count,
                             .connecting = http->connecting,
                             .running = http->running.count,
                             .sockets = http->sockets};
}
