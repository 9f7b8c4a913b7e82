/* rkb.verifier.diagnostics - what clang warns of in a kernel's text: unused and uninitialised variables, dead code, doubtful conversions.
 *
 * It informs people and prompts, and never rejects: the verdict is always accept, the measurement "warnings" counts, and its detail
 * lists them.  clang reads the text in a process of its own (core/lift/parser).  Owns nothing between jobs; runs on workers. */
#include <rkb/ext/lift.h>
#include <rkb/items.h>
#include <jansson.h>
#include <stdlib.h>

typedef struct diagnostics {
   const rkb_host_t *host;
   const rkb_lift_api_t *lift;
} diagnostics_t;

static int diagnostics_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   (void)config;
   const rkb_lift_api_t *lift = host->get_extension(host, RKB_EXT_LIFT);
   if (!RKB_HAS(lift, warnings_free))
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "this program's parser gives no warnings");
   diagnostics_t *me = malloc(sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   *me = (diagnostics_t){host, lift};
   *self = me;
   return RKB_OK;
}

/* Owned, or NULL without memory. */
static char *detail_of(const diagnostics_t *me, const rkb_lift_warnings_t *warnings) {
   json_t *list = json_array();
   for (uint32_t i = 0; i < me->lift->warnings_count(warnings); i++) {
      const rkb_lift_warning_t *warning = me->lift->warnings_at(warnings, i);
      json_array_append_new(list, json_pack("{s:i, s:s, s:s}", "line", (int)warning->line, "warning", warning->words, "option", warning->option));
   }
   json_t *object = json_pack("{s:o}", "warnings", list);
   char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
   json_decref(object);
   return text;
}

static int emit_warnings(const diagnostics_t *me, rkb_job_t job, const rkb_lift_warnings_t *warnings) {
   const uint32_t count = me->lift->warnings_count(warnings);
   char message[512] = "clang has nothing to remark";
   if (count > 0) {
      const rkb_lift_warning_t *first = me->lift->warnings_at(warnings, 0);
      snprintf(message, sizeof message, "line %u: %.300s [%.60s]%s", first->line, first->words, first->option,
               count > 1 ? ", and more" : "");
   }
   char *detail = detail_of(me, warnings);
   int status = rkb_emit_verdict_full(me->host, job, RKB_ACCEPT, "", message, detail, NULL);
   if (status == RKB_OK)
      status = rkb_emit_measurement(me->host, job,
                                    &(rkb_measurement_t){.name = "warnings",
                                                         .value = count,
                                                         .unit = "1",
                                                         .better = "lower",
                                                         .method = "clang's diagnostics of the text",
                                                         .spread = -1,
                                                         .detail = count > 0 ? detail : NULL});
   free(detail);
   return status;
}

static int diagnostics_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const diagnostics_t *me = self;
   rkb_lift_warnings_t *warnings = NULL;
   char refusal[400] = "", message[480];
   int status = me->lift->warnings(me->host, job, me->host->item_text(me->host, in, "source"), &warnings, refusal, sizeof refusal, err);
   if (status != RKB_OK)
      return status;
   if (warnings) {
      status = emit_warnings(me, job, warnings);
   } else {
      snprintf(message, sizeof message, "clang cannot read the text: %s", refusal);
      status = rkb_emit_verdict(me->host, job, RKB_ACCEPT, "", message);
   }
   me->lift->warnings_free(warnings);
   return status == RKB_OK ? RKB_OK : rkb_fail(err, status, "cannot emit what clang said");
}

static void diagnostics_destroy(void *self) {
   free(self);
}

static const rkb_stage_t diagnostics = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_VERIFIER,
   .flags = RKB_STAGE_DETERMINISTIC,
   .id = "rkb.verifier.diagnostics",
   .summary = "What clang warns of in the text; informs prompts, and never rejects.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_VERDICT, RKB_ITEM_MEASUREMENT, NULL},
   .measures = (const char *const[]){"warnings", NULL},
   .create = diagnostics_create,
   .run = diagnostics_run,
   .destroy = diagnostics_destroy,
   .needs = (const char *const[]){RKB_EXT_LIFT, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "diagnostics",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&diagnostics, NULL},
};
