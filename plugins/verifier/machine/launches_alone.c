/* Judges launches by themselves at a bench shape, where a chain of launches costs too much to be followed back.  The buffers that a launch
 * reads from earlier launches get made-up values of the intermediate tensors that they hold (launch_intermediates.h), and the results that the launch
 * computes from them are judged.  So is each launch that writes such a buffer.  Before that, the same is done at the check cases, where the
 * candidate is known to be right.  A launch that fails there is not judged in this way.  A mismatch makes the candidate suspect and does
 * not reject it: docs/decisions/sampled-blocks.md.  One worker thread a sample. */
#include "bench_values.h"

#include <stdlib.h>
#include <string.h>

#define LINK_WORK 300000000u /* most thread-instructions of one execution: a block of a large product */

/* A launch judged by itself, at the bench shape or at a check case. */
struct alone {
   struct link_target target;
   struct sample part;
   struct outcome outcome; /* its own */
   uint64_t *stores;
   bool *judged_buffers;
};

static void close_alone(struct alone *alone) {
   struct sample *part = &alone->part;
   if (part->inputs)
      part->verifier->task->inputs_free(part->inputs);
   free(alone->stores);
   free(alone->judged_buffers);
   outcome_free(&alone->outcome);
}

/* from: a sample of the same plan, whose parts are shared; known: what launches write. */
static int open_alone(struct alone *alone, const struct sample *from, const uint64_t *known, uint32_t launch,
                      rkb_error_t *err) {
   const struct verifier *me = from->verifier;
   const rkb_plan_t *plan = from->plan;
   struct sample *part = &alone->part;
   alone->part = *from;
   outcome_init(&alone->outcome, false);
   link_target(me, from->candidate->links, from->the_case, plan, known, launch, &alone->target);
   alone->stores = calloc(plan->launch_count + 1, sizeof *alone->stores);
   alone->judged_buffers = calloc(plan->buffer_count + 1, sizeof *alone->judged_buffers);
   part->inputs = NULL;
   part->outcome = &alone->outcome;
   part->target = &alone->target;
   part->known_stores = known;
   part->stores = alone->stores;
   part->judged_buffers = alone->judged_buffers;
   part->family = me->task->family_at(me->host, from->the_case, 0);
   part->judged = part->dont_care = part->final_elements = 0;
   if (!alone->stores || !alone->judged_buffers)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for a launch that is judged by itself");
   for (uint32_t n = 0; n <= launch; n++)
      if (alone->target.needed >> n & 1)
         alone->stores[n] = n == launch ? known[n] : known[n] & ~alone->target.given;
   int status = me->task->inputs_open(me->host, from->the_case, part->family, from->seed, &part->inputs, err);
   if (status == RKB_OK)
      status = link_give(me, &alone->target, plan, part->inputs, err);
   return status;
}

/* At check cases ------------------------------------------------------------------------------------------------------- */

/* All blocks of the launches that are needed, and none of the others. */
static bool list_launches(struct sample *part) {
   const uint32_t count = part->plan->launch_count;
   part->blocks = (struct block_sample){.launches = calloc(count + 1, sizeof *part->blocks.launches),
                                        .judged = calloc(count + 1, sizeof *part->blocks.judged),
                                        .launch_count = count};
   for (uint32_t n = 0; part->blocks.launches && part->blocks.judged && n < count; n++) {
      const uint32_t *grid = part->plan->launches[n].grid;
      part->blocks.launches[n].total = (uint64_t)grid[0] * grid[1] * grid[2];
      part->blocks.judged[n].none = !(part->target->needed >> n & 1);
   }
   return part->blocks.launches && part->blocks.judged;
}

static int execute_whole(struct sample *part, bool *holds, rkb_error_t *err) {
   const rkb_machine_options_t options = {.sample = part->blocks.judged,
                                          .memory_bytes = part->verifier->config->memory,
                                          .thread_instructions = part->candidate->budget,
                                          .fetch = sample_fetch,
                                          .fetch_argument = part,
                                          .stores = part->stores,
                                          .given = part->target->given};
   rkb_machine_report_t report;
   int status = sample_make_buffers(part, false, &part->buffers, err);
   if (status == RKB_OK)
      status = sample_execute(part, &options, err);
   if (status == RKB_OK) {
      rkb_machine_report(part->machine, &report);
      if (report.finding_count == 0)
         status = sample_judge_elements(part, err);
      *holds = report.finding_count == 0 && part->judged && part->outcome->rank == 0;
   }
   rkb_machine_close(part->machine);
   sample_free_buffers(part, part->buffers);
   return status;
}

/* Whether the launch still computes right results at a check case when its inputs are made-up intermediates. */
static int try_case(const struct sample *s, const rkb_case_t *the_case, uint32_t launch, bool *holds,
                    rkb_error_t *err) {
   const struct verifier *me = s->verifier;
   struct candidate *candidate = s->candidate;
   struct sample from = *s;
   struct alone alone = {.stores = NULL};
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   *holds = false;
   int status = me->kernel->plan(me->host, candidate->job, candidate->item, candidate->build, the_case, &plan,
                                 &finding, err);
   if (status != RKB_OK || !plan)
      return status;
   from.the_case = the_case;
   from.plan = plan;
   from.machine = NULL;
   from.buffers = NULL;
   from.judged_blocks = NULL;
   from.outputs = NULL;
   from.share = 0;
   from.blocks = (struct block_sample){.launches = NULL};
   status = open_alone(&alone, &from, s->stores, launch, err);
   if (status == RKB_OK && (!list_launches(&alone.part) || sample_make_marks(&alone.part, err) != RKB_OK))
      status = rkb_fail(err, RKB_ERR_NOMEM, "no memory for the blocks of a check case");
   if (status == RKB_OK)
      status = execute_whole(&alone.part, holds, err);
   sample_free_marks(&alone.part);
   block_sample_free(&alone.part.blocks);
   close_alone(&alone);
   me->kernel->plan_free(plan);
   return status == RKB_ERR_LIMIT ? RKB_OK : status;
}

static int try_launch(const struct sample *s, uint32_t launch, bool *holds, rkb_error_t *err) {
   struct links *links = s->candidate->links;
   int status = RKB_OK;
   *holds = true;
   if (links->tried[launch] == LINK_UNTRIED) {
      for (uint32_t n = 0; n < links->case_count && *holds && status == RKB_OK; n++)
         status = try_case(s, links->cases[n], launch, holds, err);
      links->tried[launch] = *holds && status == RKB_OK ? LINK_HOLDS : LINK_FAILS;
   }
   *holds = links->tried[launch] == LINK_HOLDS;
   return status;
}

/* At the bench shape -------------------------------------------------------------------------------------------------------- */

/* A launch by itself, judged on whatever thread is free. */
struct attempt {
   const struct sample *from;
   uint32_t launch;
   struct alone alone;
   struct sample whole;        /* as from, with a candidate of its own */
   struct candidate candidate; /* whose budget is what was left before the first launch */
   uint64_t spent;
   bool made;
   const char *why; /* nothing was judged; NULL: something was */
   int status;
   rkb_error_t err;
};

struct chain {
   struct sample *s;
   struct attempt *attempts;   /* by launch */
   uint32_t list[MOST_LINKED]; /* launches that are judged side by side */
   uint64_t had,
      judged; /* launches, a bit each: taken, and judged by themselves with all that they are given */
};

static const char *name_of(const struct sample *s, const struct link *link) {
   rkb_intermediate_t intermediate;
   if (!s->verifier->intermediates->at(s->the_case, link->number, &intermediate))
      return "?";
   return intermediate.name[0] ? intermediate.name : intermediate.operation;
}

/* "hidden (active), up (up)": buffers that were given, and the intermediates they hold. */
static void describe_given(const struct alone *alone, char *text, size_t size) {
   size_t used = 0;
   snprintf(text, size, "nothing");
   for (uint32_t b = 0; b < MOST_LINKED && used < size; b++)
      if (alone->target.given >> b & 1)
         used +=
            (size_t)snprintf(text + used, size - used, "%s%s (%s)", used ? ", " : "",
                             alone->part.plan->buffers[b].name, name_of(&alone->part, alone->target.link[b]));
}

/* "; partial, sums hold no intermediate of the reference": what the launch goes by and could not be given. */
static void describe_others(const struct alone *alone, char *text, size_t size) {
   const struct sample *part = &alone->part;
   size_t used = 0;
   uint32_t count = 0;
   text[0] = '\0';
   for (uint32_t b = 0; b < part->plan->buffer_count && b < MOST_LINKED; b++) {
      bool written = false;
      for (uint32_t n = 0; n < alone->target.launch; n++)
         written |= part->known_stores[n] >> b & 1;
      if (written && plan_takes(&part->plan->launches[alone->target.launch], b) &&
          !(alone->target.given >> b & 1) && used < size)
         used += (size_t)snprintf(text + used, size - used, "%s%s", count++ ? ", " : "; ",
                                  part->plan->buffers[b].name);
   }
   if (count && used < size)
      snprintf(text + used, size - used, " %s no intermediate of the reference",
               count > 1 ? "hold" : "holds");
}

static void leave_out(struct sample *s, const struct alone *alone, const char *why) {
   const uint32_t launch = alone->target.launch;
   char others[96], text[320];
   describe_others(alone, others, sizeof others);
   snprintf(text, sizeof text, "launch %u, %.60s, by itself: %s%s", launch,
            s->plan->launches[launch].expression, why, others);
   sample_leave_out(s, text);
}

/* What was found goes to the candidate's outcome: a value that is wrong there makes it suspect. */
static void take_outcome(struct sample *s, const struct alone *alone) {
   struct outcome *to = s->outcome;
   const struct outcome *of = &alone->outcome;
   char given[128];
   json_array_extend(to->sampled, of->sampled);
   json_array_extend(to->not_run, of->not_run);
   to->missed = of->missed > to->missed ? of->missed : to->missed;
   if (of->rank == 0)
      return;
   describe_given(alone, given, sizeof given);
   json_t *evidence = of->evidence ? json_deep_copy(of->evidence) : json_object();
   json_object_set_new(evidence, "launch", json_integer(alone->target.launch));
   json_object_set_new(evidence, "given", json_string(given));
   outcome_note(to, RKB_MACHINE_SUSPECT, of->reason, evidence, "launch %u by itself, given %s: %s",
                alone->target.launch, given, of->message);
}

static int judge_within(struct attempt *a, struct probe *probe, rkb_error_t *err) {
   struct sample *s = &a->whole;
   const rkb_machine_options_t options = {.memory_bytes = s->verifier->config->memory, .fetch = sample_fetch};
   bool holds = false;
   int status = open_alone(&a->alone, s, s->stores, a->launch, err);
   if (status == RKB_OK)
      status = try_launch(s, a->launch, &holds, err);
   if (status == RKB_OK && !holds) {
      a->why = "at the check cases it does not give what is right from made-up intermediates, or writes none";
      return RKB_OK;
   }
   if (status == RKB_OK)
      status = sample_judge_slice(s, &a->alone.part, a->launch, probe, LINK_WORK, &options, &a->why, err);
   if (status == RKB_OK && !a->why && !a->alone.part.judged)
      a->why = "none of its elements is final";
   if (status == RKB_ERR_LIMIT)
      a->why = err->message;
   return status == RKB_ERR_LIMIT ? RKB_OK : status;
}

static void make_attempt(struct attempt *a) {
   a->made = true;
   a->candidate = *a->from->candidate;
   a->whole = *a->from;
   a->whole.candidate = &a->candidate;
   struct probe *probe = sample_probe_new(&a->whole);
   a->status = probe ? judge_within(a, probe, &a->err)
                     : rkb_fail(&a->err, RKB_ERR_NOMEM, "no memory for the blocks of a slice");
   sample_probe_free(&a->whole, probe);
   a->spent = a->from->candidate->budget - a->candidate.budget;
}

static void run_attempt(void *argument, uint32_t number) {
   struct chain *chain = argument;
   make_attempt(&chain->attempts[chain->list[number]]);
}

/* Launches that write outputs of which nothing was judged, and those that they may go by. */
static uint32_t list_attempts(struct chain *chain) {
   const struct sample *s = chain->s;
   uint64_t needed = 0;
   uint32_t count = 0;
   for (uint32_t n = s->plan->launch_count; n-- > 0;) {
      struct link_target target;
      if (!(needed >> n & 1) && !sample_has_unjudged(s, n))
         continue;
      chain->list[count++] = n;
      link_target(s->verifier, s->candidate->links, s->the_case, s->plan, s->stores, n, &target);
      for (uint32_t b = 0; b < MOST_LINKED; b++)
         needed |= target.given >> b & 1 ? UINT64_C(1) << target.writer[b] : 0;
   }
   return count;
}

static int take_attempt(struct chain *chain, uint32_t launch, bool *judged, rkb_error_t *err);

/* The launches that write what a target is given. */
static int take_writers(struct chain *chain, const struct alone *alone, bool *judged, rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t b = 0; b < MOST_LINKED && status == RKB_OK; b++) {
      if (!(alone->target.given >> b & 1))
         continue;
      const uint64_t bit = UINT64_C(1) << alone->target.writer[b];
      if (!(chain->had & bit)) {
         bool all = false;
         chain->had |= bit;
         status = take_attempt(chain, alone->target.writer[b], &all, err);
         chain->judged |= all ? bit : 0;
      }
      *judged &= (chain->judged & bit) != 0;
   }
   return status;
}

/* *judged: elements of all that the launch writes were judged, and the same holds for the launches whose results it reads. */
static int take_attempt(struct chain *chain, uint32_t launch, bool *judged, rkb_error_t *err) {
   struct sample *s = chain->s;
   struct attempt *a = &chain->attempts[launch];
   if (!a->made)
      make_attempt(a);
   *judged = false;
   *err = a->err;
   s->candidate->budget -= a->spent < s->candidate->budget ? a->spent : s->candidate->budget;
   a->spent = 0;
   if (a->status != RKB_OK)
      return a->status;
   take_outcome(s, &a->alone);
   if (a->why)
      leave_out(s, &a->alone, a->why);
   *judged = !a->why && s->outcome->rank < RKB_MACHINE_SUSPECT;
   return *judged ? take_writers(chain, &a->alone, judged, err) : RKB_OK;
}

/* A launch that writes outputs of which nothing was judged yet. */
static int take_output_launch(struct chain *chain, uint32_t launch, rkb_error_t *err) {
   struct sample *s = chain->s;
   const struct alone *alone = &chain->attempts[launch].alone;
   bool judged = false;
   const int status = take_attempt(chain, launch, &judged, err);
   for (uint32_t b = 0; status == RKB_OK && judged && b < s->plan->buffer_count; b++)
      if (alone->judged_buffers[b] && sample_is_output(&s->plan->buffers[b]) && !s->judged_buffers[b]) {
         s->judged_buffers[b] = true;
         s->linked++;
      }
   return status;
}

static bool any_unjudged(const struct sample *s) {
   bool any = false;
   for (uint32_t n = 0; n < s->plan->launch_count; n++)
      any |= sample_has_unjudged(s, n);
   return any;
}

/* Every launch is judged with the budget that is left before the first, so that it does not matter which are judged at once. */
static int judge_chain(struct chain *chain, rkb_error_t *err) {
   struct sample *s = chain->s;
   const struct verifier *me = s->verifier;
   const uint32_t count = s->plan->launch_count;
   struct sample whole = *s;
   struct candidate candidate = *s->candidate;
   int status = RKB_OK;
   whole.candidate = &candidate;
   chain->attempts = calloc(count + 1, sizeof *chain->attempts);
   if (!chain->attempts)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for launches that are judged by themselves");
   for (uint32_t n = 0; n < count; n++)
      chain->attempts[n] = (struct attempt){.from = &whole, .launch = n};
   if (s->shares && me->workers)
      me->workers->share(me->host, list_attempts(chain), run_attempt, chain);
   for (uint32_t n = count; n-- > 0 && status == RKB_OK;)
      if (s->outcome->rank < RKB_MACHINE_SUSPECT && s->candidate->budget && sample_has_unjudged(s, n))
         status = take_output_launch(chain, n, err);
   for (uint32_t n = 0; n < count; n++)
      if (chain->attempts[n].made)
         close_alone(&chain->attempts[n].alone);
   free(chain->attempts);
   return status;
}

int sample_judge_links(struct sample *s, const rkb_machine_options_t *options, rkb_error_t *err) {
   struct chain chain = {.s = s};
   if (!options->sample || s->plan->launch_count < 2 || s->plan->buffer_count > MOST_LINKED ||
       s->plan->launch_count > MOST_LINKED || !any_unjudged(s))
      return RKB_OK;
   const int status = links_find(s->verifier, s->candidate, s->the_case, s->plan, s->stores, err);
   return status == RKB_OK && s->candidate->links->case_count ? judge_chain(&chain, err) : status;
}
