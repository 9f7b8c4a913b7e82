/* Compares the candidate's whole outputs after timed runs with a peer's; once a case, in its first sitting. */
#include "sitting.h"
#include <stdlib.h>
#include <string.h>

enum { PEER_MODULE = CONTENDERS };

peer_place_t sitting_peer_place(const struct timer *me, const struct subject *s) {
   return (peer_place_t){.host = me->host,
                         .task = me->task,
                         .kernel = me->kernel,
                         .device = me->device,
                         .job = s->job,
                         .session = s->session,
                         .module = PEER_MODULE,
                         .instance = sitting_instance(CONTENDERS + 1, 0), /* behind the tuned copies */
                         .deadline_ms = (uint32_t)(me->config->deadline / 1000000)};
}

static int judge_points(const struct timer *me, const struct subject *s, uint32_t set, uint32_t t, const peer_points_t *points,
                        struct sitting *sitting, rkb_error_t *err) {
   rkb_judgement_t j = {.size = sizeof j};
   int status = me->task->judge(me->host, s->inputs[set], t, points->data, NULL, &points->points, points->elements,
                                s->contenders[CANDIDATE].transform, &j, err);
   if (status == RKB_ERR_LIMIT) /* too many elements are ambiguous, so there is no finding */
      return RKB_OK;
   if (status == RKB_OK && j.standing_is_reject) {
      sitting->right = false;
      snprintf(sitting->wrong, sizeof sitting->wrong,
               "after a timed run the candidate's %s[%llu] is %.9g and should be %.9g within %.3g (%s; found beside %.40s)",
               s->the_case->tensors[t].name, (unsigned long long)j.element, j.got, j.want, j.bound, j.reason, s->peer->name);
   }
   return status;
}

static int compare_arena(const struct timer *me, struct subject *s, const peer_place_t *place, uint32_t arena, uint32_t set,
                         uint64_t *compared, struct sitting *sitting, rkb_error_t *err) {
   const rkb_case_t *c = s->the_case;
   const uint32_t instance = sitting_instance(CANDIDATE, arena);
   uint64_t *sums = calloc((size_t)c->tensor_count + 1, sizeof *sums);
   peer_points_t points;
   bool there = false;
   int status = sums ? sitting_sums(me, s, instance, set, sums, err) : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   for (uint32_t t = 0; t < c->tensor_count && status == RKB_OK && sitting->right; t++) {
      if (c->tensors[t].role == RKB_IN || c->tensors[t].elements <= s->samples[set][t].points.count ||
          s->samples[set][t].points.count == 0 || compared[t] == sums[t])
         continue;
      status = peer_run(place, s->peer, c, set, &there, err);
      if (status != RKB_OK || !there)
         break;
      status = peer_points(place, s->peer, c, s->inputs[set], t, instance, &points, err);
      if (status == RKB_OK && points.count)
         status = judge_points(me, s, set, t, &points, sitting, err);
      compared[t] = sums[t]; /* the next arena's output is not read if its sum is equal */
   }
   free(sums);
   return status;
}

int sitting_compare(const struct timer *me, struct subject *s, const struct turns *turns,
                    struct sitting *sitting, rkb_error_t *err) {
   const uint32_t tensors = s->the_case->tensor_count;
   const peer_place_t place = sitting_peer_place(me, s);
   uint32_t last_set[MOST_ARENAS] = {0};
   uint64_t *compared = calloc((size_t)SETS * tensors + 1, sizeof *compared);
   int status = compared ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   for (uint32_t i = 0; i < turns->count; i++)
      if (turns->list[i].instance < MOST_ARENAS)
         last_set[turns->list[i].instance] = turns->list[i].set;
   for (uint32_t set = 0; set < SETS; set++) /* set by set, so that the peer runs once on each */
      for (uint32_t a = 0; a < turns->arenas && status == RKB_OK && sitting->right; a++)
         if (last_set[a] == set)
            status = compare_arena(me, s, &place, a, set, compared + (size_t)set * tensors, sitting, err);
   peer_leave_case(&place, s->peer);
   free(compared);
   return status;
}
