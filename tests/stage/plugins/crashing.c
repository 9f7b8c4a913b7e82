/* A verifier and a mutator that crash the program, at one candidate and when they propose. */
#include <rkb/items.h>
#include <signal.h>
#include <string.h>

static int create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   (void)config;
   (void)err;
   *self = (void *)host;
   return RKB_OK;
}

static void destroy(void *self) {
   (void)self;
}

static int verify(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const rkb_host_t *host = self;
   (void)err;
   if (strcmp(host->item_text(host, in, "source"), "10") == 0)
      raise(SIGSEGV);
   return rkb_emit_verdict(host, job, RKB_ACCEPT, "", "it is not 10");
}

static int propose(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   (void)self;
   (void)job;
   (void)in;
   (void)err;
   raise(SIGFPE);
   return RKB_OK;
}

static const rkb_stage_t verifier = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_VERIFIER,
   .flags = RKB_STAGE_DETERMINISTIC,
   .id = "test.verifier.crashing",
   .summary = "Crashes at the candidate 10.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_VERDICT, NULL},
   .create = create,
   .run = verify,
   .destroy = destroy,
};

static const rkb_stage_t mutator = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_MUTATOR,
   .flags = RKB_STAGE_DETERMINISTIC,
   .id = "test.mutator.crashing",
   .summary = "Crashes when it proposes.",
   .accepts = (const char *const[]){RKB_ITEM_REQUEST, NULL},
   .emits = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .create = create,
   .run = propose,
   .destroy = destroy,
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "test_crashing",
   .version = "1.0",
   .stages = (const rkb_stage_t *const[]){&verifier, &mutator, NULL},
};
