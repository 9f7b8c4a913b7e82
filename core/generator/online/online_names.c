/* Names of a thread's elements of scores and of products, in a kernel over scores.  One thread. */
#include "generator/online/online.h"

/* The name of a thread's element [i][j]. */
static const char *element_of(const rkb_online_t *o) {
   return o->groups   ? "%s[j / 2 * 4 + i * 2 + j %% 2]"
          : o->tensor ? "%s[i / 2][j / 2][i %% 2 * 2 + j %% 2]"
                      : "%s[i][j]";
}

const char *rkb_online_score(rkb_writer_t *writer, const rkb_online_t *o, uint32_t s) {
   return rkb_arena_format(writer->arena, element_of(o), o->score_names[s]);
}

const char *rkb_online_out(rkb_writer_t *writer, const rkb_online_t *o, uint32_t out) {
   return rkb_arena_format(writer->arena, element_of(o), o->out_names[out]);
}
