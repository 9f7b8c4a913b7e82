/* The families that were too costly for the cases they came up at: each is executed on as many cases as are needed to show a fault, where
 * that costs least.  After all cases were executed on their first family, on the candidate's worker thread. */
#include "verifier.h"

#include <stdlib.h>
#include <string.h>

#define TELLING_CASES 3 /* of a family that is made to show a low precision or a wrong guard */
#define OTHER_CASES 2
#define TELLING_OPERATIONS 1000 /* a case with fewer elements shows little and does not count */

/* counts: name of a family, so many cases executed on it that tell something. */
static void count_case(json_t *counts, const struct verifier *verifier, const rkb_case_t *the_case,
                       uint64_t families) {
   for (uint64_t left = families; left; left &= left - 1) {
      const rkb_family_t *family =
         verifier->task->family_at(verifier->host, the_case, (uint32_t)__builtin_ctzll(left));
      const json_int_t before = json_integer_value(json_object_get(counts, family->name));
      json_object_set_new(counts, family->name, json_integer(before + 1));
   }
}

static bool tells(const rkb_case_t *the_case) {
   return the_case->operations >= TELLING_OPERATIONS;
}

static json_int_t enough(const rkb_family_t *family, const struct owed *owed) {
   const bool telling = family->decides_precision || strcmp(family->name, "guarded") == 0;
   return owed->largest > LARGE_RUN || !tells(owed->the_case) ? 1 : telling ? TELLING_CASES : OTHER_CASES;
}

/* Which of a case's remaining families are still wanted. */
static uint64_t choose(const struct verifier *verifier, const json_t *counts, const struct owed *owed) {
   uint64_t chosen = 0;
   for (uint64_t left = owed->families; left; left &= left - 1) {
      const uint32_t f = (uint32_t)__builtin_ctzll(left);
      const rkb_family_t *family = verifier->task->family_at(verifier->host, owed->the_case, f);
      if (json_integer_value(json_object_get(counts, family->name)) < enough(family, owed))
         chosen |= 1ull << f;
   }
   return chosen;
}

static int cost_class(uint64_t work) {
   return work ? 63 - __builtin_clzll(work) : 0;
}

/* Cases that tell something come first, then the cheapest.  Among cases whose costs differ by less than a factor of two the order is drawn, so that nobody
 * knows it beforehand. */
static int compare(const void *a, const void *b) {
   const struct owed *x = *(struct owed *const *)a, *y = *(struct owed *const *)b;
   const int told = (int)tells(y->the_case) - (int)tells(x->the_case);
   const int dearer = cost_class(x->largest) - cost_class(y->largest);
   return told                 ? told
          : dearer             ? dearer
          : x->turn != y->turn ? (x->turn > y->turn ? 1 : -1)
                               : (x > y) - (x < y);
}

bool owed_settle(const struct verifier *verifier, const struct candidate *candidate, struct owed *owed,
                 uint32_t count) {
   rkb_random_t stream = verifier->random->for_job(verifier->host, candidate->job, STREAM_FAMILIES);
   struct owed **order = calloc(count + 1, sizeof *order);
   json_t *counts = json_object();
   const bool made = order && counts;
   for (uint32_t n = 0; made && n < count; n++) {
      order[n] = &owed[n];
      owed[n].turn = verifier->random->next(&stream);
      if (tells(owed[n].the_case))
         count_case(counts, verifier, owed[n].the_case, owed[n].executed);
   }
   if (made)
      qsort(order, count, sizeof *order, compare);
   for (uint32_t n = 0; made && n < count; n++) {
      order[n]->families = choose(verifier, counts, order[n]);
      count_case(counts, verifier, order[n]->the_case, order[n]->families);
   }
   json_decref(counts);
   free(order);
   return made;
}
