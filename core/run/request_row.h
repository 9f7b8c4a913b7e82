/* The row of a run's requests: first those of the propose section, then those of the search, in the order in which they
 * were asked.  Two marks move along the row.  Requests before next_number have numbers for their candidates; requests
 * before next_tell have been told to the strategy.  Both marks move one request at a time, so what is recorded depends on
 * the row and not on which worker was faster.  Loop thread. */
#ifndef RKB_RUN_REQUEST_ROW_H
#define RKB_RUN_REQUEST_ROW_H

#include <rkb/strategy.h>
#include "stage/candidate.h"

enum rkb_run_request_state {
   RKB_ASKED = 1, /* its operator has not answered yet */
   RKB_GENERATED, /* it has its candidates; they have no numbers yet */
   RKB_SCREENING, /* its candidates have numbers and go through the screen */
   RKB_SCREENED,  /* waits for its promote group, or is being evaluated */
   RKB_FINISHED,  /* only the tell to the strategy is left */
   RKB_TOLD
};

/* One request, from the ask to the tell. */
typedef struct rkb_run_request {
   struct rkb_run *run;
   uint32_t section;                  /* enum rkb_request_section */
   int64_t number;                    /* within the section */
   uint32_t ordinal;                  /* within the row */
   uint32_t answer;                   /* enum rkb_request_answer */
   uint32_t state;                    /* enum rkb_run_request_state */
   const rkb_entry_t *operator_entry; /* the pipeline entry that serves it; NULL for an empty request */
   rkb_request_t wanted;              /* what the strategy answered: parents, inspirations, hints */
   rkb_item_t *item; /* the same, as an item for its operator; NULL before it is served and after it is told */
   rkb_work_t work;  /* its operator's job */
   rkb_candidate_t **candidates;
   uint32_t count;               /* of candidates */
   uint32_t open;                /* candidates that are not through their section yet */
   char *failure;                /* why its operator gave nothing, or NULL */
   bool restored;                /* its candidates come from the archive, and have their numbers already */
   bool screened_before;         /* the results of its screen come from the archive too */
   struct rkb_run_request *next; /* in the list of settled requests */
} rkb_run_request_t;

typedef struct rkb_request_row {
   rkb_run_request_t **requests;
   uint32_t count, room;
   uint32_t propose_count; /* requests of the propose section: the first of the row */
   uint32_t next_number, next_tell;
   rkb_run_request_t *settled, *last_settled; /* requests whose open fell to 0, oldest first */
} rkb_request_row_t;

/* A new request at the end of the row. */
rkb_run_request_t *rkb_request_row_add(rkb_request_row_t *row, struct rkb_run *run, uint32_t section,
                                       int64_t number);
/* Frees the requests, and the candidates that never got a number. */
void rkb_request_row_free(rkb_request_row_t *row, const rkb_pipeline_t *pipeline);

/* The request at the mark, past which the mark moves; NULL when it is not ready, or when the row is at its end. */
rkb_run_request_t *rkb_request_row_take_to_number(rkb_request_row_t *row);
rkb_run_request_t *rkb_request_row_take_to_tell(rkb_request_row_t *row);

/* One of the request's candidates is through its section.  After the last one the request is settled. */
void rkb_request_row_candidate_done(rkb_request_row_t *row, rkb_run_request_t *request);
/* The oldest settled request, taken off the list; NULL when there is none. */
rkb_run_request_t *rkb_request_row_take_settled(rkb_request_row_t *row);

/* "seed", "step": the operator's id, or "" for an empty request. */
static inline const char *rkb_run_request_operator(const rkb_run_request_t *request) {
   return request->operator_entry ? request->operator_entry->node.id : "";
}

#endif
