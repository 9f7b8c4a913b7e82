/* One HTTP exchange with a provider (attempt.h).  The transfer runs on the loop; a worker thread waits for it.  Whichever of the two
 * finishes last frees the exchange. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/memory.h"
#include "base/units.h"
#include "llm/attempt.h"
#include "system/timed_wait.h"

enum { LOOK_MS = 50 };
#define MOST_HEADERS 8
#define REPLY_BYTES (16u << 20) /* limit for an event stream; the text in it has its own limit */
#define MOST_RETRY_AFTER_NS 600000000000ull

typedef struct exchange {
   rkb_attempt_t *attempt; /* belongs to the worker thread, which waits until `ended` is set */
   rkb_loop_t *loop;
   rkb_http_t *http;
   rkb_text_t url, headers;
   const char *lines[MOST_HEADERS + 1];
   rkb_http_transfer_t *transfer; /* [loop]; NULL before start and after done */
   pthread_mutex_t mutex;
   pthread_cond_t ended_condition;
   bool ended, cancel;
} exchange_t;

/* [loop] Until ended is set, the attempt belongs to the loop. */
static void end(exchange_t *exchange) {
   pthread_mutex_lock(&exchange->mutex);
   exchange->ended = true;
   pthread_cond_signal(&exchange->ended_condition);
   pthread_mutex_unlock(&exchange->mutex);
}

static void on_event(void *argument, const rkb_http_event_t *event) {
   exchange_t *exchange = argument;
   rkb_reply_t *reply = &exchange->attempt->reply;
   if (!reply->unreadable && !reply->failed)
      exchange->attempt->model->provider->event(reply, event->type, event->data, event->data_bytes);
}

/* Parses Retry-After: seconds, or a date (RFC 9110, 10.2.3). */
static uint64_t retry_after(const rkb_http_reply_t *reply) {
   char value[64];
   double seconds = 0;
   struct tm date = {0};
   if (rkb_http_header(reply, "retry-after-ms", value, sizeof value) && rkb_parse_real(value, &seconds))
      seconds *= 1e-3;
   else if (!rkb_http_header(reply, "retry-after", value, sizeof value))
      return 0;
   else if (!rkb_parse_real(value, &seconds) && strptime(value, "%a, %d %b %Y %H:%M:%S GMT", &date))
      seconds = difftime(timegm(&date), time(NULL));
   if (!(seconds > 0))
      return 0;
   return seconds > MOST_RETRY_AFTER_NS * 1e-9 ? MOST_RETRY_AFTER_NS : (uint64_t)(seconds * 1e9);
}

static bool worth_retrying(int status) {
   return status == 408 || status == 409 || status == 429 || status >= 500;
}

static void read_status(rkb_attempt_t *attempt, const rkb_http_reply_t *reply) {
   attempt->unbilled = true;
   attempt->end = worth_retrying(reply->status) ? RKB_ATTEMPT_FAILED : RKB_ATTEMPT_REJECTED;
   attempt->retry_after_ns = retry_after(reply);
   rkb_text_clear(&attempt->reply.trouble);
   rkb_text_format(&attempt->reply.trouble, "status %d: ", reply->status);
   rkb_reply_trouble(&attempt->reply, reply->body, reply->body_bytes);
   if (!attempt->retry_after_ns)
      attempt->retry_after_ns = attempt->reply.retry_after_ns < MOST_RETRY_AFTER_NS
                                   ? attempt->reply.retry_after_ns
                                   : MOST_RETRY_AFTER_NS;
}

static void read_reply(rkb_attempt_t *attempt, const rkb_http_reply_t *reply) {
   rkb_reply_t *read = &attempt->reply;
   attempt->unsent = !reply->sent;
   if (reply->outcome == RKB_HTTP_CANCELLED) {
      attempt->end = RKB_ATTEMPT_CANCELLED;
   } else if (reply->outcome == RKB_HTTP_TOO_LARGE || reply->outcome == RKB_HTTP_MALFORMED) {
      attempt->end = RKB_ATTEMPT_UNREADABLE;
      rkb_text_format(&read->trouble, "%s", reply->message);
   } else if (reply->outcome != RKB_HTTP_DONE) {
      /* A certificate that does not verify will not verify on a retry either. */
      attempt->end = reply->outcome == RKB_HTTP_TLS_FAILED ? RKB_ATTEMPT_REJECTED : RKB_ATTEMPT_FAILED;
      rkb_text_format(&read->trouble, "%s", reply->message);
   } else if (reply->status != 200) {
      read_status(attempt, reply);
   } else {
      if (!reply->streamed)
         rkb_reply_whole(read, attempt->model->provider, reply->body, reply->body_bytes);
      if (read->text.cut) {
         read->unreadable = true;
         rkb_text_format(&read->trouble, "the reply's text is larger than %u bytes", RKB_ARCHIVE_MAX_REPLY);
      }
      if (!read->failed && !read->unreadable && !read->finished)
         rkb_text_add(&read->trouble, "the stream ended before the reply did");
      attempt->end = read->unreadable                  ? RKB_ATTEMPT_UNREADABLE
                     : read->failed || !read->finished ? RKB_ATTEMPT_FAILED
                                                       : RKB_ATTEMPT_REPLIED;
   }
}

static void on_done(void *argument, const rkb_http_reply_t *reply) {
   exchange_t *exchange = argument;
   exchange->transfer = NULL;
   exchange->attempt->seconds = (double)reply->total_ns * 1e-9;
   read_reply(exchange->attempt, reply);
   end(exchange);
}

static void begin(void *argument) {
   exchange_t *exchange = argument;
   rkb_attempt_t *attempt = exchange->attempt;
   const rkb_model_t *model = attempt->model;
   rkb_error_t err = {0};
   uint64_t now = rkb_now_ns(), total = model->total_ns;
   if (attempt->deadline_ns && attempt->deadline_ns - now < total)
      total = attempt->deadline_ns > now ? attempt->deadline_ns - now : 1;
   rkb_http_request_t request = {.size = sizeof request,
                                 .url = rkb_text_get(&exchange->url),
                                 .headers = exchange->lines,
                                 .body = attempt->body,
                                 .body_bytes = strlen(attempt->body),
                                 .idle_ns = model->idle_ns,
                                 .total_ns = total,
                                 .reply_limit = REPLY_BYTES,
                                 .event = model->stream ? on_event : NULL,
                                 .done = on_done,
                                 .arg = exchange};
   if (rkb_http_start(exchange->http, &request, &exchange->transfer, &err) != RKB_OK) {
      exchange->transfer = NULL;
      attempt->unsent = true;
      attempt->end = RKB_ATTEMPT_FAILED;
      rkb_text_format(&attempt->reply.trouble, "%s", err.message);
      end(exchange);
   }
}

static void cancel(void *argument) {
   exchange_t *exchange = argument;
   if (exchange->transfer)
      rkb_http_cancel(exchange->transfer);
}

/* Splits header lines for the HTTP client: makes pointers into one text and turns its line ends into NULs. */
static void split_headers(exchange_t *exchange) {
   uint32_t count = 0;
   exchange->lines[count++] = "Content-Type: application/json";
   for (char *line = exchange->headers.data; line && *line && count < MOST_HEADERS;) {
      char *next = strchr(line, '\n');
      exchange->lines[count++] = line;
      if (next)
         *next++ = '\0';
      line = next;
   }
}

/* Waits for the loop to end the exchange.  Asks the loop to cancel it when the asker gives up. */
static void wait_for_end(exchange_t *exchange) {
   rkb_attempt_t *attempt = exchange->attempt;
   pthread_mutex_lock(&exchange->mutex);
   while (!exchange->ended) {
      rkb_timed_wait(&exchange->ended_condition, &exchange->mutex, LOOK_MS);
      if (!exchange->ended && !exchange->cancel && attempt->give_up(attempt->argument))
         exchange->cancel = rkb_loop_post(exchange->loop, cancel, exchange) == RKB_OK;
   }
   pthread_mutex_unlock(&exchange->mutex);
}

static void release(void *argument) {
   exchange_t *exchange = argument;
   if (exchange->headers.data)
      explicit_bzero(exchange->headers.data, exchange->headers.room); /* contains the key */
   rkb_text_free(&exchange->headers);
   rkb_text_free(&exchange->url);
   pthread_cond_destroy(&exchange->ended_condition);
   pthread_mutex_destroy(&exchange->mutex);
   free(exchange);
}

void rkb_attempt_http(rkb_loop_t *loop, rkb_http_t *http, rkb_attempt_t *attempt) {
   const rkb_model_t *model = attempt->model;
   exchange_t *exchange = rkb_allocate(1, sizeof *exchange);
   rkb_reply_init(&attempt->reply);
   attempt->end = RKB_ATTEMPT_FAILED;
   attempt->unsent = true;
   attempt->seconds = -1;
   *exchange = (exchange_t){.attempt = attempt, .loop = loop, .http = http};
   pthread_mutex_init(&exchange->mutex, NULL);
   pthread_cond_init(&exchange->ended_condition, NULL);
   rkb_text_init(&exchange->url, 8192);
   rkb_text_init(&exchange->headers, 32u << 10);
   rkb_provider_url(model, &exchange->url);
   model->provider->headers(&(rkb_provider_request_t){.model = model,
                                                      .question = attempt->question,
                                                      .key = attempt->key,
                                                      .url = rkb_text_get(&exchange->url),
                                                      .body = attempt->body,
                                                      .now = time(NULL)},
                            &exchange->headers);
   split_headers(exchange);
   if (exchange->url.cut || exchange->headers.cut) {
      attempt->end = RKB_ATTEMPT_REJECTED;
      rkb_text_add(&attempt->reply.trouble, "the address or a header is too long");
   } else if (rkb_loop_post(loop, begin, exchange) == RKB_OK) {
      attempt->unsent = false;
      wait_for_end(exchange);
      /* A cancel message may still be queued.  The loop takes messages in order, so the exchange is released by a message behind it. */
      if (exchange->cancel && rkb_loop_post(loop, release, exchange) == RKB_OK)
         return;
   } else {
      rkb_text_add(&attempt->reply.trouble, "too much waits for the loop");
   }
   release(exchange);
}
