/* The row of requests and its marks (request_row.h). */
#include "run/request_row.h"

#include <stdlib.h>
#include "base/memory.h"
#include "stage/item.h"

rkb_run_request_t *rkb_request_row_add(rkb_request_row_t *row, struct rkb_run *run, uint32_t section,
                                       int64_t number) {
   if (row->count == row->room) {
      uint32_t room = row->room ? row->room * 2 : 64;
      row->requests = rkb_grow(row->requests, room, sizeof *row->requests);
      row->room = room;
   }
   rkb_run_request_t *request = rkb_allocate(1, sizeof *request);
   request->run = run;
   request->section = section;
   request->number = number;
   request->ordinal = row->count;
   request->state = RKB_ASKED;
   row->requests[row->count++] = request;
   return request;
}

static void request_free(rkb_run_request_t *request, const rkb_pipeline_t *pipeline) {
   for (uint32_t i = 0; i < request->count; i++)
      if (!request->candidates[i]->number) /* those with a number are freed with the list of numbered ones */
         rkb_candidate_free(pipeline, request->candidates[i]);
   rkb_item_unref(request->item);
   free(request->candidates);
   free(request->failure);
   free(request);
}

void rkb_request_row_free(rkb_request_row_t *row, const rkb_pipeline_t *pipeline) {
   for (uint32_t i = 0; i < row->count; i++)
      request_free(row->requests[i], pipeline);
   free(row->requests);
}

static rkb_run_request_t *take(rkb_request_row_t *row, uint32_t *mark, uint32_t state) {
   if (*mark == row->count || row->requests[*mark]->state != state)
      return NULL;
   return row->requests[(*mark)++];
}

rkb_run_request_t *rkb_request_row_take_to_number(rkb_request_row_t *row) {
   return take(row, &row->next_number, RKB_GENERATED);
}

rkb_run_request_t *rkb_request_row_take_to_tell(rkb_request_row_t *row) {
   return take(row, &row->next_tell, RKB_FINISHED);
}

void rkb_request_row_candidate_done(rkb_request_row_t *row, rkb_run_request_t *request) {
   if (--request->open)
      return;
   request->next = NULL;
   if (row->last_settled)
      row->last_settled->next = request;
   else
      row->settled = request;
   row->last_settled = request;
}

rkb_run_request_t *rkb_request_row_take_settled(rkb_request_row_t *row) {
   rkb_run_request_t *request = row->settled;
   if (!request)
      return NULL;
   row->settled = request->next;
   if (!row->settled)
      row->last_settled = NULL;
   return request;
}
