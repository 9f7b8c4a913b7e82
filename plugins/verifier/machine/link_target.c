/* What is needed to judge a launch by itself: which buffers get made-up intermediates, and which earlier launches must be executed
 * because they write values that are no intermediates.  Pure, except for the reference.  One worker thread. */
#include "launch_intermediates.h"

#define PIECE 512u

bool plan_takes(const rkb_plan_launch_t *launch, uint32_t buffer) {
   for (uint32_t a = 0; a < launch->argument_count; a++)
      if (launch->arguments[a].buffer == buffer)
         return true;
   return false;
}

/* The last launch before this one that writes the buffer; UINT32_MAX: none. */
static uint32_t last_writer(const uint64_t *stores, uint32_t before, uint32_t buffer) {
   for (uint32_t n = before; n-- > 0;)
      if (stores[n] >> buffer & 1)
         return n;
   return UINT32_MAX;
}

/* A target while it is built. */
struct draft {
   const struct verifier *verifier;
   const struct links *links;
   const rkb_case_t *the_case;
   const rkb_plan_t *plan;
   const uint64_t *stores;
   uint64_t executed; /* buffers that are not given: a launch before the target writes them, or they would hold two things */
   struct link_target *target;
};

/* Gives a buffer that a launch takes, or marks the launches that write it; false: it would hold two things. */
static bool need_buffer(struct draft *draft, uint32_t launch, uint32_t buffer) {
   struct link_target *target = draft->target;
   const uint32_t writer = last_writer(draft->stores, launch, buffer);
   if (writer == UINT32_MAX)
      return true;
   const struct link *link = link_after(draft->links, writer, buffer);
   const bool give =
      !(draft->executed >> buffer & 1) &&
      link_fits(draft->verifier, draft->links, draft->the_case, &draft->plan->buffers[buffer], link);
   if (!give) {
      for (uint32_t n = 0; n < launch; n++)
         target->needed |= draft->stores[n] >> buffer & 1 ? UINT64_C(1) << n : 0;
      return true;
   }
   if (target->given >> buffer & 1)
      return target->writer[buffer] == writer;
   target->given |= UINT64_C(1) << buffer;
   target->link[buffer] = link;
   target->writer[buffer] = writer;
   return true;
}

/* Returns the buffers that cannot be given after all. */
static uint64_t try_target(struct draft *draft, uint32_t launch) {
   struct link_target *target = draft->target;
   uint64_t clash = 0;
   *target = (struct link_target){.launch = launch, .needed = UINT64_C(1) << launch};
   for (uint32_t n = launch + 1; n-- > 0;)
      for (uint32_t b = 0; (target->needed >> n & 1) && b < draft->plan->buffer_count; b++)
         if (draft->plan->buffers[b].role != RKB_IN && plan_takes(&draft->plan->launches[n], b) && !need_buffer(draft, n, b))
            clash |= UINT64_C(1) << b;
   for (uint32_t n = 0; n < launch; n++)
      if (target->needed >> n & 1)
         clash |= draft->stores[n] & target->given;
   return clash;
}

void link_target(const struct verifier *verifier, const struct links *links, const rkb_case_t *the_case, const rkb_plan_t *plan,
                 const uint64_t *stores, uint32_t launch, struct link_target *target) {
   struct draft draft = {verifier, links, the_case, plan, stores, 0, target};
   uint64_t clash = 0;
   do {
      draft.executed |= clash;
      clash = try_target(&draft, launch) & ~draft.executed;
   } while (clash);
}

void link_elements(const struct link *link, const rkb_intermediate_t *intermediate, const uint64_t *elements,
                   uint64_t count, uint64_t *out) {
   for (uint64_t n = 0; n < count; n++) {
      int64_t at[RKB_MAX_RANK] = {0};
      uint64_t left = elements[n], element = 0;
      for (uint32_t d = intermediate->rank; d-- > 0; left /= (uint64_t)intermediate->shape[link->order[d]])
         at[link->order[d]] = (int64_t)(left % (uint64_t)intermediate->shape[link->order[d]]);
      for (uint32_t d = 0; d < intermediate->rank; d++)
         element = element * (uint64_t)intermediate->shape[d] + (uint64_t)at[d];
      out[n] = element;
   }
}

int link_give(const struct verifier *verifier, const struct link_target *target, const rkb_plan_t *plan,
              rkb_inputs_t *inputs, rkb_error_t *err) {
   uint32_t numbers[MOST_LINKED], dtypes[MOST_LINKED], count = 0;
   for (uint32_t b = 0; b < MOST_LINKED; b++) {
      bool again = false;
      for (uint32_t n = 0; (target->given >> b & 1) && n < count; n++)
         again |= numbers[n] == target->link[b]->number;
      if (!(target->given >> b & 1) || again)
         continue;
      numbers[count] = target->link[b]->number;
      dtypes[count++] = plan->buffers[b].dtype;
   }
   return verifier->intermediates->give(inputs, numbers, dtypes, count, err);
}

int link_fill(const struct verifier *verifier, const rkb_case_t *the_case, const struct link *link,
              const rkb_inputs_t *inputs, uint64_t first, uint64_t count, void *out) {
   rkb_intermediate_t intermediate;
   uint64_t at[PIECE], elements[PIECE];
   rkb_error_t ignored;
   uint8_t *bytes = out;
   int status = verifier->intermediates->at(the_case, link->number, &intermediate) ? RKB_OK : RKB_ERR_INVALID;
   while (count && status == RKB_OK) {
      const uint64_t piece = count < PIECE ? count : PIECE;
      uint64_t width = 0;
      for (uint64_t n = 0; n < piece; n++)
         at[n] = first + n;
      link_elements(link, &intermediate, at, piece, elements);
      status = verifier->intermediates->fill(inputs, link->number, elements, piece, bytes, &width, &ignored);
      bytes += piece * width;
      first += piece;
      count -= piece;
   }
   return status;
}
