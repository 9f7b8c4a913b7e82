/* rkb/strategy.h - the search strategy: which operator to apply to which parents next.
 *
 * A strategy is no stage.  The core asks it for the next request and tells it each finished one, in
 * request order, all on the loop thread; every function here is [loop], bounded and does no I/O.
 * State lives in memory: on resume the core replays the recorded asks and tells, and stops with the
 * first difference, so a strategy's answers depend on its config, its random stream and what it was
 * told, and on nothing else (no clock, no address, no environment).
 */
#ifndef RKB_STRATEGY_H
#define RKB_STRATEGY_H

#include <rkb/ext/random.h>
#include <rkb/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKB_MAX_PARENTS 8

enum rkb_ask {
   RKB_ASK_OK = 0,   /* *out is filled */
   RKB_ASK_WAIT = 1, /* nothing to do until more is told; uses up the request number */
   RKB_ASK_DONE = 2  /* the search is exhausted */
};

/* An operator the pipeline lists under search.operators. */
typedef struct rkb_operator {
   const char *id;    /* the entry's id, e.g. "tune" */
   const char *stage; /* e.g. "rkb.mutator.tune" */
   double weight;     /* from the pipeline, default 1 */
   uint32_t kind;     /* enum rkb_kind: a mutator or a translator */
   uint32_t reserved;
} rkb_operator_t;

typedef struct rkb_setup {
   uint32_t size;
   uint32_t window;                 /* requests in flight; a generation */
   const rkb_operator_t *operators; /* until destroy */
   uint32_t operator_count;
   uint32_t reserved;
   const char *objective; /* name of the minimised measurement, e.g. "model.predicted_us" */
} rkb_setup_t;

/* What a strategy answers. */
typedef struct rkb_request {
   uint32_t size;
   uint32_t operator_index;
   uint32_t parent_count;
   uint32_t inspiration_count;
   int64_t parents[RKB_MAX_PARENTS]; /* candidate numbers it was told of */
   int64_t inspirations[RKB_MAX_PARENTS];
   char hints[2048]; /* a JSON object, or "" */
} rkb_request_t;

/* One candidate of a finished request. */
typedef struct rkb_told {
   uint32_t size;
   uint32_t reserved;
   int64_t number;       /* in the archive, from 1 */
   const char *standing; /* accept, suspect, unknown, reject */
   const char *reason;   /* of the verdict that decided, or "" */
   int64_t duplicate_of; /* 0: not a duplicate */
   bool promoted;        /* passed its promote group, or there was no promotion to pass */
   bool has_objective;
   double objective; /* value of the objective, lower is better; only if has_objective */
   /* 64 hex digits of SHA-256 over the source text: equal when only the tune assignment differs */
   const char *source_hash;
   const char *tune; /* JSON object */
   const int64_t *parents;
   uint32_t parent_count;
   uint32_t measurement_count;
   const char *const *measurement_names; /* "<entry id>.<name>" */
   const double *measurement_values;
   /* since 1.2: JSON object, each tune parameter's name and the list of its choices, in the manifest's order; "{}" without any */
   const char *tune_space;
} rkb_told_t;

typedef struct rkb_result {
   uint32_t size;
   uint32_t candidate_count; /* 0: the operator gave nothing, or the request was empty */
   int64_t request;          /* search request number; negative for a propose section request */
   const char *operator_id;  /* "" for an empty request */
   const rkb_told_t *const *candidates;
} rkb_result_t;

typedef struct rkb_strategy {
   uint32_t size;
   uint32_t flags; /* 0 */
   const char *id; /* "<owner>.strategy.<name>" */
   const char *summary;

   const rkb_option_t *options;
   uint32_t option_count;
   uint32_t option_size;
   size_t config_size;

   /* setup, config and host stay valid until destroy.  The stream is the strategy's own, keyed by
    * (seed, entry id); copy it and draw from the copy. */
   int (*create)(const rkb_host_t *host, const void *config, const rkb_setup_t *setup, rkb_random_t stream,
                 void **self, rkb_error_t *err);

   /* out is zeroed, its size set.  Returns enum rkb_ask or a negative status, which ends the run. */
   int (*ask)(void *self, rkb_request_t *out, rkb_error_t *err);

   /* Results of the propose section arrive before the first ask.  Pointers in result live until tell returns. */
   int (*tell)(void *self, const rkb_result_t *result, rkb_error_t *err);

   void (*destroy)(void *self);

   const char *const *needs; /* since 1.1: as a stage's */
} rkb_strategy_t;

#ifdef __cplusplus
}
#endif
#endif
