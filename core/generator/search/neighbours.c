/* Other values of one decision or of two, best first.  One thread a graph. */
#include "generator/search/neighbours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "generator/decisions/launch_decisions.h"
#include "generator/kernel/kernel_text.h"
#include "generator/start/too_costly_tiles.h"
#include "generator/start/tensor_start.h"
#include "generator/decisions/warpgroup_start.h"

#define MOST_NEIGHBOURS 4096u
#define MOST_WRITTEN 160u /* texts that one call writes, a few milliseconds each */
#define NO_DECISION RKB_DECISIONS

typedef struct neighbour {
   uint32_t launch, decisions[2];
   int64_t values[2];
   double merit;
   uint32_t order; /* among equally promising neighbours the one that was listed first comes first */
} neighbour_t;

typedef struct neighbours {
   neighbour_t *list;
   uint32_t count;
} neighbours_t;

static int by_merit(const void *left, const void *right) {
   const neighbour_t *a = left, *b = right;
   if (a->merit != b->merit)
      return a->merit > b->merit ? -1 : 1;
   return a->order < b->order ? -1 : a->order > b->order;
}

static void add(neighbours_t *all, uint32_t launch, uint32_t decision, int64_t value, uint32_t other, int64_t other_value, double merit) {
   if (all->count == MOST_NEIGHBOURS)
      return;
   all->list[all->count] = (neighbour_t){launch, {decision, other}, {value, other_value}, merit, all->count};
   all->count++;
}

/* Returns how many steps a value is from the present one; both are in the list. */
static int distance(uint32_t decision, int64_t from, int64_t to) {
   const int64_t *values = rkb_decision_values(decision);
   int a = 0, b = 0;
   for (int i = 0; values[i] >= 0; i++) {
      a = values[i] == from ? i : a;
      b = values[i] == to ? i : b;
   }
   return abs(a - b);
}

/* Lists the decisions of one launch; share: the launch's part of the whole time. */
static void list_launch(const rkb_graph_t *graph, const rkb_schedule_t *schedule, uint32_t number, enum rkb_focus focus, double share,
                        neighbours_t *all) {
   const rkb_launch_t *launch = &schedule->launches[number];
   for (uint32_t a = 0; a < RKB_DECISIONS; a++) {
      if (!rkb_decision_applies(graph, launch, a))
         continue;
      const double weight = share * rkb_decision_weight(a, focus);
      for (const int64_t *v = rkb_decision_values(a); *v >= 0; v++) {
         const int far = distance(a, launch->decisions[a], *v);
         if (far == 0)
            continue;
         add(all, number, a, *v, NO_DECISION, 0, weight / far);
         for (uint32_t b = a + 1; far <= 2 && b < RKB_DECISIONS; b++)
            for (const int64_t *w = rkb_decision_values(b); rkb_decision_applies(graph, launch, b) && *w >= 0; w++)
               if (distance(b, launch->decisions[b], *w) == 1)
                  add(all, number, a, *v, b, *w, weight * rkb_decision_weight(b, focus) / 16 / far);
      }
   }
}

static void apply(const rkb_graph_t *graph, const rkb_target_t *target, const neighbour_t *neighbour, rkb_schedule_t *schedule) {
   rkb_launch_t *launch = &schedule->launches[neighbour->launch];
   /* Another way of copying changes the decisions that it needs; a second decision may change these again. */
   for (uint32_t i = 0; i < 2; i++)
      if (launch->mapping == RKB_MAP_TENSOR && neighbour->decisions[i] == RKB_COPY && neighbour->values[i] == RKB_COPY_TENSOR)
         rkb_tensor_settle(graph, target->shared_bytes, launch);
   for (uint32_t i = 0; i < 2; i++)
      if (neighbour->decisions[i] != NO_DECISION)
         launch->decisions[neighbour->decisions[i]] = neighbour->values[i];
   if (neighbour->decisions[0] == RKB_TENSOR || neighbour->decisions[1] == RKB_TENSOR)
      rkb_tensor_suit_halves(launch);
   if (launch->mapping != RKB_MAP_ROW)
      return;
   for (uint32_t i = 0; i < 2; i++) { /* rows of a warp each have a fixed number of threads */
      if (neighbour->decisions[i] == RKB_ROWS && launch->decisions[RKB_ROWS] > 1)
         launch->decisions[RKB_THREADS] = 32 * launch->decisions[RKB_ROWS];
      if (neighbour->decisions[i] == RKB_THREADS && launch->decisions[RKB_THREADS] != 32 * launch->decisions[RKB_ROWS])
         launch->decisions[RKB_ROWS] = 1;
   }
}

static void say(const rkb_graph_t *graph, const rkb_schedule_t *before, const neighbour_t *neighbour, char *note, size_t size) {
   const rkb_launch_t *launch = &before->launches[neighbour->launch];
   size_t used = 0;
   for (uint32_t i = 0; i < 2; i++)
      if (neighbour->decisions[i] != NO_DECISION && used < size)
         used += (size_t)snprintf(note + used, size - used, "%s%s: %s %lld -> %lld", i ? "; " : "",
                                  graph->nodes[launch->anchor_count ? launch->anchors[0] : launch->roots[0]].name,
                                  rkb_decision_name(neighbour->decisions[i]), (long long)launch->decisions[neighbour->decisions[i]],
                                  (long long)neighbour->values[i]);
}

/* The state of a search for an untried neighbour. */
typedef struct search {
   rkb_graph_t *graph;
   const rkb_target_t *target;
   const rkb_schedule_t *schedule;
   rkb_schedule_t *tried;
   rkb_known_text_t known;
   void *context;
   uint32_t written;
} search_t;

/* Returns the text of a neighbour; NULL: it is not legal, or is known. */
static char *write_untried(search_t *search, const neighbour_t *neighbour) {
   rkb_error_t ignored;
   char *source = NULL;
   *search->tried = *search->schedule;
   apply(search->graph, search->target, neighbour, search->tried);
   const rkb_launch_t *changed = &search->tried->launches[neighbour->launch];
   if (memcmp(search->tried, search->schedule, sizeof *search->tried) == 0 ||
       (changed->mapping == RKB_MAP_TENSOR && !rkb_tensor_has(search->target, changed)) ||
       rkb_launch_refused(search->graph, changed, search->target->shared_bytes) ||
       rkb_launch_has_too_costly_tile(search->graph, changed) ||
       rkb_kernel_write(search->graph, search->tried, search->target->shared_bytes, &source, &ignored) !=
          RKB_OK)
      return NULL;
   search->written++;
   if (!search->known(search->context, source))
      return source;
   free(source);
   return NULL;
}

bool rkb_schedule_step(rkb_graph_t *graph, const rkb_target_t *target, enum rkb_focus focus, uint32_t slot, uint32_t slots,
                       rkb_known_text_t known, void *context, const rkb_schedule_t *schedule, char **text, char *note, size_t note_size) {
   neighbours_t all = {.list = rkb_allocate(MOST_NEIGHBOURS, sizeof *all.list)};
   search_t search = {graph, target, schedule, rkb_allocate(1, sizeof *search.tried), known, context, 0};
   double whole = 0;
   *text = NULL;
   for (uint32_t l = 0; l < schedule->count; l++)
      whole += rkb_launch_estimate(graph, target, &schedule->launches[l]);
   for (uint32_t l = 0; l < schedule->count; l++)
      list_launch(graph, schedule, l, focus, rkb_launch_estimate(graph, target, &schedule->launches[l]) / whole, &all);
   qsort(all.list, all.count, sizeof *all.list, by_merit);
   for (uint32_t any = 0; any < 2 && !*text; any++)
      for (uint32_t n = any ? 0 : slot; n < all.count && search.written < MOST_WRITTEN && !*text; n += any ? 1 : slots) {
         *text = write_untried(&search, &all.list[n]);
         if (*text)
            say(graph, schedule, &all.list[n], note, note_size);
      }
   free(search.tried);
   free(all.list);
   return *text != NULL;
}
