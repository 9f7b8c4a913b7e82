/* Requests: asked of the strategy, served by their operators, and their candidates numbered in the row's order (run_state.h). */
#include <rkb/items.h>
#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "stage/item.h"
#include "run/run_state.h"
#include "llm/llm.h"

rkb_candidate_t *rkb_run_candidate(const rkb_run_t *run, int64_t number) {
   return number >= 1 && (uint64_t)number <= run->candidate_count ? run->candidates[number - 1] : NULL;
}

static rkb_asked_t *asked_new(rkb_run_t *run, uint32_t section, int64_t number) {
   if (run->asked_count == run->asked_room) {
      uint32_t room = run->asked_room ? run->asked_room * 2 : 64;
      rkb_asked_t **grown = realloc(run->asked, room * sizeof *grown);
      if (!grown)
         return NULL;
      run->asked = grown;
      run->asked_room = room;
   }
   rkb_asked_t *asked = calloc(1, sizeof *asked);
   if (!asked)
      return NULL;
   asked->section = section;
   asked->number = number;
   asked->ordinal = run->asked_count;
   asked->run = run;
   asked->state = RKB_ASKED;
   run->asked[run->asked_count++] = asked;
   return asked;
}

void rkb_requests_free(rkb_run_t *run, rkb_asked_t *asked) {
   for (uint32_t i = 0; i < asked->count; i++)
      if (!asked->candidates[i]->number) /* the others belong to run->candidates */
         rkb_candidate_free(run->pipeline, asked->candidates[i]);
   rkb_item_unref(asked->item);
   free(asked->candidates);
   free(asked->failure);
   free(asked);
}

/* What the operator gets to see (rkb/items.h). */
static rkb_item_t *request_item(const rkb_run_t *run, const rkb_asked_t *asked) {
   rkb_item_t *item = rkb_item_new(RKB_ITEM_REQUEST);
   const rkb_request_t *request = &asked->request;
   bool ok = item && rkb_item_set_int(item, "number", asked->number) == RKB_OK &&
             rkb_item_set_text(item, "section",
                               asked->section == RKB_SECTION_PROPOSE ? "propose" : "search") == RKB_OK &&
             rkb_item_set_text(item, "operator", asked->operator->node.id) == RKB_OK &&
             rkb_item_set_text(item, "objective", run->pipeline->objective ? run->pipeline->objective : "") ==
                RKB_OK;
   if (ok && request->hints[0])
      ok = rkb_item_set_json(item, "hints", request->hints) == RKB_OK;
   for (uint32_t i = 0; ok && i < request->parent_count; i++)
      ok =
         rkb_item_add_reference(item, "parent", rkb_run_candidate(run, request->parents[i])->item) == RKB_OK;
   for (uint32_t i = 0; ok && i < request->inspiration_count; i++)
      ok = rkb_item_add_reference(item, "inspiration",
                                  rkb_run_candidate(run, request->inspirations[i])->item) == RKB_OK;
   if (ok)
      return item;
   rkb_item_unref(item);
   return NULL;
}

static void generated(rkb_asked_t *asked) {
   asked->state = RKB_GENERATED;
   rkb_requests_number(asked->run);
}

static void identified(void *argument) {
   rkb_asked_t *asked = argument;
   if (!asked->run->core.stopping)
      generated(asked);
}

static void identify_on_worker(void *argument) {
   rkb_asked_t *asked = argument;
   for (uint32_t i = 0; i < asked->count; i++)
      rkb_candidate_identify(asked->run->pipeline, asked->candidates[i]);
   rkb_core_returned(&asked->run->core, identified, asked);
}

/* Kernels are read and split into tokens, which may take milliseconds: on a worker.  Plain texts are only hashed. */
static void identify(rkb_run_t *run, rkb_asked_t *asked) {
   if (run->pipeline->task && asked->count) {
      if (rkb_core_send(&run->core, identify_on_worker, asked) != RKB_OK)
         rkb_run_break(run, RKB_ERR_LIMIT, "the workers' queue is full");
      return;
   }
   for (uint32_t i = 0; i < asked->count; i++)
      rkb_candidate_identify(run->pipeline, asked->candidates[i]);
   generated(asked);
}

/* Parents by number, for the archive and the strategy.  The references are the request's own items. */
static bool name_parents(rkb_candidate_t *candidate) {
   uint32_t count = rkb_item_reference_count(candidate->made, "parent");
   candidate->parents = calloc(count + 1, sizeof *candidate->parents);
   for (uint32_t i = 0; candidate->parents && i < count; i++) {
      const rkb_item_t *parent = rkb_item_reference(candidate->made, "parent", i);
      rkb_item_int(parent, "number", &candidate->parents[i]);
   }
   candidate->parent_count = candidate->parents ? count : 0;
   return candidate->parents != NULL;
}

static bool take_candidates(rkb_run_t *run, rkb_asked_t *asked, rkb_ended_t *ended) {
   asked->candidates = calloc(ended->item_count + 1, sizeof *asked->candidates);
   if (!asked->candidates)
      return false;
   for (uint32_t i = 0; i < ended->item_count; i++) {
      rkb_candidate_t *candidate = rkb_candidate_new(run->pipeline, rkb_item_ref(ended->items[i]));
      if (!candidate)
         return false;
      candidate->section = asked->section;
      candidate->request = asked->number;
      candidate->child = i;
      candidate->operator= asked->operator;
      candidate->owner = asked;
      asked->candidates[asked->count++] = candidate;
      if (!name_parents(candidate))
         return false;
   }
   return true;
}

static void operator_done(rkb_work_t *work, rkb_ended_t *ended) {
   rkb_asked_t *asked = work->owner;
   rkb_run_t *run = asked->run;
   if (ended->status != RKB_OK && run->core.stopping)
      return;
   if (ended->status == RKB_OK) {
      if (!take_candidates(run, asked, ended)) {
         rkb_run_break(run, RKB_ERR_NOMEM, "out of memory");
         return;
      }
   } else {
      const char *reason = work->hung ? "tool.hang" : rkb_tool_reason(ended->status);
      if (asprintf(&asked->failure, "%s: %s", reason, ended->error.message) < 0)
         asked->failure = NULL;
      rkb_core_note(&run->core, asked->operator->node.id, "request %lld gave nothing: %s: %s",
                    (long long)asked->number, reason, ended->error.message);
   }
   double seconds = (double)(ended->ended_ns - ended->started_ns) * 1e-9;
   rkb_times_add(run, asked->operator->index, work->attempts ? seconds : -1);
   if (work->attempts)
      run->progress[asked->operator->index].running--;
   else
      run->progress[asked->operator->index].waiting--;
   run->progress[asked->operator->index].done++;
   run->progress[asked->operator->index].passed += asked->count;
   rkb_event_send(run, &(rkb_event_t){.kind = RKB_EVENT_STAGE_END,
                                      .section = asked->section,
                                      .request = asked->number,
                                      .entry = asked->operator->node.id,
                                      .attempts = work->attempts,
                                      .seconds = seconds});
   identify(run, asked);
}

static void operator_began(rkb_work_t *work) {
   rkb_asked_t *asked = work->owner;
   rkb_run_t *run = asked->run;
   run->progress[asked->operator->index].waiting--;
   run->progress[asked->operator->index].running++;
   rkb_event_send(run, &(rkb_event_t){.kind = RKB_EVENT_STAGE_START,
                                      .section = asked->section,
                                      .request = asked->number,
                                      .entry = asked->operator->node.id});
}

/* Starts what was asked: from the archive, by its operator, or not at all when it is empty. */
static void serve(rkb_run_t *run, rkb_asked_t *asked) {
   rkb_event_send(run, &(rkb_event_t){.kind = RKB_EVENT_REQUEST,
                                      .section = asked->section,
                                      .request = asked->number,
                                      .entry = asked->operator ? asked->operator->node.id : ""});
   if (!asked->operator|| rkb_resume_restore(run, asked)) {
      if (!run->status)
         generated(asked);
      return;
   }
   asked->item = request_item(run, asked);
   if (!asked->item) {
      rkb_run_break(run, RKB_ERR_NOMEM, "out of memory");
      return;
   }
   asked->work = (rkb_work_t){.in = asked->item,
                              .scope = {.section = asked->section, .request = asked->number},
                              .began = operator_began,
                              .done = operator_done,
                              .owner = asked};
   run->progress[asked->operator->index].waiting++;
   rkb_core_add(&run->core, asked->operator->index, &asked->work);
}

int rkb_requests_propose(rkb_run_t *run) {
   int64_t number = 0;
   for (uint32_t i = 0; i < run->pipeline->propose_count; i++)
      for (uint32_t j = 0; j < run->pipeline->entries[i].requests; j++) {
         rkb_asked_t *asked = asked_new(run, RKB_SECTION_PROPOSE, number++);
         if (!asked)
            return RKB_ERR_NOMEM;
         asked->operator= & run->pipeline->entries[i];
         asked->answer = RKB_ANSWER_LISTED;
      }
   run->propose_count = run->asked_count;
   for (uint32_t i = 0; i < run->propose_count && !run->status; i++)
      if (rkb_dialogue_ask(run, run->asked[i]))
         serve(run, run->asked[i]);
   return RKB_OK;
}

static bool known_numbers(rkb_run_t *run, const int64_t *numbers, uint32_t count) {
   for (uint32_t i = 0; i < count; i++) {
      const rkb_candidate_t *candidate = rkb_run_candidate(run, numbers[i]);
      const rkb_asked_t *owner = candidate ? candidate->owner : NULL;
      if (!owner || owner->state != RKB_TOLD)
         return false;
   }
   return true;
}

/* What a strategy answers comes from a plugin: nothing of it is taken on trust. */
static bool answer_ok(rkb_run_t *run, const rkb_asked_t *asked) {
   const rkb_request_t *request = &asked->request;
   const char *id = run->pipeline->entries[run->pipeline->strategy].node.use;
   rkb_error_t err;
   const char *fault = NULL;
   if (request->operator_index >= run->pipeline->operator_count)
      fault = "it asked for an operator that is not listed";
   else if (request->parent_count > RKB_MAX_PARENTS || request->inspiration_count > RKB_MAX_PARENTS)
      fault = "it named more than 8 parents or inspirations";
   else if (!known_numbers(run, request->parents, request->parent_count) ||
            !known_numbers(run, request->inspirations, request->inspiration_count))
      fault = "it named a candidate that it was not told of";
   else if (!memchr(request->hints, '\0', sizeof request->hints))
      fault = "its hints are not ended";
   else if (request->hints[0]) {
      json_t *hints = rkb_json_parse(request->hints, strlen(request->hints), &err);
      if (!json_is_object(hints))
         fault = "its hints are not a JSON object";
      json_decref(hints);
   }
   if (fault)
      rkb_run_break(run, RKB_ERR_CONTRACT, "%s broke the contract: %s", id, fault);
   return !fault;
}

/* The money is over, and every operator asks models.  What is free goes on by itself: no limit is reached then. */
static bool only_paid_operators_left(const rkb_run_t *run) {
   const rkb_pipeline_t *pipeline = run->pipeline;
   if (!run->core.llm || !rkb_llm_is_over_budget(run->core.llm))
      return false;
   for (uint32_t i = 0; i < pipeline->operator_count; i++)
      if (!(pipeline->entries[pipeline->first_operator + i].stage->flags & RKB_STAGE_WAITS))
         return false;
   return true;
}

/* Limits count what the request would see, so they fall at the same number whatever the speed. */
static bool limit_reached(rkb_run_t *run, int64_t number) {
   const rkb_pipeline_t *pipeline = run->pipeline;
   if (pipeline->promotes && number % pipeline->promote_of != 0)
      return false;
   if (pipeline->limit_candidates && run->told_candidates >= pipeline->limit_candidates)
      rkb_run_end(run, RKB_ENDED_LIMIT, "limits.candidates (%llu) reached",
                  (unsigned long long)pipeline->limit_candidates);
   else if (pipeline->limit_generations && (uint64_t)number >= pipeline->limit_generations * pipeline->window)
      rkb_run_end(run, RKB_ENDED_LIMIT, "limits.generations (%llu) reached",
                  (unsigned long long)pipeline->limit_generations);
   else if (pipeline->limit_stale && run->stale >= pipeline->limit_stale)
      rkb_run_end(run, RKB_ENDED_LIMIT, "limits.stale (%llu): no better one in as many requests",
                  (unsigned long long)pipeline->limit_stale);
   else if (only_paid_operators_left(run))
      rkb_run_end(run, RKB_ENDED_COST, "limits.cost_usd: no question to a model fits under %.2f USD any more",
                  pipeline->limit_cost_usd);
   else if (run->barren >= RKB_MAX_BARREN && run->barren >= 4ull * pipeline->window)
      rkb_run_end(run, RKB_ENDED_LIMIT, "the search is exhausted: %llu requests in a row gave nothing new",
                  (unsigned long long)run->barren);
   return run->ending != 0;
}

static bool group_open(const rkb_run_t *run, int64_t number) {
   return run->pipeline->promotes && number % run->pipeline->promote_of != 0;
}

/* One ask; false when there will be no more. */
static bool ask(rkb_run_t *run) {
   const rkb_pipeline_t *pipeline = run->pipeline;
   const rkb_strategy_t *strategy = pipeline->entries[pipeline->strategy].strategy;
   int64_t number = (int64_t)(run->asked_count - run->propose_count);
   bool filling = run->ending != 0;
   if (filling ? !group_open(run, number) : limit_reached(run, number)) {
      run->asking_over = true;
      return false;
   }
   rkb_asked_t *asked = asked_new(run, RKB_SECTION_SEARCH, number);
   if (!asked) {
      rkb_run_break(run, RKB_ERR_NOMEM, "out of memory");
      return false;
   }
   asked->answer = RKB_ANSWER_FILL;
   if (!filling) {
      rkb_error_t err = {0};
      asked->request.size = sizeof asked->request;
      uint64_t began_ns = rkb_now_ns();
      int answer = strategy->ask(run->strategy, &asked->request, &err);
      rkb_times_add(run, (uint32_t)pipeline->strategy, (double)(rkb_now_ns() - began_ns) * 1e-9);
      if (answer < 0 || answer > RKB_ASK_DONE) {
         rkb_run_break(run, answer < 0 ? answer : RKB_ERR_CONTRACT, "%s failed: %.300s", strategy->id,
                       err.message[0] ? err.message : "it did not say why");
         return false;
      }
      static const uint32_t answers[] = {RKB_ANSWER_OK, RKB_ANSWER_WAIT, RKB_ANSWER_DONE};
      asked->answer = answers[answer];
      run->waits = answer == RKB_ASK_WAIT ? run->waits + 1 : 0;
      if (answer == RKB_ASK_OK) {
         if (!answer_ok(run, asked))
            return false;
         asked->operator= & pipeline->entries[pipeline->first_operator + asked->request.operator_index];
      } else {
         asked->request = (rkb_request_t){.size = sizeof asked->request};
      }
   }
   if (!rkb_dialogue_ask(run, asked))
      return false;
   if (asked->answer == RKB_ANSWER_DONE)
      rkb_run_end(run, RKB_ENDED_DONE, "the search is exhausted");
   else if (run->waits >= pipeline->window)
      rkb_run_end(run, RKB_ENDED_STUCK,
                  run->candidate_count ? "the strategy waited for a whole window"
                                       : "there is no first candidate to search from");
   serve(run, asked);
   return !run->status;
}

void rkb_requests_ask(rkb_run_t *run) {
   if (run->pipeline->strategy < 0) {
      run->asking_over = true;
      if (!run->ending)
         rkb_run_end(run, RKB_ENDED_DONE, "there is no search");
      return;
   }
   /* Request n is asked right after n - window was told: neither sooner nor later. */
   while (!run->asking_over && !run->status && run->asked_count < run->next_tell + run->pipeline->window)
      if (!ask(run))
         break;
}

static bool keep_number(rkb_run_t *run, rkb_candidate_t *candidate) {
   if (run->candidate_count == run->candidate_room) {
      uint64_t room = run->candidate_room ? run->candidate_room * 2 : 256;
      rkb_candidate_t **grown = realloc(run->candidates, room * sizeof *grown);
      if (!grown)
         return false;
      run->candidates = grown;
      run->candidate_room = room;
   }
   run->candidates[run->candidate_count++] = candidate;
   candidate->number = (int64_t)run->candidate_count;
   return true;
}

static bool number_candidate(rkb_run_t *run, rkb_asked_t *asked, rkb_candidate_t *candidate) {
   int64_t recorded = candidate->number;
   if (!keep_number(run, candidate)) {
      rkb_run_break(run, RKB_ERR_NOMEM, "out of memory");
      return false;
   }
   if (asked->restored && recorded != candidate->number) {
      rkb_run_break(run, RKB_ERR_INVALID,
                    "this run cannot be resumed: the archive has candidate %lld where %lld would come now",
                    (long long)recorded, (long long)candidate->number);
      return false;
   }
   int64_t first = rkb_identity_claim(run->by_tokens, candidate->token_hash, "", candidate->number);
   if (first > 0 && !asked->screened_before)
      candidate->duplicate_of = first;
   if (candidate->duplicate_of)
      run->duplicates++;
   if (first < 0 || !rkb_candidate_refresh(run->pipeline, candidate, run->pipeline->screen)) {
      rkb_run_break(run, RKB_ERR_NOMEM, "out of memory");
      return false;
   }
   rkb_event_send(run, &(rkb_event_t){.kind = RKB_EVENT_CANDIDATE,
                                      .section = asked->section,
                                      .request = asked->number,
                                      .candidate = candidate->number,
                                      .entry = asked->operator->node.id,
                                      .duplicate_of = candidate->duplicate_of});
   return true;
}

static void number_request(rkb_run_t *run, rkb_asked_t *asked) {
   asked->state = RKB_SCREENING;
   for (uint32_t i = 0; i < asked->count; i++)
      if (!number_candidate(run, asked, asked->candidates[i]))
         return;
   /* What cannot be made again is kept at once, not only when it was screened. */
   bool repeatable = !asked->operator||(asked->operator->node.flags & RKB_STAGE_DETERMINISTIC);
   if (!repeatable && asked->count && !asked->restored && !rkb_record_generated(run, asked))
      return;
   asked->open = asked->count + 1; /* one for this function: it must not be screened before all have begun */
   for (uint32_t i = 0; i < asked->count; i++) {
      if (asked->candidates[i]->duplicate_of || asked->screened_before) {
         asked->open--;
         rkb_event_candidate_end(run, asked->candidates[i]);
      } else {
         rkb_screening_begin(&run->screening, asked->candidates[i], run->pipeline->screen);
      }
   }
   if (--asked->open == 0)
      rkb_groups_screened(run, asked);
}

void rkb_requests_number(rkb_run_t *run) {
   if (run->numbering)
      return;
   run->numbering = true;
   while (!run->status && run->next_number < run->asked_count &&
          run->asked[run->next_number]->state == RKB_GENERATED &&
          run->screening.candidates < RKB_MAX_SCREENING)
      number_request(run, run->asked[run->next_number++]);
   run->numbering = false;
   if (!run->status)
      rkb_groups_builds(run);
}
