/* The host of rkb-plugin-test.  Callbacks come from any thread; the mutex guards everything behind the interface. */
#include "tools/plugin_test/trial_host.h"

#include <rkb/ext/conversation.h>
#include <rkb/ext/random.h>
#include <string.h>
#include <time.h>
#include "base/random.h"
#include "stage/versioned_structure.h"
#include "stage/item.h"
#include "system/conversation.h"

static test_host_t *of(const rkb_host_t *host) {
   return (test_host_t *)host;
}

static void host_log(const rkb_host_t *host, int level, const char *file, int line, const char *text) {
   (void)level, (void)file, (void)line;
   fprintf(stderr, "%s: %s\n", host->instance_name, text);
}

static rkb_random_t random_for_job(const rkb_host_t *host, rkb_job_t job, uint32_t child) {
   (void)job;
   return rkb_random_stream(1, host->instance_name, 0, child);
}

static void post(const rkb_host_t *host, void (*fn)(void *arg), void *arg) {
   test_host_t *test = of(host);
   pthread_mutex_lock(&test->mutex);
   if (test->post_count < HOST_MAX_POSTS) {
      test->posts[test->post_count].fn = fn;
      test->posts[test->post_count++].arg = arg;
   }
   pthread_cond_signal(&test->changed);
   pthread_mutex_unlock(&test->mutex);
}

static void job_complete(const rkb_host_t *host, rkb_job_t job, int status, const rkb_error_t *err) {
   test_host_t *test = of(host);
   pthread_mutex_lock(&test->mutex);
   test->wrong_job += job != HOST_JOB;
   test->completions++;
   test->status = status;
   if (err)
      test->error = *err;
   pthread_cond_signal(&test->changed);
   pthread_mutex_unlock(&test->mutex);
}

static void stage_stopped(const rkb_host_t *host) {
   test_host_t *test = of(host);
   pthread_mutex_lock(&test->mutex);
   test->stopped = true;
   pthread_cond_signal(&test->changed);
   pthread_mutex_unlock(&test->mutex);
}

static int serve(const rkb_host_t *host, const rkb_asynchronous_stage_t *stage, rkb_error_t *err) {
   test_host_t *test = of(host);
   if (!test->creating || test->asynchronous.submit)
      return rkb_fail(err, RKB_ERR_CONTRACT, "serve is for a stage's create, and for one call there");
   int status = rkb_versioned_read(&test->asynchronous, sizeof test->asynchronous, stage,
                               sizeof test->asynchronous, "rkb_asynchronous_stage_t", err);
   if (status == RKB_OK && !test->asynchronous.submit)
      status = rkb_fail(err, RKB_ERR_CONTRACT, "serve was given a stage without submit");
   return status;
}

static int open_conversation(const rkb_host_t *host, const rkb_conversation_spec_t *given, rkb_conversation_t **conversation,
                             rkb_error_t *err) {
   rkb_conversation_spec_t spec;
   (void)host;
   if (rkb_versioned_read(&spec, sizeof spec, given, sizeof spec, "rkb_conversation_spec_t", err) != RKB_OK)
      return RKB_ERR_CONTRACT;
   return conversation_open(&spec, conversation, err);
}

static int ask(const rkb_host_t *host, rkb_conversation_t *conversation, rkb_job_t job, const char *line, rkb_conversation_read_t read,
               void *argument, rkb_error_t *err) {
   of(host)->wrong_job += job != 0 && job != HOST_JOB; /* a strategy has no jobs: 0 */
   return conversation_ask(conversation, line, 0, NULL, NULL, read, argument, err);
}

static const void *host_get_extension(const rkb_host_t *host, const char *id) {
   static const rkb_random_api_t random_api = {.size = sizeof random_api,
                                               .for_job = random_for_job,
                                               .next = rkb_random_next,
                                               .below = rkb_random_below,
                                               .real = rkb_random_real,
                                               .normal = rkb_random_normal};
   static const rkb_asynchronous_api_t asynchronous_api = {.size = sizeof asynchronous_api,
                                                           .serve = serve,
                                                           .post = post,
                                                           .job_complete = job_complete,
                                                           .stage_stopped = stage_stopped};
   static const rkb_conversation_api_t conversation_api = {
      .size = sizeof conversation_api, .open = open_conversation, .ask = ask, .close = conversation_close};
   (void)host;
   if (strcmp(id, RKB_EXT_RANDOM) == 0)
      return &random_api;
   if (strcmp(id, RKB_EXT_CONVERSATION) == 0)
      return &conversation_api;
   return strcmp(id, RKB_DRAFT_ASYNCHRONOUS) == 0 ? &asynchronous_api : NULL;
}

static void host_job_emit(const rkb_host_t *host, rkb_job_t job, rkb_item_t *item) {
   test_host_t *test = of(host);
   pthread_mutex_lock(&test->mutex);
   test->items_alive--;
   test->wrong_job += job != HOST_JOB;
   if (test->emitted_count < HOST_MAX_EMITTED)
      test->emitted[test->emitted_count++] = item;
   else
      rkb_item_unref(item);
   pthread_mutex_unlock(&test->mutex);
}

static bool host_job_cancelled(const rkb_host_t *host, rkb_job_t job) {
   (void)host;
   return job != HOST_JOB;
}

static uint64_t host_job_deadline(const rkb_host_t *host, rkb_job_t job) {
   (void)host, (void)job;
   return 0;
}

static void count_item(const rkb_host_t *host, int change) {
   test_host_t *test = of(host);
   pthread_mutex_lock(&test->mutex);
   test->items_alive += change;
   pthread_mutex_unlock(&test->mutex);
}

static rkb_item_t *host_item_new(const rkb_host_t *host, const char *type) {
   count_item(host, 1);
   return rkb_item_new(type);
}

static rkb_item_t *host_item_ref(const rkb_host_t *host, const rkb_item_t *item) {
   count_item(host, 1);
   return rkb_item_ref(item);
}

static void host_item_unref(const rkb_host_t *host, rkb_item_t *item) {
   if (item)
      count_item(host, -1);
   rkb_item_unref(item);
}

/* The engine's functions for items, without the host that the interface passes along. */
#define FORWARD(result, name, parameters, ...)                                                               \
   static result host_##name parameters {                                                                    \
      (void)host;                                                                                            \
      return rkb_##name(__VA_ARGS__);                                                                        \
   }
FORWARD(const char *, item_type, (const rkb_host_t *host, const rkb_item_t *item), item)
FORWARD(int, item_set_int, (const rkb_host_t *host, rkb_item_t *item, const char *key, int64_t value), item,
        key, value)
FORWARD(bool, item_int, (const rkb_host_t *host, const rkb_item_t *item, const char *key, int64_t *value),
        item, key, value)
FORWARD(int, item_set_real, (const rkb_host_t *host, rkb_item_t *item, const char *key, double value), item,
        key, value)
FORWARD(bool, item_real, (const rkb_host_t *host, const rkb_item_t *item, const char *key, double *value),
        item, key, value)
FORWARD(int, item_set_text, (const rkb_host_t *host, rkb_item_t *item, const char *key, const char *text),
        item, key, text)
FORWARD(const char *, item_text, (const rkb_host_t *host, const rkb_item_t *item, const char *key), item, key)
FORWARD(int, item_set_json, (const rkb_host_t *host, rkb_item_t *item, const char *key, const char *json),
        item, key, json)
FORWARD(const char *, item_json, (const rkb_host_t *host, const rkb_item_t *item, const char *key), item, key)
FORWARD(int, item_set_blob,
        (const rkb_host_t *host, rkb_item_t *item, const char *key, const void *data, size_t bytes), item,
        key, data, bytes)
FORWARD(const void *, item_blob,
        (const rkb_host_t *host, const rkb_item_t *item, const char *key, size_t *bytes), item, key, bytes)
FORWARD(int, item_add_reference,
        (const rkb_host_t *host, rkb_item_t *item, const char *role, const rkb_item_t *other), item, role,
        other)
FORWARD(uint32_t, item_reference_count, (const rkb_host_t *host, const rkb_item_t *item, const char *role),
        item, role)
FORWARD(const rkb_item_t *, item_reference,
        (const rkb_host_t *host, const rkb_item_t *item, const char *role, uint32_t index), item, role, index)

void test_host_init(test_host_t *host, const char *instance_name) {
   *host = (test_host_t){.host = {.size = sizeof host->host,
                                  .abi_major = RKB_ABI_MAJOR,
                                  .abi_minor = RKB_ABI_MINOR,
                                  .log_level = RKB_LOG_WARN,
                                  .instance_name = instance_name,
                                  .log = host_log,
                                  .get_extension = host_get_extension,
                                  .job_emit = host_job_emit,
                                  .job_cancelled = host_job_cancelled,
                                  .job_deadline = host_job_deadline,
                                  .item_new = host_item_new,
                                  .item_ref = host_item_ref,
                                  .item_unref = host_item_unref,
                                  .item_type = host_item_type,
                                  .item_set_int = host_item_set_int,
                                  .item_int = host_item_int,
                                  .item_set_real = host_item_set_real,
                                  .item_real = host_item_real,
                                  .item_set_text = host_item_set_text,
                                  .item_text = host_item_text,
                                  .item_set_json = host_item_set_json,
                                  .item_json = host_item_json,
                                  .item_set_blob = host_item_set_blob,
                                  .item_blob = host_item_blob,
                                  .item_add_reference = host_item_add_reference,
                                  .item_reference_count = host_item_reference_count,
                                  .item_reference = host_item_reference}};
   pthread_mutex_init(&host->mutex, NULL);
   pthread_cond_init(&host->changed, NULL);
}

bool test_host_offers(const test_host_t *host, const char *id, const char *const *needs, report_t *report) {
   for (; needs && *needs; needs++)
      if (!host->host.get_extension(&host->host, *needs)) {
         report_untried(report,
                        "%s: it needs the extension %s, which is not offered here: try it in a pipeline", id,
                        *needs);
         return false;
      }
   return true;
}

/* Runs the posted functions without holding the mutex, because they may post again. */
static void run_posts(test_host_t *host) {
   for (uint32_t i = 0; i < host->post_count; i++) {
      void (*fn)(void *arg) = host->posts[i].fn;
      void *arg = host->posts[i].arg;
      pthread_mutex_unlock(&host->mutex);
      fn(arg);
      pthread_mutex_lock(&host->mutex);
   }
   host->post_count = 0;
}

bool test_host_wait(test_host_t *host, bool (*done)(const test_host_t *host), int milliseconds) {
   struct timespec until;
   bool reached;
   int waited = 0;
   clock_gettime(CLOCK_MONOTONIC, &until);
   until.tv_sec += milliseconds / 1000;
   until.tv_nsec += milliseconds % 1000 * 1000000L;
   if (until.tv_nsec >= 1000000000L) {
      until.tv_sec++;
      until.tv_nsec -= 1000000000L;
   }
   pthread_mutex_lock(&host->mutex);
   run_posts(host);
   while (!done(host) && waited == 0) {
      waited = pthread_cond_clockwait(&host->changed, &host->mutex, CLOCK_MONOTONIC, &until);
      run_posts(host);
   }
   reached = done(host);
   pthread_mutex_unlock(&host->mutex);
   return reached;
}

void test_host_free(test_host_t *host) {
   for (uint32_t i = 0; i < host->emitted_count; i++)
      rkb_item_unref(host->emitted[i]);
   pthread_cond_destroy(&host->changed);
   pthread_mutex_destroy(&host->mutex);
}
