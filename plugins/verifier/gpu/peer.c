/* The peer's life on the device, and the comparison with it (peer.h). */
#include "peer.h"
#include <rkb/items.h>
#include <stdlib.h>
#include <string.h>

enum { PEER_MODULE = 1, PEER_INSTANCE = 3 /* behind the candidate's placements */, READ_BYTES = 4 << 20 };

static void set_none(struct peer *peer, const char *why) {
   snprintf(peer->none, sizeof peer->none, "%.180s", why);
}

int peer_open(const struct gpu *me, struct candidate *candidate, rkb_error_t *err) {
   struct peer *peer = candidate->peer;
   const rkb_task_info_t *info = me->task->info(me->host);
   rkb_finding_t finding = {0};
   char directory[4096], *text = NULL;
   snprintf(directory, sizeof directory, "%s/seeds/%s", info->directory, info->direction);
   char *path = peer_choose(directory, me->host->item_text(me->host, candidate->item, "source"), &text, peer->none,
                            sizeof peer->none);
   int status = RKB_OK;
   if (!path)
      return RKB_OK;
   peer->item = me->host->item_new(me->host, RKB_ITEM_CANDIDATE);
   if (!peer->item || me->host->item_set_text(me->host, peer->item, "source", text) != RKB_OK ||
       me->host->item_set_json(me->host, peer->item, "tune", "{}") != RKB_OK)
      status = rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   if (status == RKB_OK)
      status = me->kernel->build(me->host, candidate->job, peer->item, 0, &peer->build, &finding, err);
   if (status == RKB_OK && !peer->build)
      set_none(peer, finding.message);
   if (status == RKB_OK && peer->build)
      snprintf(peer->name, sizeof peer->name, "%.120s", strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
   free(path);
   free(text);
   return status;
}

void peer_leave_case(const struct gpu *me, struct candidate *candidate) {
   struct peer *peer = candidate->peer;
   rkb_error_t ignored;
   if (peer->open)
      me->device->drop_instance(candidate->session, PEER_INSTANCE, &ignored);
   peer->open = false;
   me->kernel->plan_free(peer->plan);
   peer->plan = NULL;
   peer->planned = NULL;
}

void peer_close(const struct gpu *me, struct candidate *candidate) {
   struct peer *peer = candidate->peer;
   me->kernel->plan_free(peer->plan);
   me->kernel->build_free(peer->build);
   if (peer->item)
      me->host->item_unref(me->host, peer->item);
}

/* Its buffers for the case; *there false: it has no plan for it, or the device has no room for both. */
static int enter_case(const struct gpu *me, struct candidate *candidate, const rkb_case_t *c, bool *there, rkb_error_t *err) {
   struct peer *peer = candidate->peer;
   rkb_finding_t finding = {0};
   int status = RKB_OK;
   *there = peer->open;
   if (peer->planned == c)
      return RKB_OK;
   peer->planned = c;
   if (!peer->loaded) {
      status = me->device->module(candidate->session, PEER_MODULE, peer->build->cubin, peer->build->cubin_bytes, &finding, err);
      peer->loaded = status == RKB_OK && !finding.reason[0];
   }
   if (status == RKB_OK && peer->loaded)
      status = me->kernel->plan(me->host, candidate->job, peer->item, peer->build, c, &peer->plan, &finding, err);
   if (status == RKB_OK && peer->plan)
      status = me->device->instance(candidate->session, PEER_INSTANCE, PEER_MODULE, RKB_PLAIN, peer->plan, &finding, err);
   *there = peer->open = status == RKB_OK && peer->plan && !finding.reason[0];
   if (status == RKB_ERR_LIMIT || (status == RKB_OK && !peer->open)) {
      set_none(peer, status == RKB_OK ? finding.message : err->message);
      return RKB_OK;
   }
   return status;
}

static int read_both(const struct gpu *me, const struct candidate *candidate, uint32_t t, const rkb_tensor_t *tensor,
                     uint32_t instance, differences_t *found, rkb_error_t *err) {
   const uint64_t width = tensor->bytes / tensor->elements, piece = READ_BYTES / width;
   char *one = malloc(READ_BYTES), *other = malloc(READ_BYTES);
   int status = one && other ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   for (uint64_t first = 0; first < tensor->elements && status == RKB_OK; first += piece) {
      const uint64_t left = tensor->elements - first, count = left < piece ? left : piece;
      status = me->device->read(candidate->session, instance, t, first * width, count * width, one, err);
      if (status == RKB_OK)
         status = me->device->read(candidate->session, PEER_INSTANCE, t, first * width, count * width, other, err);
      if (status == RKB_OK && memcmp(one, other, count * width) != 0)
         differences_add(found, tensor->dtype, first, count, one, other);
   }
   free(one);
   free(other);
   return status;
}

/* What the reference says of the elements that differ most. */
static int judge_differences(const struct gpu *me, struct candidate *candidate, struct values *v, uint32_t t,
                             const differences_t *differences, struct found *found, struct tally *tally, rkb_error_t *err) {
   const rkb_tensor_t *tensor = &v->the_case->tensors[t];
   const uint64_t width = tensor->bytes / tensor->elements;
   difference_t sorted[DIFFERENCES_MOST];
   uint64_t elements[DIFFERENCES_MOST];
   double value[DIFFERENCES_MOST], hard[DIFFERENCES_MOST], stat[DIFFERENCES_MOST];
   uint8_t flags[DIFFERENCES_MOST];
   char data[DIFFERENCES_MOST * sizeof(uint64_t)];
   const uint32_t count = differences_sorted(differences, sorted);
   for (uint32_t n = 0; n < count; n++) {
      elements[n] = sorted[n].element;
      memcpy(data + n * width, &sorted[n].bits, width);
   }
   if (count == 0)
      return RKB_OK;
   int status = me->task->expect_points(me->host, v->inputs, t, elements, count, value, hard, stat, flags, err);
   if (status == RKB_ERR_LIMIT) {
      candidate->peer->undecided++;
      return RKB_OK;
   }
   const rkb_points_t points = {value, hard, stat, flags, count};
   candidate->peer->judged += count;
   return status == RKB_OK ? outputs_judge_points(me, candidate, v, t, data, &points, elements, found, tally, err) : status;
}

static int compare_output(const struct gpu *me, struct candidate *candidate, struct values *v, uint32_t t, uint32_t instance,
                          struct found *found, struct tally *tally, rkb_error_t *err) {
   differences_t differences = {.count = {0}};
   const char *name = candidate->peer->name;
   int status = read_both(me, candidate, t, &v->the_case->tensors[t], instance, &differences, err);
   candidate->peer->compared += v->the_case->tensors[t].elements;
   stopwatch_turn(&candidate->watch, PHASE_EXPECT);
   if (status == RKB_OK)
      status = judge_differences(me, candidate, v, t, &differences, found, tally, err);
   stopwatch_turn(&candidate->watch, PHASE_COMPARE);
   if (status == RKB_OK && found->reason[0] && found->evidence)
      json_object_set_new(found->evidence, "found_beside", json_string(name));
   v->whole[t] = v->judged[t];
   v->compared[t] = status == RKB_OK && !found->reason[0];
   return status;
}

/* Outputs of which no more than a sample was judged, and other bits than those that were compared before. */
static bool is_wanted(const struct values *v, uint32_t t) {
   const rkb_tensor_t *tensor = &v->the_case->tensors[t];
   return tensor->role != RKB_IN && tensor->elements > v->samples[t].points.count && v->right[t] &&
          !(v->compared[t] && v->whole[t] == v->judged[t]);
}

int peer_compare(const struct gpu *me, struct candidate *candidate, struct values *v, uint32_t instance, uint32_t set,
                 struct found *found, struct tally *tally, rkb_error_t *err) {
   const rkb_case_t *c = v->the_case;
   rkb_run_outcome_t outcome = {0};
   bool wanted = false, there = false;
   for (uint32_t t = 0; t < c->tensor_count; t++)
      wanted |= is_wanted(v, t);
   if (!wanted || !candidate->peer->build)
      return RKB_OK;
   int status = enter_case(me, candidate, c, &there, err);
   if (status != RKB_OK || !there)
      return status;
   status = me->device->run(candidate->session, PEER_INSTANCE, set, (uint32_t)(me->config->deadline / 1000000), &outcome, err);
   if (status == RKB_OK && outcome.outcome != RKB_RAN_WELL)
      return rkb_fail(err, RKB_ERR_INTERNAL, "the seed %s, which outputs are compared with, does not run on case %s: %s",
                      candidate->peer->name, c->name, outcome.error_name);
   for (uint32_t t = 0; t < c->tensor_count && status == RKB_OK && !found->reason[0]; t++)
      if (is_wanted(v, t))
         status = compare_output(me, candidate, v, t, instance, found, tally, err);
   return status;
}
