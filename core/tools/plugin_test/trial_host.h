/* A host for one instance under test: items as the engine makes them, one job, and three extensions: random
 * streams, conversations with programs, and the draft for stages that complete their jobs later. */
#ifndef RKB_TOOLS_PLUGIN_TEST_TRIAL_HOST_H
#define RKB_TOOLS_PLUGIN_TEST_TRIAL_HOST_H

#include <pthread.h>
#include <rkb/draft/asynchronous.h>
#include "tools/plugin_test/trial_lines.h"

enum { HOST_MAX_EMITTED = 256, HOST_MAX_POSTS = 256 };
#define HOST_JOB ((rkb_job_t)0x100000001) /* the one job's handle */

typedef struct test_host {
   rkb_host_t host; /* comes first, so that callbacks get from it to the rest */
   pthread_mutex_t mutex;
   pthread_cond_t changed;
   rkb_asynchronous_stage_t asynchronous; /* all zero unless create called serve */
   bool creating;
   rkb_item_t *emitted[HOST_MAX_EMITTED];
   uint32_t emitted_count;
   int completions, status; /* of HOST_JOB */
   rkb_error_t error;
   bool stopped;
   int64_t items_alive; /* items that the plugin made or referenced and has not released */
   int wrong_job;       /* calls with another job than HOST_JOB */
   struct {
      void (*fn)(void *arg);
      void *arg;
   } posts[HOST_MAX_POSTS];
   uint32_t post_count;
} test_host_t;

void test_host_init(test_host_t *host, const char *instance_name);
/* Whether all extensions in needs are offered; otherwise says, for the stage or strategy id, which one is not. */
bool test_host_offers(const test_host_t *host, const char *id, const char *const *needs, report_t *report);
/* Runs what was posted, on the calling thread, until done(host) holds or the milliseconds have passed;
 * returns whether it holds. */
bool test_host_wait(test_host_t *host, bool (*done)(const test_host_t *host), int milliseconds);
/* Frees the host and the items that were emitted. */
void test_host_free(test_host_t *host);

#endif
