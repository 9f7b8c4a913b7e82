/* One HTTP transfer: its options, curl's callbacks, its limits, and its end.  Owns copies of the request, the curl handle and the
 * reply so far.  Loop thread only.
 *
 * A timer of our own keeps the limits, because curl's idle limit (LOW_SPEED_TIME) fired after 8 s when 3 s were asked for.
 * Request headers hold keys: they are wiped before their memory is released, and no message quotes them. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "system/http_curl.h"

#define DEFAULT_CONNECT_NS (30 * UINT64_C(1000000000))
#define DEFAULT_IDLE_NS (120 * UINT64_C(1000000000))
#define DEFAULT_TOTAL_NS (900 * UINT64_C(1000000000))
#define DEFAULT_REPLY (4u << 20)
#define HEADERS_LIMIT (64u << 10)

/* Copying the request ------------------------------------------------------------------------------ */

static bool append_header(rkb_http_transfer_t *transfer, const char *header) {
   struct curl_slist *longer = curl_slist_append(transfer->headers, header);
   if (longer)
      transfer->headers = longer;
   return longer != NULL;
}

/* Refuses line breaks: a line break in a header's value would add headers. */
static int copy_headers(rkb_http_transfer_t *transfer, const char *const *headers, rkb_error_t *err) {
   /* Without this, curl waits a second for "100 Continue" before it sends a large body. */
   bool good = append_header(transfer, "Expect:");
   for (; good && headers && *headers; headers++) {
      if (strpbrk(*headers, "\r\n") || !strchr(*headers, ':'))
         return rkb_fail(err, RKB_ERR_INVALID, "a header has no ':' or holds a line break");
      good = append_header(transfer, *headers);
   }
   return good ? RKB_OK : rkb_fail_memory(err, 0);
}

/* Checks the URL.  Keeps only "scheme://host:port" for messages, because path and query may be private. */
static int copy_url(rkb_http_transfer_t *transfer, const char *url, rkb_error_t *err) {
   char *scheme = NULL, *host = NULL, *port = NULL;
   CURLU *parts = curl_url();
   int status = RKB_OK;
   if (!parts)
      return rkb_fail_memory(err, 0);
   if (curl_url_set(parts, CURLUPART_URL, url, 0) != CURLUE_OK ||
       curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
       curl_url_get(parts, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
       curl_url_get(parts, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) != CURLUE_OK ||
       (strcmp(scheme, "https") != 0 && strcmp(scheme, "http") != 0)) {
      status = rkb_fail(err, RKB_ERR_INVALID, "not an address that begins with http:// or https://");
   } else {
      transfer->url = rkb_duplicate(url);
      transfer->host = rkb_format("%s://%s:%s", scheme, host, port);
   }
   curl_free(scheme);
   curl_free(host);
   curl_free(port);
   curl_url_cleanup(parts);
   return status;
}

static int copy_request(rkb_http_transfer_t *transfer, const rkb_http_request_t *request, rkb_error_t *err) {
   if (!request->url || !request->done)
      return rkb_fail(err, RKB_ERR_INVALID, "a request needs a url and a done function");
   transfer->connect_ns = request->connect_ns ? request->connect_ns : DEFAULT_CONNECT_NS;
   transfer->idle_ns = request->idle_ns ? request->idle_ns : DEFAULT_IDLE_NS;
   transfer->limit_ns = request->total_ns ? request->total_ns : DEFAULT_TOTAL_NS;
   transfer->reply_limit = request->reply_limit ? request->reply_limit : DEFAULT_REPLY;
   transfer->event = request->event;
   transfer->done = request->done;
   transfer->arg = request->arg;
   transfer->method = rkb_duplicate(request->method ? request->method : request->body ? "POST" : "GET");
   if (request->body) {
      transfer->body = rkb_try_uncleared(request->body_bytes + 1, 1, err);
      if (!transfer->body)
         return RKB_ERR_NOMEM;
      memcpy(transfer->body, request->body, request->body_bytes);
      transfer->body_bytes = request->body_bytes;
   }
   int status = copy_headers(transfer, request->headers, err);
   return status == RKB_OK ? copy_url(transfer, request->url, err) : status;
}

static void release(rkb_http_transfer_t *transfer) {
   for (struct curl_slist *header = transfer->headers; header; header = header->next)
      explicit_bzero(header->data, strlen(header->data));
   curl_slist_free_all(transfer->headers);
   free(transfer->method);
   free(transfer->url);
   free(transfer->host);
   free(transfer->body);
   rkb_text_free(&transfer->reply_headers);
   rkb_text_free(&transfer->reply_body);
   rkb_event_stream_free(&transfer->stream);
   free(transfer);
}

static void pass_event(void *argument, const rkb_http_event_t *event) {
   rkb_http_transfer_t *transfer = argument;
   if (!transfer->draining)
      transfer->event(transfer->arg, event);
}

int rkb_http_transfer_new(rkb_http_t *http, const rkb_http_request_t *request, rkb_http_transfer_t **transfer,
                          rkb_error_t *err) {
   rkb_http_transfer_t *made = rkb_allocate(1, sizeof *made);
   made->http = http;
   made->submitted = rkb_now_ns();
   rkb_text_init(&made->reply_headers, HEADERS_LIMIT);
   rkb_text_init(&made->reply_body, request->reply_limit ? request->reply_limit : DEFAULT_REPLY);
   rkb_event_stream_init(&made->stream, made->reply_body.limit, pass_event, made);
   int status = copy_request(made, request, err);
   if (status != RKB_OK) {
      release(made);
      return status;
   }
   uv_timer_init(rkb_loop_uv(http->loop), &made->timer);
   made->timer.data = made;
   rkb_http_handle_added(http);
   *transfer = made;
   return RKB_OK;
}

/* Callbacks of curl -------------------------------------------------------------------------------- */

/* Called when the connection is made, also when a kept connection is reused; the request goes out next. */
static int on_connected(void *argument, char *remote, char *local, int remote_port, int local_port) {
   rkb_http_transfer_t *transfer = argument;
   (void)remote;
   (void)local;
   (void)remote_port;
   (void)local_port;
   if (transfer->phase == PHASE_CONNECTING) {
      transfer->phase = PHASE_SENT;
      transfer->sent = transfer->last_byte = rkb_now_ns();
      rkb_http_connected(transfer->http);
      rkb_http_transfer_watch(transfer);
   }
   return CURL_PREREQFUNC_OK;
}

/* Sets the outcome, and returns 0 as the number of bytes taken, by which curl fails the transfer. */
static size_t refuse(rkb_http_transfer_t *transfer, enum rkb_http_outcome outcome) {
   transfer->outcome = outcome;
   return 0;
}

/* Takes one line of a reply's head.  Interim replies (100 Continue) and a proxy's reply have heads too; the last head counts. */
static size_t on_header(char *line, size_t size, size_t count, void *argument) {
   rkb_http_transfer_t *transfer = argument;
   size_t length = size * count, kept = length;
   transfer->last_byte = rkb_now_ns();
   if (length >= 5 && memcmp(line, "HTTP/", 5) == 0) {
      rkb_text_clear(&transfer->reply_headers);
      return length;
   }
   while (kept && (line[kept - 1] == '\n' || line[kept - 1] == '\r'))
      kept--;
   if (kept) {
      rkb_text_append(&transfer->reply_headers, line, kept);
      rkb_text_append(&transfer->reply_headers, "\n", 1);
   }
   return transfer->reply_headers.cut ? refuse(transfer, RKB_HTTP_TOO_LARGE) : length;
}

static bool is_event_stream(rkb_http_transfer_t *transfer) {
   static const char wanted[] = "text/event-stream";
   long status = 0;
   char *type = NULL;
   curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
   curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_TYPE, &type);
   return transfer->event && status == 200 && type && strncasecmp(type, wanted, sizeof wanted - 1) == 0;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *argument) {
   rkb_http_transfer_t *transfer = argument;
   size_t length = size * count;
   transfer->last_byte = rkb_now_ns();
   if (!transfer->begun) {
      transfer->begun = true;
      transfer->first_byte = transfer->last_byte;
      transfer->streamed = is_event_stream(transfer);
   }
   transfer->received += length;
   if (transfer->received > transfer->reply_limit)
      return refuse(transfer, RKB_HTTP_TOO_LARGE);
   if (!transfer->streamed) {
      rkb_text_append(&transfer->reply_body, bytes, length);
      return transfer->reply_body.cut ? refuse(transfer, RKB_HTTP_NO_MEMORY) : length;
   }
   if (rkb_event_stream_feed(&transfer->stream, bytes, length) != RKB_OK)
      return refuse(transfer, RKB_HTTP_TOO_LARGE);
   return transfer->draining ? refuse(transfer, RKB_HTTP_CANCELLED) : length;
}

bool rkb_http_transfer_prepare(rkb_http_transfer_t *transfer, const char *ca_file) {
   CURL *easy = curl_easy_init();
   transfer->easy = easy;
   if (!easy)
      return false;
   bool good = curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_URL, transfer->url) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, transfer->method) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers) == CURLE_OK &&
               /* One transfer per connection, so a broken connection affects no other transfer. */
               curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
               /* Otherwise, ending a transfer whose name lookup hangs waits for the lookup's thread and blocks
                  the loop. */
               curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->curl_message) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_connected) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_PREREQDATA, transfer) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer) == CURLE_OK;
   /* curl's own connect limit is 300 s.  Set ours, which may be shorter or longer. */
   good = good && curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                                   (long)(transfer->connect_ns / 1000000 + 60000)) == CURLE_OK;
   if (good && transfer->body)
      good =
         curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)transfer->body_bytes) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_POSTFIELDS, transfer->body) == CURLE_OK;
   if (good && strcmp(transfer->method, "HEAD") == 0)
      good = curl_easy_setopt(easy, CURLOPT_NOBODY, 1L) == CURLE_OK;
   return good && (!ca_file || curl_easy_setopt(easy, CURLOPT_CAINFO, ca_file) == CURLE_OK);
}

/* Limits ------------------------------------------------------------------------------------------- */

static uint64_t after(uint64_t moment, uint64_t ns) {
   return ns > UINT64_MAX - moment ? UINT64_MAX : moment + ns;
}

/* Returns the time of the next limit, and which limit it is. */
static uint64_t next_limit(const rkb_http_transfer_t *transfer, enum rkb_http_outcome *outcome) {
   uint64_t total = after(transfer->started, transfer->limit_ns);
   bool connecting = transfer->phase == PHASE_CONNECTING;
   uint64_t other = connecting ? after(transfer->started, transfer->connect_ns)
                               : after(transfer->last_byte, transfer->idle_ns);
   *outcome = connecting ? RKB_HTTP_CONNECT_TIMEOUT : RKB_HTTP_IDLE_TIMEOUT;
   if (other <= total)
      return other;
   *outcome = RKB_HTTP_TOTAL_TIMEOUT;
   return total;
}

/* Arriving bytes only record their time; the timer is not moved.  When it fires, this function reads that time and waits again if time is left. */
static void on_limit(uv_timer_t *timer) {
   rkb_http_transfer_t *transfer = timer->data;
   enum rkb_http_outcome outcome = RKB_HTTP_CANCELLED;
   if (!transfer->draining && transfer->phase != PHASE_WAITING &&
       next_limit(transfer, &outcome) > rkb_now_ns()) {
      rkb_http_transfer_watch(transfer);
      return;
   }
   transfer->outcome = outcome;
   rkb_http_abandon(transfer);
}

void rkb_http_transfer_watch(rkb_http_transfer_t *transfer) {
   enum rkb_http_outcome outcome;
   uint64_t now = rkb_now_ns(), next = next_limit(transfer, &outcome);
   if (transfer->draining)
      return;
   uv_update_time(rkb_loop_uv(transfer->http->loop));
   uv_timer_start(&transfer->timer, on_limit, next > now ? (next - now) / 1000000 + 1 : 0, 0);
}

/* The timer ends the transfer a little later, because the caller may be inside a callback of curl. */
void rkb_http_cancel(rkb_http_transfer_t *transfer) {
   transfer->draining = true;
   uv_timer_start(&transfer->timer, on_limit, 0, 0);
}

/* The end ------------------------------------------------------------------------------------------ */

static enum rkb_http_outcome outcome_of(const rkb_http_transfer_t *transfer, CURLcode result) {
   switch (result) {
   case CURLE_OK:
      return RKB_HTTP_DONE;
   case CURLE_COULDNT_RESOLVE_HOST:
   case CURLE_COULDNT_RESOLVE_PROXY:
      return RKB_HTTP_NAME_FAILED;
   case CURLE_OPERATION_TIMEDOUT:
      return transfer->phase == PHASE_CONNECTING ? RKB_HTTP_CONNECT_TIMEOUT : RKB_HTTP_BROKEN;
   case CURLE_SSL_CONNECT_ERROR:
   case CURLE_SSL_CERTPROBLEM:
   case CURLE_SSL_CIPHER:
   case CURLE_PEER_FAILED_VERIFICATION:
   case CURLE_SSL_CACERT_BADFILE:
   case CURLE_SSL_ISSUER_ERROR:
   case CURLE_SSL_INVALIDCERTSTATUS:
   case CURLE_SSL_ENGINE_INITFAILED:
      return RKB_HTTP_TLS_FAILED;
   case CURLE_OUT_OF_MEMORY: /* also curl's answer to a line of headers that is longer than its limit of 100 KiB */
      return transfer->phase == PHASE_CONNECTING ? RKB_HTTP_NO_MEMORY : RKB_HTTP_TOO_LARGE;
   case 100: /* newer curl's answer to that, CURLE_TOO_LARGE */
      return RKB_HTTP_TOO_LARGE;
   case CURLE_WEIRD_SERVER_REPLY:
   case CURLE_UNSUPPORTED_PROTOCOL:
   case CURLE_BAD_CONTENT_ENCODING:
   case CURLE_HTTP2:
      return RKB_HTTP_MALFORMED;
   default:
      return transfer->phase == PHASE_CONNECTING ? RKB_HTTP_CONNECT_FAILED : RKB_HTTP_BROKEN;
   }
}

static const char *explain(enum rkb_http_outcome outcome) {
   switch (outcome) {
   case RKB_HTTP_DONE:
      return "";
   case RKB_HTTP_CANCELLED:
      return "was cancelled";
   case RKB_HTTP_NAME_FAILED:
      return "has no address";
   case RKB_HTTP_CONNECT_FAILED:
      return "could not be connected to";
   case RKB_HTTP_CONNECT_TIMEOUT:
      return "did not connect in time";
   case RKB_HTTP_TLS_FAILED:
      return "has no TLS connection that can be trusted";
   case RKB_HTTP_IDLE_TIMEOUT:
      return "sent nothing for too long";
   case RKB_HTTP_TOTAL_TIMEOUT:
      return "did not finish in time";
   case RKB_HTTP_BROKEN:
      return "ended the connection before the reply was whole";
   case RKB_HTTP_TOO_LARGE:
      return "sent more than the limit";
   case RKB_HTTP_MALFORMED:
      return "sent something that is not HTTP";
   default:
      return "could not be asked: out of memory";
   }
}

static void on_timer_closed(uv_handle_t *handle) {
   rkb_http_transfer_t *transfer = handle->data;
   rkb_http_t *http = transfer->http;
   release(transfer);
   rkb_http_handle_closed(http);
}

static uint64_t since(uint64_t from, uint64_t moment) {
   return from && moment > from ? moment - from : 0;
}

void rkb_http_transfer_end(rkb_http_transfer_t *transfer, CURLcode result) {
   char message[CURL_ERROR_SIZE + 512] = "";
   uint64_t now = rkb_now_ns();
   long status = 0;
   /* If rkb ended the transfer, curl reports some error of its own; rkb's outcome counts. */
   enum rkb_http_outcome outcome = outcome_of(transfer, result);
   if (result != CURLE_OK && transfer->outcome != RKB_HTTP_DONE)
      outcome = transfer->outcome;
   if (transfer->draining)
      outcome = RKB_HTTP_CANCELLED;
   bool by_curl = outcome != RKB_HTTP_DONE && transfer->outcome == RKB_HTTP_DONE &&
                  transfer->curl_message[0] && !transfer->draining;
   if (outcome != RKB_HTTP_DONE)
      snprintf(message, sizeof message, by_curl ? "%s %s (%s)" : "%s %s", transfer->host, explain(outcome),
               transfer->curl_message);
   if (transfer->easy)
      curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
   const rkb_http_reply_t reply = {
      .size = sizeof reply,
      .outcome = outcome,
      .status = (int32_t)status,
      .sent = transfer->sent != 0,
      .streamed = transfer->streamed,
      .partial_event = transfer->streamed && rkb_event_stream_is_partial(&transfer->stream),
      .message = message,
      .body = rkb_text_get(&transfer->reply_body),
      .body_bytes = transfer->reply_body.length,
      .headers = rkb_text_get(&transfer->reply_headers),
      .received_bytes = transfer->received,
      .waited_ns = since(transfer->submitted, transfer->started ? transfer->started : now),
      .connected_ns = since(transfer->started, transfer->sent),
      .first_byte_ns = since(transfer->started, transfer->first_byte),
      .total_ns = since(transfer->submitted, now)};
   transfer->phase = PHASE_ENDED;
   uv_timer_stop(&transfer->timer);
   curl_easy_cleanup(transfer->easy);
   transfer->easy = NULL;
   transfer->done(transfer->arg, &reply);
   uv_close((uv_handle_t *)&transfer->timer, on_timer_closed);
}

void rkb_http_abandon(rkb_http_transfer_t *transfer) {
   rkb_http_forget(transfer);
   rkb_http_transfer_end(transfer, CURLE_ABORTED_BY_CALLBACK);
}
