/* What is structure in a schedule, and what is not: kernels that islands keep apart, and kernels that share one. */
#include <string.h>
#include "check.h"
#include "generator/decisions/schedule_structure.h"

#define HEAD "/* rkb: 1\nkernels: []\nschedule:\n  version: 4\n  launches:\n"
#define TILE "    - {map: tile, compute: [y], write: [y], vector: 4, split: 1, tile_m: "
#define REST ", thread_m: 4, thread_n: 4, prefetch: "
#define END "}\n*/\n"

enum { PLAN = 1, MAPPING = 2, STAGING = 4 };

static const struct {
   const char *what, *one, *other;
   int differ; /* which numbers must differ; the others must be equal */
} cases[] = {
   {"other tiles", HEAD TILE "128, tile_n: 64, tile_k: 8" REST "1" END, HEAD TILE "64, tile_n: 32, tile_k: 16" REST "1" END, 0},
   {"texts of one length, one without prefetch", HEAD TILE "64, tile_n: 64, tile_k: 8" REST "1" END, HEAD TILE "64, tile_n: 64, tile_k: 8" REST "0" END,
    STAGING},
   {"more parts of a sum", HEAD "    - {map: row, write: [y], split: 4" END, HEAD "    - {map: row, write: [y], split: 8" END, 0},
   {"a sum in parts", HEAD "    - {map: row, write: [y], split: 1" END, HEAD "    - {map: row, write: [y], split: 8" END, STAGING},
   {"texts of one length, another copy", HEAD "    - {map: tensor, write: [y], tensor: bf16, copy: cp.async, stages: 3" END,
    HEAD "    - {map: tensor, write: [y], tensor: bf16, copy: tensor, stages:   3" END, STAGING},
   {"another tensor path", HEAD "    - {map: tensor, write: [y], tensor: bf16, copy: plain, stages: 1" END,
    HEAD "    - {map: tensor, write: [y], tensor: fp16, copy: plain, stages: 1" END, MAPPING},
   {"another mapping", HEAD "    - {map: row, compute: [s], write: [y], split: 1" END, HEAD "    - {map: column, compute: [s], write: [y], split: 1" END,
    MAPPING},
   {"a value that is stored, texts of one length", HEAD "    - {map: row, compute: [s], write: [y, s], split: 1" END,
    HEAD "    - {map: row, compute: [s], write: [y],    split: 1" END, PLAN | MAPPING | STAGING},
   {"two launches instead of one", HEAD "    - {map: row, compute: [s, t], write: [y], split: 1" END,
    HEAD "    - {map: row, compute: [s], write: [s], split: 1}\n    - {map: row, compute: [t], write: [y], split: 1" END, PLAN | MAPPING | STAGING},
   {"names in another order, launches too", HEAD "    - {map: row, compute: [s, t], write: [y]}\n    - {map: element, write: [z]" END,
    HEAD "    - {map: element, write: [z]}\n    - {map: row, compute: [t, s], write: [y]" END, 0},
   {"two threads apart", HEAD "    - {map: element, write: [y], threads: 128, vector: 1" END, HEAD "    - {map: element, write: [y], threads: 256, vector: 4" END,
    0},
};

static void sizes_are_no_structure(void **state) {
   (void)state;
   for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      rkb_schedule_structure_t one, other;
      rkb_structure_of(cases[i].one, &one);
      rkb_structure_of(cases[i].other, &other);
      const int differ = (one.plan != other.plan) * PLAN | (one.mapping != other.mapping) * MAPPING | (one.staging != other.staging) * STAGING;
      if (differ != cases[i].differ || !one.plan || !one.mapping || !one.staging || one.plan >> 48 || one.staging >> 48)
         fail_msg("%s: %d differ, not %d", cases[i].what, differ, cases[i].differ);
      if (strstr(cases[i].what, "of one length"))
         assert_int_equal(strlen(cases[i].one), strlen(cases[i].other));
   }
}

static void other_texts_have_none(void **state) {
   (void)state;
   static const char *const texts[] = {"", "__global__ void k() {}", HEAD, HEAD "*/", "/*\nschedule:\n  version: 3\n  launches:\n    - {map: row}\n*/",
                                       "/*\nschedule:\n  version: 4\n  launches: 5\n*/", "/*\nschedule:\n  version: 4\n  launches:\n    - {map: row\n*/",
                                       "/*\nschedule:\n  version: 4\n  launches:\n    - [1, 2]\n*/", "/*\nschedule:\n"};
   for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
      rkb_schedule_structure_t structure;
      rkb_structure_of(texts[i], &structure);
      if (structure.plan || structure.mapping || structure.staging || structure.launches)
         fail_msg("text %zu has a structure", i);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_are_no_structure),
      cmocka_unit_test(other_texts_have_none),
   };
   return RUN_TESTS(tests);
}
