/* Stages that fail, hang and linger: what a run has to live with. */
#include <rkb/draft/process.h>
#include <rkb/items.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct config {
   int64_t failures, on;
   const char *status, *file;
} config_t;

typedef struct stage {
   const rkb_host_t *host;
   const config_t *config;
   int64_t calls;
} stage_t;

static int create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   stage_t *stage = calloc(1, sizeof *stage);
   if (!stage)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   stage->host = host;
   stage->config = config;
   *self = stage;
   return RKB_OK;
}

static void destroy(void *self) {
   free(self);
}

static int64_t number_of(const stage_t *stage, const rkb_item_t *item) {
   return strtoll(stage->host->item_text(stage->host, item, "source"), NULL, 10);
}

/* Fails the first calls as a tool does that is not there yet. */
static int flaky_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   stage_t *stage = self;
   (void)in;
   if (stage->calls++ < stage->config->failures)
      return rkb_fail(err,
                      strcmp(stage->config->status, "invalid") == 0 ? RKB_ERR_INVALID : RKB_ERR_UNAVAILABLE,
                      "not there");
   return rkb_emit_verdict(stage->host, job, RKB_ACCEPT, "", "there at last");
}

/* Never returns for one number. */
static int deaf_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const stage_t *stage = self;
   (void)err;
   while (number_of(stage, in) == stage->config->on) {
      struct timespec second = {.tv_sec = 1};
      nanosleep(&second, NULL);
   }
   return rkb_emit_verdict(stage->host, job, RKB_ACCEPT, "", "came back");
}

/* Never returns for one number unless it is asked to. */
static int slow_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const stage_t *stage = self;
   while (number_of(stage, in) == stage->config->on) {
      struct timespec moment = {.tv_nsec = 5000000};
      if (stage->host->job_cancelled(stage->host, job))
         return rkb_fail(err, RKB_ERR_CANCELLED, "asked to end");
      nanosleep(&moment, NULL);
   }
   return rkb_emit_verdict(stage->host, job, RKB_ACCEPT, "", "came back");
}

/* A shell that leaves a grandchild behind; the grandchild writes its process number to a file. */
static int family_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const stage_t *stage = self;
   const rkb_process_api_t *process = stage->host->get_extension(stage->host, RKB_DRAFT_PROCESS);
   char script[512];
   (void)in;
   snprintf(script, sizeof script, "(echo $$ >'%s'; exec sleep 600) & sh -c 'sleep 600' & wait",
            stage->config->file);
   const char *const arguments[] = {"/bin/sh", "-c", script, NULL}, *const environment[] = {
                                                                       "PATH=/usr/bin:/bin", NULL};
   rkb_process_spec_t spec = {.size = sizeof spec, .arguments = arguments, .environment = environment};
   rkb_process_result_t *result = NULL;
   int status = process->run(stage->host, job, &spec, &result, err);
   if (status == RKB_OK)
      status = rkb_fail(err, result->cancelled || result->timed_out ? RKB_ERR_TIMEOUT : RKB_ERR_INTERNAL,
                        "the family ended");
   process->free(result);
   return status;
}

/* Says nothing the first times, which the contract forbids a verifier. */
static int mute_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   stage_t *stage = self;
   (void)in;
   (void)err;
   return stage->calls++ < stage->config->failures
             ? RKB_OK
             : rkb_emit_verdict(stage->host, job, RKB_ACCEPT, "", "speaks at last");
}

#define AT(member) offsetof(config_t, member)
static const rkb_option_t OPTIONS[] = {
   {.name = "failures",
    .type = RKB_OPT_INT,
    .offset = AT(failures),
    .fallback = "0",
    .help = "Calls that fail first."},
   {.name = "on", .type = RKB_OPT_INT, .offset = AT(on), .fallback = "0", .help = "The number it hangs on."},
   {.name = "status",
    .type = RKB_OPT_STRING,
    .offset = AT(status),
    .fallback = "unavailable",
    .help = "How it fails."},
   {.name = "file",
    .type = RKB_OPT_STRING,
    .offset = AT(file),
    .fallback = "/dev/null",
    .help = "Where the grandchild signs."}};
static const char *const CANDIDATE[] = {"candidate", NULL}, *const VERDICT[] = {"verdict", NULL};

#define STAGE(name, what)                                                                                    \
   {                                                                                                         \
      .size = sizeof(rkb_stage_t), .kind = RKB_VERIFIER, .flags = RKB_STAGE_DETERMINISTIC,                   \
      .id = "test.verifier." #name, .summary = what, .accepts = CANDIDATE, .emits = VERDICT,                 \
      RKB_OPTIONS(OPTIONS), .config_size = sizeof(config_t), .create = create, .run = name##_run,            \
      .destroy = destroy                                                                                     \
   }
static const rkb_stage_t FLAKY = STAGE(flaky, "Fails at first.");
static const rkb_stage_t DEAF = STAGE(deaf, "Never ends.");
static const rkb_stage_t SLOW = STAGE(slow, "Ends when it is asked to.");
static const rkb_stage_t FAMILY = STAGE(family, "Leaves grandchildren.");
static const rkb_stage_t MUTE = STAGE(mute, "Says nothing at first.");
static const rkb_stage_t *const STAGES[] = {&FLAKY, &DEAF, &SLOW, &FAMILY, &MUTE, NULL};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {RKB_PLUGIN_HEAD, .name = "awkward", .version = "1",
                                                  .stages = STAGES};
