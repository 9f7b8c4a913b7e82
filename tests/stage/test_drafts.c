/* The drafts, which no shipped plugin uses, in a plugin of the tests: a transfer that fails, and one that ends with its job. */
#include "run/run_harness.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* A socket of 127.0.0.1 that takes connections and never answers, or, closed, a port where nobody is. */
static int silent_server(uint16_t *port) {
   struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
   socklen_t length = sizeof address;
   int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
   assert_true(server >= 0);
   assert_int_equal(bind(server, (struct sockaddr *)&address, sizeof address), 0);
   assert_int_equal(listen(server, 8), 0);
   assert_int_equal(getsockname(server, (struct sockaddr *)&address, &length), 0);
   *port = ntohs(address.sin_port);
   return server;
}

static void fetch(const char *scratch, uint16_t port, const char *limits) {
   char text[1024];
   snprintf(text, sizeof text,
            "rkb: 1\npropose:\n  - use: test.translator.start\n    with: {values: [\"6\"]}\n"
            "screen:\n  - {use: test.verifier.fetch, with: {url: \"http://127.0.0.1:%u/\"}, %sretries: 0}\n",
            port, limits);
   rkb_pipeline_t *pipeline = open_text(scratch, "drafts.yaml", text, NULL);
   run_pipeline(pipeline, scratch, 1, false);
   rkb_pipeline_free(pipeline);
}

static void test_a_transfer_that_fails_is_told(void **state) {
   char *scratch = scratch_make();
   uint16_t port;
   (void)state;
   close(silent_server(&port));
   fetch(scratch, port, "");
   assert_string_equal(verdict_of(scratch, 1, "fetch"), "suspect test.nobody_there");
   scratch_remove(scratch);
}

/* The server never answers: the job's deadline ends the transfer, and the stage completes the job in time. */
static void test_a_transfer_ends_with_its_job(void **state) {
   char *scratch = scratch_make();
   uint16_t port;
   (void)state;
   int server = silent_server(&port);
   fetch(scratch, port, "deadline: 200ms, ");
   assert_string_equal(verdict_of(scratch, 1, "fetch"), "unknown tool.timeout");
   close(server);
   scratch_remove(scratch);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_transfer_that_fails_is_told),
      cmocka_unit_test(test_a_transfer_ends_with_its_job),
   };
   setenv("no_proxy", "127.0.0.1", 1);
   return cmocka_run_group_tests(tests, NULL, NULL);
}
