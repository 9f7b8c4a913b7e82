/* rkb/items.h - the item types that travel between stages, every key with its unit and owner, and
 * typed helpers to read and emit them.
 *
 *   type          made by                    goes to
 *   request       the core, from a strategy  translators and mutators (they accept nothing else)
 *   candidate     translators, mutators      verifiers and profilers (they accept nothing else)
 *   verdict       verifiers                  the archive, the gate
 *   measurement   verifiers, profilers       the archive, the objective
 *
 * "core" in the owner column means the core sets the key and ignores what a plugin wrote there.
 */
#ifndef RKB_ITEMS_H
#define RKB_ITEMS_H

#include <rkb/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* request: ask for new candidates.  A translator or mutator emits 0 to 64 candidates for it.
 *   key           kind   owner  meaning
 *   number        int    core   number within its section, from 0; see "section"
 *   section       text   core   "propose" or "search"
 *   operator      text   core   id of the pipeline entry that serves it
 *   objective     text   core   name of the measurement that is minimised, e.g. "model.predicted_us"
 *   hints         json   core   object a strategy attached, or absent
 *   references: "parent" and "inspiration", candidates in the strategy's order */
#define RKB_ITEM_REQUEST "request"

/* candidate: source text with its manifest, and a tune assignment.  Immutable.
 *   number        int    core    the candidate's number in the run's archive, from 1 (absent before it is archived)
 *   source        text   stage   the whole .cu text, manifest comment included; at most 256 KiB
 *   tune          json   stage   object NAME: integer; names left out take the manifest's default
 *   note          text   stage   in words, what was done ("BLOCK 256 -> 128"); optional
 *   operator      text   core    id of the pipeline entry that made it
 *   standing      text   core    worst verdict so far: accept, suspect, unknown, reject, or "none"
 *   references: "parent" (set by the stage, in order; each must be a candidate of the request),
 *   "request" (core) */
#define RKB_ITEM_CANDIDATE "candidate"

/* verdict: what one verifier found about one candidate.  Emit exactly one a job.
 *   standing      text   stage   accept | suspect | reject | unknown
 *   reason        text   stage   a code of the verdict vocabulary ("memory.out_of_bounds"), "" for accept; one word of
 *                                at most 100 printable ASCII characters
 *   message       text   stage   one sentence a person can act on
 *   evidence      json   stage   object: kernel, file, line, block, thread, buffer, offset, case, seed, element,
 *                                got, want, bound, ... whatever applies; optional
 *   certificate   json   stage   array of facets {facet, scope, assumptions}; optional */
#define RKB_ITEM_VERDICT "verdict"

/* measurement: one number about one candidate.  The archive's name for it is "<entry id>.<name>".
 *   name          text   stage   e.g. "predicted_us"
 *   value         real   stage   finite
 *   unit          text   stage   e.g. "us", "bytes", "1"
 *   better        text   stage   "lower", "higher" or "" when neither
 *   spread        real   stage   half width of its interval, same unit; absent when it has none
 *   method        text   stage   how it was taken, e.g. "model", "measured: 3 allocations x 2 processes"
 *   case          text   stage   the bench case it belongs to, absent when it covers the objective's cases together
 *   detail        json   stage   object with what a person or a mutator can use; optional */
#define RKB_ITEM_MEASUREMENT "measurement"

#define RKB_ACCEPT "accept"
#define RKB_SUSPECT "suspect"
#define RKB_REJECT "reject"
#define RKB_UNKNOWN "unknown"

/* Emits a verdict.  evidence and certificate are JSON or NULL.  [any] */
static inline int rkb_emit_verdict_full(const rkb_host_t *host, rkb_job_t job, const char *standing,
                                        const char *reason, const char *message, const char *evidence,
                                        const char *certificate) {
   int status = RKB_OK;
   rkb_item_t *item = host->item_new(host, RKB_ITEM_VERDICT);
   if (!item)
      return RKB_ERR_NOMEM;
   host->item_set_text(host, item, "standing", standing);
   host->item_set_text(host, item, "reason", reason);
   host->item_set_text(host, item, "message", message);
   if (evidence)
      status = host->item_set_json(host, item, "evidence", evidence);
   if (status == RKB_OK && certificate)
      status = host->item_set_json(host, item, "certificate", certificate);
   if (status != RKB_OK) {
      host->item_unref(host, item);
      return status;
   }
   host->job_emit(host, job, item);
   return RKB_OK;
}

static inline int rkb_emit_verdict(const rkb_host_t *host, rkb_job_t job, const char *standing,
                                   const char *reason, const char *message) {
   return rkb_emit_verdict_full(host, job, standing, reason, message, NULL, NULL);
}

typedef struct rkb_measurement {
   const char *name, *unit, *better, *method;
   double value;
   double spread;         /* negative: none */
   const char *case_name; /* or NULL */
   const char *detail;    /* JSON or NULL */
} rkb_measurement_t;

/* Emits a measurement.  [any] */
static inline int rkb_emit_measurement(const rkb_host_t *host, rkb_job_t job, const rkb_measurement_t *m) {
   int status = RKB_OK;
   rkb_item_t *item = host->item_new(host, RKB_ITEM_MEASUREMENT);
   if (!item)
      return RKB_ERR_NOMEM;
   host->item_set_text(host, item, "name", m->name);
   host->item_set_text(host, item, "unit", m->unit);
   host->item_set_text(host, item, "better", m->better);
   host->item_set_text(host, item, "method", m->method);
   host->item_set_real(host, item, "value", m->value);
   if (m->spread >= 0)
      host->item_set_real(host, item, "spread", m->spread);
   if (m->case_name)
      host->item_set_text(host, item, "case", m->case_name);
   if (m->detail)
      status = host->item_set_json(host, item, "detail", m->detail);
   if (status != RKB_OK) {
      host->item_unref(host, item);
      return status;
   }
   host->job_emit(host, job, item);
   return RKB_OK;
}

/* Emits a candidate made from parent (or NULL).  tune is a JSON object or NULL.  [any] */
static inline int rkb_emit_candidate(const rkb_host_t *host, rkb_job_t job, const char *source,
                                     const char *tune, const char *note, const rkb_item_t *const *parents,
                                     uint32_t parent_count) {
   int status;
   rkb_item_t *item = host->item_new(host, RKB_ITEM_CANDIDATE);
   if (!item)
      return RKB_ERR_NOMEM;
   status = host->item_set_text(host, item, "source", source);
   if (status == RKB_OK)
      status = host->item_set_json(host, item, "tune", tune ? tune : "{}");
   if (status == RKB_OK && note)
      status = host->item_set_text(host, item, "note", note);
   for (uint32_t i = 0; status == RKB_OK && i < parent_count; i++)
      status = host->item_add_reference(host, item, "parent", parents[i]);
   if (status != RKB_OK) {
      host->item_unref(host, item);
      return status;
   }
   host->job_emit(host, job, item);
   return RKB_OK;
}

#ifdef __cplusplus
}
#endif
#endif
