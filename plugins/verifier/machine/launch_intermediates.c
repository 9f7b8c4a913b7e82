/* Finds the links: executes the plan of a small case, and compares what its launches leave in each floating-point buffer with each intermediate
 * of the reference that has as many elements, in every order of its dims.  A link holds when it is found at every case that was tried.  One
 * worker thread a candidate. */
#include "launch_intermediates.h"

#include "case_trial.h"

#include <stdlib.h>
#include <string.h>

#define OTHERS_COMPARED                                                                                      \
   2u /* elements that are compared first with another intermediate: it may be costly, and hardly ever fits too */
#define FIRST_COMPARED 32u  /* elements, which tell most intermediates apart */
#define MOST_COMPARED 4096u
#define MOST_PERMUTED 4u    /* dims of an intermediate that is looked for in other orders */
#define MOST_ORDERS 24u

void links_free(struct links *links) {
   if (!links)
      return;
   free(links->names);
   free(links->after);
   free(links->others);
   free(links->tried);
   if (links->reduced)
      links->case_free(links->reduced);
   free(links);
}

/* Orders of dims ------------------------------------------------------------------------------------------------------ */

struct orders {
   uint32_t list[MOST_ORDERS][RKB_MAX_RANK], count;
};

static void add_orders(const rkb_intermediate_t *of, uint32_t *order, uint32_t had, uint32_t used, struct orders *orders) {
   if (had == of->rank) {
      memcpy(orders->list[orders->count++], order, sizeof orders->list[0]);
      return;
   }
   for (uint32_t d = 0; d < of->rank; d++) {
      /* Dims of one element stay where they are in front of the next one. */
      const bool late = had && of->shape[d] == 1 && d != order[had - 1] + 1;
      if ((used >> d & 1) || (late && of->rank > 1))
         continue;
      order[had] = d;
      add_orders(of, order, had + 1, used | 1u << d, orders);
   }
}

/* The order as it is first. */
static void list_orders(const rkb_intermediate_t *of, struct orders *orders) {
   uint32_t order[RKB_MAX_RANK] = {0};
   orders->count = 0;
   if (of->rank <= MOST_PERMUTED)
      add_orders(of, order, 0, 0, orders);
   if (orders->count == 0) {
      for (uint32_t d = 0; d < RKB_MAX_RANK; d++)
         orders->list[0][d] = d;
      orders->count = 1;
   }
}

/* Comparing ------------------------------------------------------------------------------------------------------------ */

struct comparison {
   struct trial trial; /* the case */
   const void *data;   /* of the buffer */
   const rkb_plan_buffer_t *buffer;
};

/* Whether count elements, evenly spread, are those of the intermediate. */
static int compare(const struct comparison *c, const struct link *link, const rkb_intermediate_t *intermediate,
                   uint64_t count, bool *equal, rkb_error_t *err) {
   const rkb_intermediates_api_t *api = c->trial.verifier->intermediates;
   const uint64_t total = c->buffer->elements, width = c->buffer->bytes / total;
   count = count < total ? count : total;
   uint64_t *at = calloc(2 * count, sizeof *at);
   double *numbers = calloc(3 * count, sizeof *numbers);
   uint8_t *flags = calloc(count, 1), *data = calloc(count, width);
   rkb_judgement_t judgement = {.size = sizeof judgement};
   int status = at && numbers && flags && data ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "no memory to compare buffers");
   for (uint64_t n = 0; status == RKB_OK && n < count; n++) {
      at[n] = n * total / count;
      memcpy(data + n * width, (const uint8_t *)c->data + at[n] * width, width);
   }
   if (status == RKB_OK) {
      link_elements(link, intermediate, at, count, at + count);
      status = api->expect_points(c->trial.inputs, link->number, at + count, count, numbers, numbers + count,
                                  numbers + 2 * count, flags, err);
   }
   if (status == RKB_OK) {
      const rkb_points_t points = {numbers, numbers + count, numbers + 2 * count, flags, count};
      status = api->judge(c->trial.inputs, link->number, c->buffer->dtype, data, &points, at, &judgement, err);
   }
   *equal = status == RKB_OK && !judgement.standing_is_reject && !judgement.suspect && 2 * judgement.judged >= count;
   free(at);
   free(numbers);
   free(flags);
   free(data);
   return status == RKB_ERR_LIMIT ? RKB_OK : status; /* it costs too much, or too many are ambiguous: it is not found */
}

static int compare_all(const struct comparison *c, const struct link *link,
                       const rkb_intermediate_t *intermediate, bool of_others, bool *equal,
                       rkb_error_t *err) {
   int status = compare(c, link, intermediate, of_others ? OTHERS_COMPARED : FIRST_COMPARED, equal, err);
   if (status == RKB_OK && *equal && of_others)
      status = compare(c, link, intermediate, FIRST_COMPARED, equal, err);
   if (status == RKB_OK && *equal && c->buffer->elements > FIRST_COMPARED)
      status = compare(c, link, intermediate, MOST_COMPARED, equal, err);
   return status;
}

/* The intermediates that the buffer fits, each in the first order that does.  The link is the first of them, from which equal ones come. */
static int find_link(const struct comparison *c, struct link *link, struct other_links *others,
                     rkb_error_t *err) {
   const rkb_intermediates_api_t *api = c->trial.verifier->intermediates;
   rkb_intermediate_t intermediate;
   struct orders orders;
   int status = RKB_OK;
   for (uint32_t number = 0; status == RKB_OK && others->count < MOST_OTHER_LINKS &&
                             api->at(c->trial.the_case, number, &intermediate);
        number++) {
      struct link fits = {.number = number};
      if (intermediate.elements != c->buffer->elements)
         continue;
      list_orders(&intermediate, &orders);
      for (uint32_t n = 0; n < orders.count && !fits.known && status == RKB_OK; n++) {
         memcpy(fits.order, orders.list[n], sizeof fits.order);
         status = compare_all(c, &fits, &intermediate, link->known, &fits.known, err);
      }
      if (fits.known)
         *(link->known ? &others->list[others->count++] : link) = fits;
   }
   return status;
}

static int compare_again(const struct comparison *c, struct link *link, rkb_error_t *err) {
   rkb_intermediate_t intermediate;
   bool equal = false;
   int status = RKB_OK;
   if (c->trial.verifier->intermediates->at(c->trial.the_case, link->number, &intermediate) &&
       intermediate.elements == c->buffer->elements)
      status = compare_all(c, link, &intermediate, false, &equal, err);
   link->known = equal;
   return status;
}

/* Keeps the link and the other links that fit at this case too. */
static int keep_fitting(const struct comparison *c, struct link *link, struct other_links *others,
                        rkb_error_t *err) {
   const uint32_t had = others->count;
   int status = compare_again(c, link, err);
   others->count = 0;
   for (uint32_t n = 0; n < had && status == RKB_OK; n++) {
      struct link other = others->list[n];
      status = compare_again(c, &other, err);
      if (other.known)
         *(link->known ? &others->list[others->count++] : link) = other;
   }
   return status;
}

static bool is_float(const rkb_plan_buffer_t *buffer) {
   return buffer->elements && (buffer->dtype == RKB_F32 || buffer->dtype == RKB_F16 || buffer->dtype == RKB_BF16);
}

/* Executing ------------------------------------------------------------------------------------------------------------ */

/* Compares the buffers that the launch writes: if whole, those that no later launch writes; else those that a later launch writes too. */
static int compare_launch(struct links *links, struct comparison *c, const uint64_t *stores, uint32_t launch, bool first,
                          bool whole, rkb_error_t *err) {
   const rkb_plan_t *plan = c->trial.plan;
   int status = RKB_OK;
   for (uint32_t b = 0; b < plan->buffer_count && status == RKB_OK; b++) {
      struct link *link = &links->after[launch * links->buffer_count + b];
      bool again = false;
      for (uint32_t later = launch + 1; later < plan->launch_count; later++)
         again |= stores[later] >> b & 1;
      if (!(stores[launch] >> b & 1) || again == whole || !is_float(&plan->buffers[b]))
         continue;
      c->buffer = &plan->buffers[b];
      c->data = c->trial.buffers[b].data;
      struct other_links *others = &links->others[launch * links->buffer_count + b];
      if (first)
         status = find_link(c, link, others, err);
      else if (link->known)
         status = keep_fitting(c, link, others, err);
   }
   return status;
}

static bool is_overwritten(const rkb_plan_t *plan, const uint64_t *stores, uint32_t launch) {
   uint64_t later = 0;
   for (uint32_t n = launch + 1; n < plan->launch_count; n++)
      later |= stores[n];
   return (stores[launch] & later) != 0;
}

/* Executes the first launches of the plan. */
static int execute(struct comparison *c, uint32_t launches, bool *complete, rkb_error_t *err) {
   struct trial *t = &c->trial;
   rkb_plan_t begun = *t->plan;
   const rkb_machine_options_t options = {.memory_bytes = t->verifier->config->memory,
                                          .thread_instructions = t->candidate->budget};
   rkb_machine_t *machine = NULL;
   rkb_machine_report_t report;
   begun.launch_count = launches;
   int status = trial_fill(t, t->buffers, err);
   if (status == RKB_OK)
      status = rkb_machine_open(t->candidate->module, &begun, &options, &machine, err);
   if (status == RKB_OK)
      status = rkb_machine_run(machine, t->buffers, err);
   *complete = false;
   if (status == RKB_OK) {
      rkb_machine_report(machine, &report);
      t->candidate->budget -= report.work < t->candidate->budget ? report.work : t->candidate->budget;
      *complete = report.complete && report.finding_count == 0;
   }
   rkb_machine_close(machine);
   return status;
}

static void forget(struct links *links) {
   const size_t count = (size_t)links->launch_count * links->buffer_count;
   memset(links->after, 0, count * sizeof *links->after);
   memset(links->others, 0, count * sizeof *links->others);
}

static int compare_case(struct links *links, struct comparison *c, const uint64_t *stores, bool first, rkb_error_t *err) {
   const uint32_t count = c->trial.plan->launch_count;
   bool complete;
   int status = execute(c, count, &complete, err);
   for (uint32_t n = 0; n < count && status == RKB_OK && complete; n++)
      status = compare_launch(links, c, stores, n, first, true, err);
   for (uint32_t n = 0; n < count && status == RKB_OK && complete; n++)
      if (is_overwritten(c->trial.plan, stores, n)) {
         status = execute(c, n + 1, &complete, err);
         if (status == RKB_OK && complete)
            status = compare_launch(links, c, stores, n, first, false, err);
      }
   if (status == RKB_OK && !complete)
      forget(links);
   return status;
}

static bool same_launches(const struct candidate *candidate, const struct links *links,
                          const rkb_plan_t *plan) {
   bool same = links->launch_count == plan->launch_count && links->buffer_count == plan->buffer_count;
   for (uint32_t n = 0; same && n < plan->launch_count; n++)
      same = links->names[n] == shapes_launch_name(candidate, &plan->launches[n]);
   return same;
}

/* Compares at a case, where the launches are the same. */
static int try_case(const struct verifier *me, struct candidate *candidate, struct links *links, const rkb_case_t *the_case,
                    const uint64_t *stores, rkb_error_t *err) {
   struct comparison c = {.trial = {.verifier = me, .candidate = candidate, .the_case = the_case}};
   rkb_finding_t finding = {0};
   int status = me->kernel->plan(me->host, candidate->job, candidate->item, candidate->build, the_case, &c.trial.plan,
                                 &finding, err);
   if (status != RKB_OK || !c.trial.plan)
      return status;
   if (same_launches(candidate, links, c.trial.plan) && trial_bytes(&c.trial) <= me->config->memory) {
      c.trial.buffers = trial_buffers(&c.trial);
      status = c.trial.buffers ? me->task->inputs_open(me->host, the_case, me->task->family_at(me->host, the_case, 0),
                                                       verifier_seed(me, candidate, 0), &c.trial.inputs, err)
                               : rkb_fail(err, RKB_ERR_NOMEM, "no memory for the buffers of case %s", the_case->name);
      if (status == RKB_OK)
         status = compare_case(links, &c, stores, links->case_count == 0, err);
      if (status == RKB_OK)
         links->cases[links->case_count++] = the_case;
      trial_free_buffers(&c.trial, c.trial.buffers);
   }
   if (c.trial.inputs)
      me->task->inputs_free(c.trial.inputs);
   me->kernel->plan_free(c.trial.plan);
   return status;
}

static struct links *make(const struct candidate *candidate, const rkb_plan_t *plan) {
   struct links *links = calloc(1, sizeof *links);
   if (!links)
      return NULL;
   links->launch_count = plan->launch_count;
   links->buffer_count = plan->buffer_count;
   links->names = calloc(plan->launch_count + 1, sizeof *links->names);
   links->after = calloc((size_t)plan->launch_count * plan->buffer_count + 1, sizeof *links->after);
   links->others = calloc((size_t)plan->launch_count * plan->buffer_count + 1, sizeof *links->others);
   links->tried = calloc(plan->launch_count + 1, sizeof *links->tried);
   if (!links->names || !links->after || !links->others || !links->tried) {
      links_free(links);
      return NULL;
   }
   for (uint32_t n = 0; n < plan->launch_count; n++)
      links->names[n] = shapes_launch_name(candidate, &plan->launches[n]);
   return links;
}

static int try_check_cases(const struct verifier *me, struct candidate *candidate, struct links *links,
                           const uint64_t *stores, rkb_error_t *err) {
   const uint32_t most = links->case_count + MOST_LINK_CHECKS;
   int status = RKB_OK;
   const rkb_case_t *at = link_case_before(me, links->bench, NULL);
   while (at && status == RKB_OK && links->case_count < most) {
      status = try_case(me, candidate, links, at, stores, err);
      at = link_case_before(me, links->bench, at);
   }
   return status;
}

static int make_reduced(const struct verifier *me, const struct candidate *candidate, struct links *links, rkb_error_t *err) {
   links->case_free = me->task->case_free;
   return links->reduced ? RKB_OK : link_case_reduced(me, candidate, links->bench, &links->reduced, err);
}

/* Looks again where the check cases leave open which intermediate a buffer holds, or in which order its dims lie, at first at a shape that has several elements of them. */
static int try_reduced(const struct verifier *me, struct candidate *candidate, struct links *links,
                       const uint64_t *stores, rkb_error_t *err) {
   int status = make_reduced(me, candidate, links, err);
   if (status != RKB_OK || !links->reduced)
      return status;
   forget(links);
   links->case_count = 0;
   status = try_case(me, candidate, links, links->reduced, stores, err);
   return status == RKB_OK ? try_check_cases(me, candidate, links, stores, err) : status;
}

int links_find(const struct verifier *me, struct candidate *candidate, const rkb_case_t *the_case, const rkb_plan_t *plan,
               const uint64_t *stores, rkb_error_t *err) {
   struct links *links = candidate->links;
   if (links && same_launches(candidate, links, plan) &&
       (links->bench == the_case || link_cases_tell(me, links, the_case)))
      return RKB_OK;
   links_free(links);
   links = candidate->links = make(candidate, plan);
   if (!links)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for what buffers hold");
   links->bench = the_case;
   if (plan->buffer_count > MOST_LINKED || plan->launch_count > MOST_LINKED)
      return RKB_OK;
   bool doubt = false;
   int status = try_check_cases(me, candidate, links, stores, err);
   if (status == RKB_OK && links_are_ambiguous(links)) {
      status = make_reduced(me, candidate, links, err);
      if (status == RKB_OK)
         status = links_doubt(me, candidate, links, &doubt, err);
   }
   if (status == RKB_OK && links->case_count && (doubt || !link_cases_tell(me, links, the_case)))
      status = try_reduced(me, candidate, links, stores, err); /* what fits several there holds the same */
   links_drop_doubtful(links);
   return status;
}
