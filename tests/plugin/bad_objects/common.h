/* What the plugins that break a rule share, those that are refused when they are loaded and those of tests/stage that break it in a run: a verifier
 * that keeps the contract, for each file to break in one place. */
#ifndef RKB_TESTS_PLUGIN_BAD_OBJECTS_COMMON_H
#define RKB_TESTS_PLUGIN_BAD_OBJECTS_COMMON_H

#include <rkb/draft/asynchronous.h>
#include <rkb/items.h>
#include <stdlib.h>

typedef struct stage {
   const rkb_host_t *host;
} stage_t;

static inline int good_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   stage_t *stage = calloc(1, sizeof *stage);
   (void)config;
   if (!stage)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   stage->host = host;
   *self = stage;
   return RKB_OK;
}

static inline int good_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   (void)in;
   (void)err;
   return rkb_emit_verdict(((const stage_t *)self)->host, job, RKB_ACCEPT, "", "good");
}

static inline const rkb_asynchronous_api_t *asynchronous(const rkb_host_t *host) {
   return host->get_extension(host, RKB_DRAFT_ASYNCHRONOUS);
}

/* For create: jobs go to submit from here on. */
static inline int serve_with(const rkb_host_t *host, const rkb_asynchronous_stage_t *stage, void **self,
                             rkb_error_t *err) {
   int status = asynchronous(host)->serve(host, stage, err);
   return status == RKB_OK ? good_create(host, NULL, self, err) : status;
}

static inline void good_destroy(void *self) {
   free(self);
}

static const char *const CANDIDATE[] = {"candidate", NULL}, *const VERDICT[] = {"verdict", NULL};

#define STAGE_SIZED(name, bytes)                                                                             \
   .size = (bytes), .kind = RKB_VERIFIER, .id = "bad.verifier." name, .summary = "Breaks one rule.",         \
   .accepts = CANDIDATE, .emits = VERDICT
#define STAGE_HEAD(name) STAGE_SIZED(name, sizeof(rkb_stage_t))
/* A stage that is called through submit. */
#define ASYNCHRONOUS(name, ...)                                                                              \
   static int create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {            \
      static const rkb_asynchronous_stage_t stage = {.size = sizeof stage, __VA_ARGS__};                     \
      (void)config;                                                                                          \
      return serve_with(host, &stage, self, err);                                                            \
   }                                                                                                         \
   static const rkb_stage_t BAD = {STAGE_HEAD(name), .create = create, .run = good_run,                      \
                                   .destroy = good_destroy}
#define EXPORT(stage)                                                                                        \
   static const rkb_stage_t *const STAGES[] = {&stage, NULL};                                                \
   RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {RKB_PLUGIN_HEAD, .name = "bad", .version = "1",         \
                                                     .stages = STAGES}

#endif
