/* Features of shapes, as numbers in a hash table.  One thread. */
#include "shape_features.h"

#include <string.h>

#define LARGEST_MODE 8 /* largest value of a mode over all cases of the task */
#define LARGEST_MODULUS 32
#define LARGE_DIM                                                                                            \
   64 /* from here on a residue is a feature of its own: long rows have other tails than short ones */
/* Weights against one residue modulo 32.  The fewer residues a modulus has, the sooner all of them are had; two modes are few, and
 * nothing else shows them together. */
#define WEIGHT_OF_MODES LARGEST_MODULUS
#define WEIGHT_OF_OCTAVE 16
#define MOST_DIMS 64

bool shape_features_take(struct shape_features *features, uint64_t feature, bool note) {
   feature = (feature + 1) * 0x9E3779B97F4A7C15u;
   uint32_t place = (uint32_t)(feature >> 32) % FEATURE_PLACES;
   while (features->seen[place] && features->seen[place] != feature)
      place = (place + 1) % FEATURE_PLACES;
   if (features->seen[place] || features->count >= FEATURE_PLACES / 2)
      return false;
   if (note) {
      features->seen[place] = feature;
      features->count++;
   }
   return true;
}

static uint64_t feature_of(uint32_t kind, uint32_t dim, uint64_t value, uint64_t more) {
   return ((uint64_t)kind << 56) ^ ((uint64_t)dim << 48) ^ (value << 24) ^ more;
}

uint32_t shape_features_new(struct shape_features *features, const rkb_case_t *the_case, bool note) {
   uint32_t found = 0;
   for (uint32_t d = 0; d < the_case->dim_count && d < MOST_DIMS; d++) {
      const uint64_t value = (uint64_t)the_case->dims[d].value;
      if (features->modes >> d & 1) {
         for (uint32_t e = d + 1; e < the_case->dim_count && e < MOST_DIMS; e++)
            if (features->modes >> e & 1)
               found +=
                  WEIGHT_OF_MODES *
                  shape_features_take(features, feature_of(1, d, value << 6 | e, (uint64_t)the_case->dims[e].value), note);
         continue;
      }
      found += WEIGHT_OF_OCTAVE *
               shape_features_take(features, feature_of(2, d, 63 - (uint64_t)__builtin_clzll(value | 1), 0), note);
      for (uint64_t modulus = 2; modulus <= LARGEST_MODULUS && value > modulus; modulus *= 2)
         found += (uint32_t)(LARGEST_MODULUS / modulus) *
                  shape_features_take(features, feature_of(value >= LARGE_DIM ? 4 : 3, d, modulus, value % modulus), note);
   }
   return found;
}

static void note_all(struct shape_features *features, const struct verifier *verifier,
                     enum rkb_case_kind kind, void (*note)(struct shape_features *, const rkb_case_t *)) {
   const rkb_case_t *the_case;
   for (uint32_t n = 0; (the_case = verifier->task->case_at(verifier->host, kind, n)) != NULL; n++)
      note(features, the_case);
}

static void rule_out_modes(struct shape_features *features, const rkb_case_t *the_case) {
   for (uint32_t d = 0; d < the_case->dim_count && d < MOST_DIMS; d++)
      if (the_case->dims[d].value > LARGEST_MODE)
         features->modes &= ~(1ull << d);
}

static void note_case(struct shape_features *features, const rkb_case_t *the_case) {
   (void)shape_features_new(features, the_case, true);
}

void shape_features_open(struct shape_features *features, const struct verifier *verifier) {
   memset(features, 0, sizeof *features);
   features->modes = ~0ull;
   note_all(features, verifier, RKB_CASE_CHECK, rule_out_modes);
   note_all(features, verifier, RKB_CASE_BENCH, rule_out_modes);
   note_all(features, verifier, RKB_CASE_CHECK, note_case);
}
