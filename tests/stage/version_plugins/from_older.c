/* Compiled against the headers of each older minor (old_headers/1.OLD_MINOR): a verifier with an option, and a strategy. */
#include <stdlib.h>
#include <rkb/items.h>
#include <rkb/strategy.h>

_Static_assert(RKB_ABI_MAJOR == 1 && RKB_ABI_MINOR == OLD_MINOR, "these are not the older headers");

typedef struct config {
   int64_t most;
} config_t;

typedef struct stage {
   const rkb_host_t *host;
   const config_t *config;
} stage_t;

static int create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   stage_t *stage = malloc(sizeof *stage);
   if (!stage)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   *stage = (stage_t){host, config};
   *self = stage;
   return RKB_OK;
}

static int run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const stage_t *stage = self;
   const char *source = stage->host->item_text(stage->host, in, "source");
   if (!source)
      return rkb_fail(err, RKB_ERR_CONTRACT, "the candidate has no source");
   bool most = strtoll(source, NULL, 10) <= stage->config->most;
   return rkb_emit_verdict(stage->host, job, most ? RKB_ACCEPT : RKB_REJECT, most ? "" : "old.too_much",
                           "compared");
}

static void destroy(void *self) {
   free(self);
}

static const rkb_option_t OPTIONS[] = {{.name = "most",
                                        .type = RKB_OPT_INT,
                                        .offset = offsetof(config_t, most),
                                        .fallback = "8",
                                        .help = "The most."}};

static const rkb_stage_t MOST = {.size = sizeof(rkb_stage_t),
                                 .kind = RKB_VERIFIER,
                                 .flags = RKB_STAGE_DETERMINISTIC,
                                 .id = "old.verifier.most",
                                 .summary = "Rejects a number that is too large.",
                                 .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
                                 .emits = (const char *const[]){RKB_ITEM_VERDICT, NULL},
                                 RKB_OPTIONS(OPTIONS),
                                 .config_size = sizeof(config_t),
                                 .create = create,
                                 .run = run,
                                 .destroy = destroy};

/* Asks for a child of the first candidate it was told of, three times. */
typedef struct first {
   int64_t parent;
   int asked;
} first_t;

static int first_create(const rkb_host_t *host, const void *config, const rkb_setup_t *setup,
                        rkb_random_t stream, void **self, rkb_error_t *err) {
   (void)host, (void)config, (void)setup, (void)stream;
   *self = calloc(1, sizeof(first_t));
   return *self ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
}

static int first_ask(void *self, rkb_request_t *out, rkb_error_t *err) {
   first_t *first = self;
   (void)err;
   if (first->asked++ == 3)
      return RKB_ASK_DONE;
   out->parent_count = 1;
   out->parents[0] = first->parent;
   return RKB_ASK_OK;
}

static int first_tell(void *self, const rkb_result_t *result, rkb_error_t *err) {
   first_t *first = self;
   (void)err;
   if (!first->parent && result->candidate_count)
      first->parent = result->candidates[0]->number;
   return RKB_OK;
}

static const rkb_strategy_t FIRST = {.size = sizeof(rkb_strategy_t),
                                     .id = "old.strategy.first",
                                     .summary = "Children of the first candidate.",
                                     .create = first_create,
                                     .ask = first_ask,
                                     .tell = first_tell,
                                     .destroy = destroy};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD, .name = NAME, .version = "1", .stages = (const rkb_stage_t *const[]){&MOST, NULL},
   .strategies = (const rkb_strategy_t *const[]){&FIRST, NULL}};
