/* Intermediates that hold the same values at the cases where links were found.  Two products of one input do so if both weights are ones.  A buffer that fits
 * several of them may hold any of them.  If these intermediates differ at a smaller shape like the bench shape, a link to the first of them would be a guess.
 * One worker thread a candidate. */
#include "launch_intermediates.h"

#include <math.h>

#define COMPARED 8u /* elements, evenly spread */

/* Whether two intermediates hold the same values at a case, as far as some elements show.  *same is false where these cost too much. */
static int compare_expected(const struct verifier *verifier, const rkb_case_t *the_case, const rkb_inputs_t *inputs, const struct link *one,
                            const struct link *other, bool *same, rkb_error_t *err) {
   const struct link *const both[] = {one, other};
   double value[2][COMPARED], hard[2][COMPARED], stat[COMPARED];
   uint8_t flags[COMPARED];
   rkb_intermediate_t there[2];
   *same = false;
   for (uint32_t i = 0; i < 2; i++)
      if (!verifier->intermediates->at(the_case, both[i]->number, &there[i]))
         return RKB_OK;
   if (there[0].elements != there[1].elements)
      return RKB_OK;
   const uint64_t total = there[0].elements, count = total < COMPARED ? total : COMPARED;
   uint64_t in_buffer[COMPARED], elements[COMPARED];
   for (uint64_t n = 0; n < count; n++)
      in_buffer[n] = n * total / count;
   for (uint32_t i = 0; i < 2; i++) {
      link_elements(both[i], &there[i], in_buffer, count, elements);
      const int status =
         verifier->intermediates->expect_points(inputs, both[i]->number, elements, count, value[i], hard[i], stat, flags, err);
      if (status != RKB_OK)
         return status == RKB_ERR_LIMIT ? RKB_OK : status;
   }
   *same = true;
   for (uint64_t n = 0; n < count; n++)
      *same &= fabs(value[0][n] - value[1][n]) <= hard[0][n] + hard[1][n];
   return RKB_OK;
}

bool links_are_ambiguous(const struct links *links) {
   bool any = false;
   for (uint32_t n = 0; n < links->launch_count * links->buffer_count; n++)
      any |= links->after[n].known && links->others[n].count > 0;
   return any;
}

int links_doubt(const struct verifier *verifier, const struct candidate *candidate, struct links *links, bool *doubt, rkb_error_t *err) {
   const rkb_case_t *const at = links->reduced;
   rkb_inputs_t *inputs = NULL;
   int status = at ? verifier->task->inputs_open(verifier->host, at, verifier->task->family_at(verifier->host, at, 0),
                                                 verifier_seed(verifier, candidate, 0), &inputs, err)
                   : RKB_OK;
   *doubt = false;
   for (uint32_t n = 0; n < links->launch_count * links->buffer_count && status == RKB_OK; n++) {
      struct other_links *others = &links->others[n];
      others->differ = false;
      for (uint32_t t = 0; links->after[n].known && t < others->count && status == RKB_OK && !others->differ;
           t++) {
         bool same = false;
         if (at)
            status = compare_expected(verifier, at, inputs, &links->after[n], &others->list[t], &same, err);
         others->differ = !same;
      }
      *doubt |= others->differ;
   }
   if (inputs)
      verifier->task->inputs_free(inputs);
   return status;
}

void links_drop_doubtful(struct links *links) {
   for (uint32_t n = 0; n < links->launch_count * links->buffer_count; n++)
      links->after[n].known &= !links->others[n].differ;
}
