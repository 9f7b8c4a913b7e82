/* A verifier: rejects a candidate with a kernel that spills more registers than it may. */
#include <stdio.h>
#include <stdlib.h>
#include <rkb/ext/kernel.h>
#include <rkb/items.h>

typedef struct spills_config {
   int64_t most;
} spills_config_t;

typedef struct spills {
   const rkb_host_t *host;
   const spills_config_t *config;
   const rkb_kernel_api_t *kernel;
} spills_t;

static const rkb_option_t options[] = {
   {.name = "most", .type = RKB_OPT_INT, .offset = offsetof(spills_config_t, most), .fallback = "0", .min = 0, .max = 65536,
    .help = "Bytes that a thread may spill."},
};

static int spills_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   spills_t *me = malloc(sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   *me = (spills_t){host, config, host->get_extension(host, RKB_EXT_KERNEL)};
   *self = me;
   return RKB_OK;
}

/* A status says whether the work could be done; what was found is the verdict. */
static int spills_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const spills_t *me = self;
   rkb_build_t *build = NULL;
   rkb_finding_t finding = {0};
   int status = me->kernel->build(me->host, job, in, 0, &build, &finding, err);
   if (status != RKB_OK)
      return status;
   if (!build)
      return rkb_fail(err, RKB_ERR_INTERNAL, "the candidate has no build: %s", finding.message);
   const rkb_built_kernel_t *worst = NULL;
   for (uint32_t k = 0; k < build->kernel_count; k++)
      if (build->kernels[k].spill_store_bytes > me->config->most && (!worst || build->kernels[k].spill_store_bytes > worst->spill_store_bytes))
         worst = &build->kernels[k];
   if (worst) {
      char message[256], evidence[256];
      snprintf(message, sizeof message, "%.100s spills %u bytes a thread; at most %lld are wanted", worst->expression,
               (unsigned)worst->spill_store_bytes, (long long)me->config->most);
      snprintf(evidence, sizeof evidence, "{\"got\": %u, \"bound\": %lld}", (unsigned)worst->spill_store_bytes,
               (long long)me->config->most);
      status = rkb_emit_verdict_full(me->host, job, RKB_REJECT, "outside.spills", message, evidence, NULL);
   } else {
      status = rkb_emit_verdict(me->host, job, RKB_ACCEPT, "", "no kernel spills more than it may");
   }
   me->kernel->build_free(build);
   return status;
}

static void spills_destroy(void *self) {
   free(self);
}

static const rkb_stage_t spills = {
   .size = sizeof(rkb_stage_t), .kind = RKB_VERIFIER, .flags = RKB_STAGE_NEEDS_BUILD | RKB_STAGE_DETERMINISTIC,
   .id = "outside.verifier.spills", .summary = "Rejects kernels that spill registers.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_VERDICT, NULL},
   RKB_OPTIONS(options), .config_size = sizeof(spills_config_t),
   .create = spills_create, .run = spills_run, .destroy = spills_destroy,
   .needs = (const char *const[]){RKB_EXT_KERNEL, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD, .name = "spills", .version = "1.0", .stages = (const rkb_stage_t *const[]){&spills, NULL},
};
