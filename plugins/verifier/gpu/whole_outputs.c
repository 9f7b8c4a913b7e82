/* Compares whole outputs with the peer's, where only a sample of their elements was judged. */
#include "gpu.h"

enum { PEER_MODULE = 1, PEER_INSTANCE = 3 /* behind the candidate's placements */ };

peer_place_t whole_place(const struct gpu *me, const struct candidate *candidate) {
   return (peer_place_t){.host = me->host,
                         .task = me->task,
                         .kernel = me->kernel,
                         .device = me->device,
                         .job = candidate->job,
                         .session = candidate->session,
                         .module = PEER_MODULE,
                         .instance = PEER_INSTANCE,
                         .deadline_ms = (uint32_t)(me->config->deadline / 1000000)};
}

/* No more than a sample was judged, and these bits were not compared before. */
static bool is_wanted(const struct values *v, uint32_t t) {
   const rkb_tensor_t *tensor = &v->the_case->tensors[t];
   return tensor->role != RKB_IN && tensor->elements > v->samples[t].points.count && v->right[t] &&
          !(v->compared[t] && v->whole[t] == v->judged[t]);
}

static int compare_output(const struct gpu *me, struct candidate *candidate, const peer_place_t *place, struct values *v, uint32_t t,
                          uint32_t instance, struct found *found, struct tally *tally, rkb_error_t *err) {
   peer_points_t points;
   int status = peer_points(place, &candidate->peer, v->the_case, v->inputs, t, instance, &points, err);
   if (status == RKB_OK && points.count)
      status = outputs_judge_points(me, candidate, v, t, points.data, &points.points, points.elements, found, tally, err);
   if (status == RKB_OK && found->reason[0] && found->evidence)
      json_object_set_new(found->evidence, "found_beside", json_string(candidate->peer.name));
   v->whole[t] = v->judged[t];
   v->compared[t] = status == RKB_OK && !found->reason[0];
   return status;
}

int whole_outputs_compare(const struct gpu *me, struct candidate *candidate, struct values *v, uint32_t instance, uint32_t set,
                          struct found *found, struct tally *tally, rkb_error_t *err) {
   const rkb_case_t *c = v->the_case;
   const peer_place_t place = whole_place(me, candidate);
   bool wanted = false, there = false;
   for (uint32_t t = 0; t < c->tensor_count; t++)
      wanted |= is_wanted(v, t);
   candidate->peer.ran = false; /* a set's number does not say whose values they are */
   int status = wanted ? peer_run(&place, &candidate->peer, c, set, &there, err) : RKB_OK;
   for (uint32_t t = 0; there && t < c->tensor_count && status == RKB_OK && !found->reason[0]; t++)
      if (is_wanted(v, t))
         status = compare_output(me, candidate, &place, v, t, instance, found, tally, err);
   return status;
}
