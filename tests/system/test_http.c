/* The HTTP client against a server that stalls, dies, never ends and lies: each transfer ends once, in a
 * named outcome, and leaves no socket behind. */
#include "check.h"
#include "http_fixture.h"
#include "system/http.h"

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MILLISECOND UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)

static http_server_t server;
static rkb_loop_t *loop;
static rkb_http_t *http;

typedef struct outcome {
   unsigned calls, events;
   rkb_http_reply_t reply; /* its pointers are dead; the texts below are copies */
   char body[8192], headers[4096], message[512], first_event[64], last_event[64];
   rkb_http_transfer_t *transfer;
   unsigned cancel_after; /* events; 0: never */
   uint64_t event_bytes;
} outcome_t;

static void on_event(void *argument, const rkb_http_event_t *event) {
   outcome_t *outcome = argument;
   char *place = outcome->events == 0 ? outcome->first_event : outcome->last_event;
   snprintf(place, sizeof outcome->last_event, "%s", event->data);
   outcome->events++;
   outcome->event_bytes += event->data_bytes;
   if (outcome->cancel_after && outcome->events == outcome->cancel_after)
      rkb_http_cancel(outcome->transfer);
}

static void on_done(void *argument, const rkb_http_reply_t *reply) {
   outcome_t *outcome = argument;
   outcome->calls++;
   outcome->reply = *reply;
   snprintf(outcome->body, sizeof outcome->body, "%s", reply->body);
   snprintf(outcome->headers, sizeof outcome->headers, "%s", reply->headers);
   snprintf(outcome->message, sizeof outcome->message, "%s", reply->message);
   rkb_loop_stop(loop);
}

static int start_server(void **state) {
   rkb_error_t err;
   (void)state;
   unsetenv("http_proxy");
   unsetenv("https_proxy");
   unsetenv("HTTPS_PROXY");
   unsetenv("all_proxy");
   unsetenv("ALL_PROXY");
   return http_server_start(&server) && rkb_loop_new(&loop, &err) == RKB_OK ? 0 : -1;
}

static int stop_server(void **state) {
   (void)state;
   rkb_loop_free(loop);
   http_server_stop(&server);
   return 0;
}

static void open_client(bool trusts) {
   rkb_error_t err;
   char path[64];
   snprintf(path, sizeof path, "%s/cert.pem", server.folder);
   const rkb_http_options_t options = {.ca_file = trusts ? path : NULL};
   assert_int_equal(rkb_http_new(loop, &options, &http, &err), RKB_OK);
}

static int open_trusting_client(void **state) {
   (void)state;
   open_client(true);
   return 0;
}

static int close_client(void **state) {
   (void)state;
   rkb_http_free(http);
   http = NULL;
   return 0;
}

static rkb_http_request_t request_for(char url[128], const char *path) {
   snprintf(url, 128, "http://127.0.0.1:%d%s", server.plain, path);
   return (rkb_http_request_t){.size = sizeof(rkb_http_request_t), .url = url};
}

static outcome_t run(rkb_http_request_t request) {
   outcome_t outcome = {0};
   rkb_error_t err;
   request.done = on_done;
   request.arg = &outcome;
   assert_int_equal(rkb_http_start(http, &request, &outcome.transfer, &err), RKB_OK);
   assert_int_equal(outcome.calls, 0); /* never from start */
   rkb_loop_run(loop);
   assert_int_equal(outcome.calls, 1);
   return outcome;
}

static outcome_t get(const char *path) {
   char url[128];
   return run(request_for(url, path));
}

static void expect(const outcome_t *outcome, uint32_t expected) {
   if (outcome->reply.outcome != expected)
      print_message("%s\n", outcome->message);
   assert_int_equal(outcome->reply.outcome, expected);
   assert_int_equal(outcome->message[0] == '\0', expected == RKB_HTTP_DONE);
   assert_int_equal(rkb_http_state(http).running, 0);
   assert_int_equal(rkb_http_state(http).connecting, 0);
}

/* Waits until the server has seen every connection close except the one that asks.  The test's own limit ends
 * a wait in vain. */
static void until_server_is_alone(void) {
   while (strcmp(get("/connections").body, "1") != 0)
      usleep(10000);
}

static void a_reply_comes_whole(void **state) {
   (void)state;
   char value[64];
   outcome_t outcome = get("/ok");
   expect(&outcome, RKB_HTTP_DONE);
   assert_int_equal(outcome.reply.status, 200);
   assert_string_equal(outcome.body, "{\"ok\": true}");
   assert_true(outcome.reply.sent && !outcome.reply.streamed);
   assert_true(outcome.reply.total_ns > 0 && outcome.reply.connected_ns > 0);
   outcome.reply.headers = outcome.headers;
   assert_true(rkb_http_header(&outcome.reply, "x-name", value, sizeof value));
   assert_string_equal(value, "Some Value");
   assert_false(rkb_http_header(&outcome.reply, "x-nam", value, sizeof value));
   assert_false(rkb_http_header(&outcome.reply, "x-name", value, 10));
}

static void a_request_arrives_as_it_was_given(void **state) {
   (void)state;
   char url[128];
   static const char *const headers[] = {"Authorization: Bearer key", "Content-Type: application/json", NULL};
   rkb_http_request_t request = request_for(url, "/echo");
   size_t size = 3 << 20;
   char *body = malloc(size);
   memset(body, 'b', size);
   request.headers = headers;
   request.body = "{\"a\":1}";
   request.body_bytes = 7;
   outcome_t outcome = run(request);
   expect(&outcome, RKB_HTTP_DONE);
   assert_memory_equal(outcome.body, "POST /echo HTTP/1.1\r\n", 21);
   assert_non_null(strstr(outcome.body, "Authorization: Bearer key\r\n"));
   assert_non_null(strstr(outcome.body, "Content-Length: 7\r\n"));
   assert_null(strstr(outcome.body, "Expect:"));
   assert_string_equal(strstr(outcome.body, "\r\n\r\n"), "\r\n\r\n{\"a\":1}");
   request.body = body;
   request.body_bytes = size;
   outcome = run(request);
   expect(&outcome, RKB_HTTP_DONE);
   assert_true(outcome.reply.body_bytes > size);
   request.method = "PUT";
   request.body = "";
   request.body_bytes = 0;
   assert_memory_equal(run(request).body, "PUT ", 4);
   free(body);
}

static void errors_of_the_server_are_replies(void **state) {
   (void)state;
   char value[16];
   static const int codes[] = {400, 401, 404, 429, 500, 529};
   for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
      char url[128], path[32];
      snprintf(path, sizeof path, "/status/%d", codes[i]);
      rkb_http_request_t request = request_for(url, path);
      request.event = on_event; /* asked for a stream, got none */
      outcome_t outcome = run(request);
      expect(&outcome, RKB_HTTP_DONE);
      assert_int_equal(outcome.reply.status, codes[i]);
      assert_false(outcome.reply.streamed);
      assert_string_equal(outcome.body, "not now");
      outcome.reply.headers = outcome.headers;
      assert_true(rkb_http_header(&outcome.reply, "retry-after", value, sizeof value));
      assert_string_equal(value, "7");
   }
}

static void redirects_are_not_followed(void **state) {
   (void)state;
   outcome_t outcome = get("/redirect");
   expect(&outcome, RKB_HTTP_DONE);
   assert_int_equal(outcome.reply.status, 302);
}

static void the_last_head_of_a_reply_counts(void **state) {
   (void)state;
   outcome_t outcome = get("/interim");
   expect(&outcome, RKB_HTTP_DONE);
   assert_string_equal(outcome.body, "after");
   assert_null(strstr(outcome.headers, "X-Interim"));
   assert_non_null(strstr(outcome.headers, "X-Final: 1\n"));
}

static void chunks_are_joined(void **state) {
   (void)state;
   outcome_t outcome = get("/chunked/3");
   expect(&outcome, RKB_HTTP_DONE);
   assert_string_equal(outcome.body, "piece 0;piece 1;piece 2;");
}

static outcome_t stream(const char *path, uint64_t idle_ns, uint64_t total_ns, size_t limit) {
   char url[128];
   rkb_http_request_t request = request_for(url, path);
   request.event = on_event;
   request.idle_ns = idle_ns;
   request.total_ns = total_ns;
   request.reply_limit = limit;
   return run(request);
}

static void events_arrive(void **state) {
   (void)state;
   outcome_t outcome = stream("/events/500", 0, 0, 0);
   expect(&outcome, RKB_HTTP_DONE);
   assert_true(outcome.reply.streamed && !outcome.reply.partial_event);
   assert_int_equal(outcome.events, 501);
   assert_string_equal(outcome.first_event, "event 0");
   assert_string_equal(outcome.last_event, "[DONE]");
   assert_int_equal(outcome.reply.body_bytes, 0);
}

static void a_stream_that_just_stops_is_marked(void **state) {
   (void)state;
   outcome_t outcome = stream("/events-until-close/3", 0, 0, 0);
   expect(&outcome, RKB_HTTP_DONE);
   assert_int_equal(outcome.events, 3);
   assert_true(outcome.reply.partial_event);
}

static void a_stall_meets_the_idle_limit(void **state) {
   (void)state;
   outcome_t outcome = stream("/one-event-then-silence", SECOND, 0, 0);
   expect(&outcome, RKB_HTTP_IDLE_TIMEOUT);
   assert_int_equal(outcome.events, 1);
   assert_true(outcome.reply.sent);
   outcome = stream("/silence", SECOND, 0, 0);
   expect(&outcome, RKB_HTTP_IDLE_TIMEOUT);
   assert_true(outcome.reply.sent);
   assert_true(outcome.reply.total_ns >= SECOND);
   until_server_is_alone();
}

static void a_trickle_meets_the_total_limit(void **state) {
   (void)state;
   outcome_t outcome = stream("/trickle", 500 * SECOND, SECOND, 0);
   expect(&outcome, RKB_HTTP_TOTAL_TIMEOUT);
   assert_true(outcome.reply.received_bytes > 0);
   until_server_is_alone();
}

static void a_slow_stream_is_not_idle(void **state) {
   (void)state;
   outcome_t outcome = stream("/paced/30", SECOND, 0, 0); /* takes 1.5 s */
   expect(&outcome, RKB_HTTP_DONE);
   assert_int_equal(outcome.events, 31);
}

static void a_reply_without_end_meets_its_size(void **state) {
   (void)state;
   outcome_t outcome = stream("/never-ending", 0, 0, 300000);
   expect(&outcome, RKB_HTTP_TOO_LARGE);
   assert_true(outcome.events > 1000 && outcome.event_bytes <= 300000);
   outcome = get("/big/50"); /* 50 MB against the default of 4 MiB */
   expect(&outcome, RKB_HTTP_TOO_LARGE);
   assert_true(outcome.reply.body_bytes <= 4 << 20);
   outcome = get("/many-headers");
   expect(&outcome, RKB_HTTP_TOO_LARGE);
   outcome = get("/long-header");
   expect(&outcome, RKB_HTTP_TOO_LARGE);
   until_server_is_alone();
}

static void fifty_megabytes_pass_where_allowed(void **state) {
   (void)state;
   char url[128];
   rkb_http_request_t request = request_for(url, "/big/50");
   request.reply_limit = 50 << 20;
   outcome_t outcome = run(request);
   expect(&outcome, RKB_HTTP_DONE);
   assert_int_equal(outcome.reply.body_bytes, 50 << 20);
}

static void deaths_are_told(void **state) {
   (void)state;
   outcome_t outcome = get("/dies");
   expect(&outcome, RKB_HTTP_BROKEN);
   assert_int_equal(outcome.reply.body_bytes, 100);
   outcome = stream("/dies-in-events", 0, 0, 0);
   expect(&outcome, RKB_HTTP_BROKEN);
   assert_int_equal(outcome.events, 1);
   outcome = get("/closes");
   expect(&outcome, RKB_HTTP_BROKEN);
   outcome = get("/garbage");
   assert_true(outcome.reply.outcome == RKB_HTTP_MALFORMED || outcome.reply.outcome == RKB_HTTP_BROKEN);
   assert_true(outcome.reply.sent);
}

static outcome_t get_url(const char *url) {
   return run(
      (rkb_http_request_t){.size = sizeof(rkb_http_request_t), .url = url, .connect_ns = 30 * SECOND});
}

static void a_server_that_is_not_there_saw_nothing(void **state) {
   (void)state;
   outcome_t outcome = get_url("http://127.0.0.1:1/secret?key=value");
   expect(&outcome, RKB_HTTP_CONNECT_FAILED);
   assert_false(outcome.reply.sent);
   assert_non_null(strstr(outcome.message, "http://127.0.0.1:1 could not be connected to"));
   assert_null(strstr(outcome.message, "secret"));
   outcome = get_url("http://rkb-no-such-host.invalid/");
   expect(&outcome, RKB_HTTP_NAME_FAILED);
   assert_false(outcome.reply.sent);
}

/* Stands before the C library's: lookups of one name hang until a test lets them go on. */
static pthread_mutex_t lookups = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t lookups_changed = PTHREAD_COND_INITIALIZER;
static unsigned lookups_hanging;
static bool lookups_released;

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **result) {
   static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
   pthread_mutex_lock(&lookups);
   if (!real)
      *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
   bool hangs = name && strcmp(name, "rkb-hanging-name") == 0;
   lookups_hanging += hangs;
   while (hangs && !lookups_released)
      pthread_cond_wait(&lookups_changed, &lookups);
   lookups_hanging -= hangs;
   pthread_cond_broadcast(&lookups_changed);
   pthread_mutex_unlock(&lookups);
   return hangs ? EAI_AGAIN : real(name, service, hints, result);
}

/* The loop must not wait for the lookup; if it did, this would never end. */
static void a_name_lookup_that_hangs_is_left_alone(void **state) {
   (void)state;
   outcome_t outcome =
      run((rkb_http_request_t){.url = "http://rkb-hanging-name/", .connect_ns = 200 * MILLISECOND});
   expect(&outcome, RKB_HTTP_CONNECT_TIMEOUT);
   pthread_mutex_lock(&lookups);
   assert_int_equal(lookups_hanging, 1);
   lookups_released = true;
   pthread_cond_broadcast(&lookups_changed);
   while (lookups_hanging)
      pthread_cond_wait(&lookups_changed, &lookups);
   pthread_mutex_unlock(&lookups);
}

static void tls_is_verified(void **state) {
   (void)state;
   char url[128];
   snprintf(url, sizeof url, "https://localhost:%d/ok", server.tls);
   outcome_t outcome = get_url(url);
   expect(&outcome, RKB_HTTP_DONE);
   assert_string_equal(outcome.body, "{\"ok\": true}");
   snprintf(url, sizeof url, "https://127.0.0.1:%d/ok", server.tls); /* the certificate is for another name */
   outcome = get_url(url);
   expect(&outcome, RKB_HTTP_TLS_FAILED);
   assert_false(outcome.reply.sent);
   snprintf(url, sizeof url, "https://localhost:%d/ok", server.plain); /* no TLS at all */
   outcome = get_url(url);
   expect(&outcome, RKB_HTTP_TLS_FAILED);
   rkb_http_free(http);
   open_client(false); /* trusts the system's certificates alone */
   snprintf(url, sizeof url, "https://localhost:%d/ok", server.tls);
   outcome = get_url(url);
   expect(&outcome, RKB_HTTP_TLS_FAILED);
   assert_false(outcome.reply.sent);
}

static void a_handshake_that_hangs_meets_the_connect_limit(void **state) {
   (void)state;
   char url[128];
   snprintf(url, sizeof url, "https://localhost:%d/", server.silent);
   outcome_t outcome = run((rkb_http_request_t){.url = url, .connect_ns = 300 * MILLISECOND});
   expect(&outcome, RKB_HTTP_CONNECT_TIMEOUT);
   assert_false(outcome.reply.sent);
   assert_int_equal(rkb_http_state(http).sockets, 0);
}

static void proxies_come_from_the_environment(void **state) {
   (void)state;
   char proxy[64];
   snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d", server.plain);
   setenv("http_proxy", proxy, 1);
   outcome_t outcome = get_url("http://rkb-no-such-host.invalid/path");
   expect(&outcome, RKB_HTTP_DONE);
   assert_memory_equal(outcome.body, "GET http://rkb-no-such-host.invalid/path ", 41);
   setenv("no_proxy", "rkb-no-such-host.invalid", 1);
   outcome = get_url("http://rkb-no-such-host.invalid/path");
   expect(&outcome, RKB_HTTP_NAME_FAILED);
   unsetenv("http_proxy");
   unsetenv("no_proxy");
}

static void cancelling_frees_the_socket(void **state) {
   (void)state;
   char url[128];
   outcome_t outcome = {.cancel_after = 1};
   rkb_error_t err;
   rkb_http_request_t request = request_for(url, "/never-ending");
   request.event = on_event;
   request.done = on_done;
   request.arg = &outcome;
   request.reply_limit = SIZE_MAX;
   /* From an event. */
   assert_int_equal(rkb_http_start(http, &request, &outcome.transfer, &err), RKB_OK);
   rkb_loop_run(loop);
   assert_int_equal(outcome.calls, 1);
   expect(&outcome, RKB_HTTP_CANCELLED);
   assert_int_equal(outcome.events, 1);
   assert_int_equal(rkb_http_state(http).sockets, 0);
   until_server_is_alone();
   /* Before it began. */
   outcome = (outcome_t){0};
   assert_int_equal(rkb_http_start(http, &request, &outcome.transfer, &err), RKB_OK);
   rkb_http_cancel(outcome.transfer);
   rkb_loop_run(loop);
   expect(&outcome, RKB_HTTP_CANCELLED);
   assert_false(outcome.reply.sent);
}

static void cancel_transfer(void *argument) {
   rkb_http_cancel(((outcome_t *)argument)->transfer);
}

/* After the only event, when the server has fallen silent. */
static void cancel_soon(void *argument, const rkb_http_event_t *event) {
   on_event(argument, event);
   assert_non_null(rkb_timer_start(loop, 10 * MILLISECOND, cancel_transfer, argument));
}

static void cancelling_ends_a_wait(void **state) {
   (void)state;
   char url[128];
   outcome_t outcome = {0};
   rkb_error_t err;
   rkb_http_request_t request = request_for(url, "/one-event-then-silence");
   request.done = on_done;
   request.event = cancel_soon;
   request.arg = &outcome;
   assert_int_equal(rkb_http_start(http, &request, &outcome.transfer, &err), RKB_OK);
   rkb_loop_run(loop);
   expect(&outcome, RKB_HTTP_CANCELLED);
   assert_true(outcome.reply.sent);
   until_server_is_alone();
}

static void closing_the_client_ends_everything_once(void **state) {
   (void)state;
   char url[128];
   outcome_t outcomes[40];
   rkb_error_t err;
   rkb_http_request_t request = request_for(url, "/silence");
   memset(outcomes, 0, sizeof outcomes);
   request.done = on_done;
   for (unsigned i = 0; i < 40; i++) {
      request.arg = &outcomes[i];
      assert_int_equal(rkb_http_start(http, &request, NULL, &err), RKB_OK);
   }
   for (unsigned i = 0; i < 20; i++)
      uv_run(rkb_loop_uv(loop), UV_RUN_NOWAIT);
   rkb_http_free(http);
   for (unsigned i = 0; i < 40; i++) {
      assert_int_equal(outcomes[i].calls, 1);
      assert_int_equal(outcomes[i].reply.outcome, RKB_HTTP_CANCELLED);
   }
   rkb_loop_run(loop); /* on_done asked it to stop */
   open_client(true);
   until_server_is_alone();
}

typedef struct crowd {
   unsigned left, good;
} crowd_t;

static void one_of_a_crowd(void *argument, const rkb_http_reply_t *reply) {
   crowd_t *crowd = argument;
   crowd->good += reply->outcome == RKB_HTTP_DONE && reply->streamed;
   if (--crowd->left == 0)
      rkb_loop_stop(loop);
}

static void ignore_event(void *argument, const rkb_http_event_t *event) {
   (void)argument;
   (void)event;
}

/* Against a server that never answers the handshake. */
static void connections_are_opened_a_few_at_a_time(void **state) {
   (void)state;
   char url[128];
   rkb_error_t err;
   crowd_t crowd = {.left = 100};
   snprintf(url, sizeof url, "https://localhost:%d/", server.silent);
   rkb_http_request_t request = {
      .url = url, .done = one_of_a_crowd, .arg = &crowd, .connect_ns = 400 * MILLISECOND};
   for (unsigned i = 0; i < 100; i++)
      assert_int_equal(rkb_http_start(http, &request, NULL, &err), RKB_OK);
   while (crowd.left == 100) {
      uv_run(rkb_loop_uv(loop), UV_RUN_ONCE);
      assert_in_range(rkb_http_state(http).connecting, 0, 8);
      if (crowd.left == 100 && rkb_http_state(http).waiting < 100 - 8)
         fail();
   }
   assert_in_range(rkb_http_state(http).waiting, 80, 92);
   assert_int_equal(crowd.good, 0);
}

static void a_hundred_streams_run_side_by_side(void **state) {
   (void)state;
   char url[128];
   rkb_error_t err;
   crowd_t crowd = {.left = 100};
   snprintf(url, sizeof url, "https://localhost:%d/paced/4", server.tls);
   rkb_http_request_t request = {.url = url, .event = ignore_event, .done = one_of_a_crowd, .arg = &crowd};
   for (unsigned i = 0; i < 100; i++)
      assert_int_equal(rkb_http_start(http, &request, NULL, &err), RKB_OK);
   rkb_loop_run(loop);
   assert_int_equal(crowd.good, 100);
}

static void what_is_no_request_is_refused(void **state) {
   (void)state;
   static const char *const urls[] = {"",        "localhost",  "ftp://localhost/", "file:///etc/passwd",
                                      "http://", "http://a b/"};
   static const char *const split[] = {"X: a\r\nInjected: b", NULL}, *const colonless[] = {"no colon", NULL};
   rkb_error_t err;
   outcome_t outcome = {0};
   rkb_http_request_t request = {.done = on_done, .arg = &outcome};
   for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
      request.url = urls[i];
      assert_int_equal(rkb_http_start(http, &request, NULL, &err), RKB_ERR_INVALID);
   }
   request.url = "http://127.0.0.1/";
   request.headers = split;
   assert_int_equal(rkb_http_start(http, &request, NULL, &err), RKB_ERR_INVALID);
   request.headers = colonless;
   assert_int_equal(rkb_http_start(http, &request, NULL, &err), RKB_ERR_INVALID);
   request.headers = NULL;
   request.done = NULL;
   assert_int_equal(rkb_http_start(http, &request, NULL, &err), RKB_ERR_INVALID);
   assert_int_equal(outcome.calls, 0);
}

#define WITH_CLIENT(test) cmocka_unit_test_setup_teardown(test, open_trusting_client, close_client)

int main(void) {
   const struct CMUnitTest tests[] = {WITH_CLIENT(a_reply_comes_whole),
                                      WITH_CLIENT(a_request_arrives_as_it_was_given),
                                      WITH_CLIENT(errors_of_the_server_are_replies),
                                      WITH_CLIENT(redirects_are_not_followed),
                                      WITH_CLIENT(the_last_head_of_a_reply_counts),
                                      WITH_CLIENT(chunks_are_joined),
                                      WITH_CLIENT(events_arrive),
                                      WITH_CLIENT(a_stream_that_just_stops_is_marked),
                                      WITH_CLIENT(a_stall_meets_the_idle_limit),
                                      WITH_CLIENT(a_trickle_meets_the_total_limit),
                                      WITH_CLIENT(a_slow_stream_is_not_idle),
                                      WITH_CLIENT(a_reply_without_end_meets_its_size),
                                      WITH_CLIENT(fifty_megabytes_pass_where_allowed),
                                      WITH_CLIENT(deaths_are_told),
                                      WITH_CLIENT(a_server_that_is_not_there_saw_nothing),
                                      WITH_CLIENT(a_name_lookup_that_hangs_is_left_alone),
                                      WITH_CLIENT(tls_is_verified),
                                      WITH_CLIENT(a_handshake_that_hangs_meets_the_connect_limit),
                                      WITH_CLIENT(proxies_come_from_the_environment),
                                      WITH_CLIENT(cancelling_frees_the_socket),
                                      WITH_CLIENT(cancelling_ends_a_wait),
                                      WITH_CLIENT(closing_the_client_ends_everything_once),
                                      WITH_CLIENT(connections_are_opened_a_few_at_a_time),
                                      WITH_CLIENT(a_hundred_streams_run_side_by_side),
                                      WITH_CLIENT(what_is_no_request_is_refused)};
   return cmocka_run_group_tests(tests, start_server, stop_server);
}
