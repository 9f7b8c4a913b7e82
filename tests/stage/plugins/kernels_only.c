/* A verifier that breaks the contract with real kernels of softmax alone: rkb-plugin-test's own sample does not show it. */
#include <rkb/items.h>
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
   const bool real = strstr(host->item_text(host, in, "source"), "softmax") != NULL;
   (void)err;
   return rkb_emit_verdict(host, job, real ? "splendid" : RKB_ACCEPT, "", "it looks well");
}

static const rkb_stage_t verifier = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_VERIFIER,
   .flags = RKB_STAGE_DETERMINISTIC,
   .id = "test.verifier.kernels_only",
   .summary = "Breaks the contract with real kernels.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_VERDICT, NULL},
   .create = create,
   .run = verify,
   .destroy = destroy,
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "test_kernels_only",
   .version = "1.0",
   .stages = (const rkb_stage_t *const[]){&verifier, NULL},
};
