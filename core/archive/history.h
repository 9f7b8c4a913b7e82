/* The candidates of a run in order, with their costs and without texts, for curves over a whole run.  [any]
 * */
#ifndef RKB_ARCHIVE_HISTORY_H
#define RKB_ARCHIVE_HISTORY_H

#include "archive/archive.h"

typedef struct rkb_history_record {
   int64_t number;  /* the candidate's number */
   int64_t request; /* the request's key (docs/archive.md): negative in propose */
   const char *standing;
   bool duplicate, has_objective;
   double objective;
} rkb_history_record_t;
/* Visits every candidate by number.  visit as in rkb_archive_each_request. */
int rkb_archive_each_history(rkb_archive_t *archive,
                             int (*visit)(void *argument, const rkb_history_record_t *record), void *argument,
                             rkb_error_t *err);

/* Visits every request that asked a model, in the order of requests.  Gives its key, the sum of its calls'
 * costs (for a call that never ended, its reservation), and how many of its calls were answered. */
int rkb_archive_each_cost(rkb_archive_t *archive,
                          int (*visit)(void *argument, int64_t request, double usd, int64_t answers), void *argument,
                          rkb_error_t *err);
/* One call of a language model; texts live until visit returns. */
typedef struct rkb_call_history {
   int64_t id, request, child, attempt; /* request: its key */
   const char *stage, *model, *state, *source; /* never NULL */
   const char *outcome, *error, *prompt, *reply; /* or NULL */
   /* usd: for a call that never ended, its reservation.  seconds: negative when unknown. */
   double usd, seconds;
   int64_t input_tokens, output_tokens;          /* negative when not reported */
} rkb_call_history_t;
/* Visits every call, in the order of requests. */
int rkb_archive_each_call(rkb_archive_t *archive, int (*visit)(void *argument, const rkb_call_history_t *call),
                          void *argument, rkb_error_t *err);

/* Compares two requests' keys by the order of requests, in which propose comes first.  Returns <0, 0 or >0. */
int rkb_request_key_compare(int64_t left, int64_t right);

#endif
