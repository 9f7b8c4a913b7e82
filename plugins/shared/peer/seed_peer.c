/* The peer's life on a device, and the comparison with it (seed_peer.h). */
#include "seed_peer.h"
#include <rkb/items.h>
#include <stdlib.h>
#include <string.h>

enum { READ_BYTES = 4 << 20 };

static void set_none(peer_t *peer, const char *why) {
   snprintf(peer->none, sizeof peer->none, "%.180s", why);
}

static const char *file_of(const char *path) {
   const char *slash = strrchr(path, '/');
   return slash ? slash + 1 : path;
}

int peer_open(const peer_place_t *place, const rkb_item_t *candidate, peer_t *peer, rkb_error_t *err) {
   const rkb_host_t *host = place->host;
   const rkb_task_info_t *info = place->task->info(host);
   rkb_finding_t finding = {0};
   char directory[4096], *text = NULL;
   *peer = (peer_t){.name = ""};
   snprintf(directory, sizeof directory, "%s/seeds/%s", info->directory, info->direction);
   char *path = peer_choose(directory, host->item_text(host, candidate, "source"), &text, peer->none, sizeof peer->none);
   int status = RKB_OK;
   if (!path)
      path = peer_write(host, host->item_text(host, candidate, "source"), &text, peer->none, sizeof peer->none);
   if (!path)
      return RKB_OK;
   peer->none[0] = '\0';
   peer->item = host->item_new(host, RKB_ITEM_CANDIDATE);
   if (!peer->item || host->item_set_text(host, peer->item, "source", text) != RKB_OK ||
       host->item_set_json(host, peer->item, "tune", "{}") != RKB_OK)
      status = rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   if (status == RKB_OK)
      status = place->kernel->build(host, place->job, peer->item, 0, &peer->build, &finding, err);
   if (status == RKB_OK && !peer->build)
      set_none(peer, finding.message);
   if (status == RKB_OK && peer->build)
      snprintf(peer->name, sizeof peer->name, "%.120s", file_of(path));
   free(path);
   free(text);
   return status;
}

void peer_forget(const peer_place_t *place, peer_t *peer) {
   place->kernel->plan_free(peer->plan);
   peer->plan = NULL;
   peer->planned = NULL;
   peer->loaded = peer->open = peer->ran = false;
}

void peer_leave_case(const peer_place_t *place, peer_t *peer) {
   const bool loaded = peer->loaded;
   rkb_error_t ignored;
   if (peer->open)
      place->device->drop_instance(place->session, place->instance, &ignored);
   peer_forget(place, peer);
   peer->loaded = loaded;
}

void peer_close(const peer_place_t *place, peer_t *peer) {
   peer_forget(place, peer);
   place->kernel->build_free(peer->build);
   if (peer->item)
      place->host->item_unref(place->host, peer->item);
   *peer = (peer_t){.name = ""};
}

/* Makes its module, its plan and its buffers for the case, as far as there are any. */
static int enter_case(const peer_place_t *place, peer_t *peer, const rkb_case_t *c, rkb_error_t *err) {
   rkb_finding_t finding = {0};
   int status = RKB_OK;
   peer->planned = c;
   if (!peer->loaded) {
      status = place->device->module(place->session, place->module, peer->build->cubin, peer->build->cubin_bytes, &finding, err);
      peer->loaded = status == RKB_OK && !finding.reason[0];
   }
   if (status == RKB_OK && peer->loaded)
      status = place->kernel->plan(place->host, place->job, peer->item, peer->build, c, &peer->plan, &finding, err);
   if (status == RKB_OK && peer->plan)
      status = place->device->instance(place->session, place->instance, place->module, RKB_PLAIN, peer->plan, &finding, err);
   peer->open = status == RKB_OK && peer->plan && !finding.reason[0];
   if (status == RKB_ERR_LIMIT || (status == RKB_OK && !peer->open)) {
      set_none(peer, status == RKB_OK ? finding.message : err->message);
      return RKB_OK;
   }
   return status;
}

int peer_run(const peer_place_t *place, peer_t *peer, const rkb_case_t *c, uint32_t set, bool *there, rkb_error_t *err) {
   rkb_run_outcome_t outcome = {0};
   int status = peer->build && peer->planned != c ? enter_case(place, peer, c, err) : RKB_OK;
   *there = status == RKB_OK && peer->open;
   if (!*there || (peer->ran && peer->set == set))
      return status;
   status = place->device->run(place->session, place->instance, set, place->deadline_ms, &outcome, err);
   if (status == RKB_OK && outcome.outcome != RKB_RAN_WELL)
      return rkb_fail(err, RKB_ERR_INTERNAL, "the seed %s, which outputs are compared with, does not run on case %s: %s",
                      peer->name, c->name, outcome.error_name);
   peer->ran = status == RKB_OK;
   peer->set = set;
   return status;
}

static int read_both(const peer_place_t *place, uint32_t t, const rkb_tensor_t *tensor, uint32_t instance, differences_t *found,
                     rkb_error_t *err) {
   const uint64_t width = tensor->bytes / tensor->elements, piece = READ_BYTES / width;
   char *one = malloc(READ_BYTES), *other = malloc(READ_BYTES);
   int status = one && other ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   for (uint64_t first = 0; first < tensor->elements && status == RKB_OK; first += piece) {
      const uint64_t left = tensor->elements - first, count = left < piece ? left : piece;
      status = place->device->read(place->session, instance, t, first * width, count * width, one, err);
      if (status == RKB_OK)
         status = place->device->read(place->session, place->instance, t, first * width, count * width, other, err);
      if (status == RKB_OK && memcmp(one, other, count * width) != 0)
         differences_add(found, tensor->dtype, first, count, one, other);
   }
   free(one);
   free(other);
   return status;
}

int peer_points(const peer_place_t *place, peer_t *peer, const rkb_case_t *c, const rkb_inputs_t *inputs, uint32_t t,
                uint32_t instance, peer_points_t *out, rkb_error_t *err) {
   const rkb_tensor_t *tensor = &c->tensors[t];
   differences_t differences = {.count = {0}};
   difference_t sorted[DIFFERENCES_MOST];
   int status = read_both(place, t, tensor, instance, &differences, err);
   out->count = status == RKB_OK ? differences_sorted(&differences, sorted) : 0;
   peer->compared += status == RKB_OK ? tensor->elements : 0;
   if (out->count == 0)
      return status;
   const uint64_t width = tensor->bytes / tensor->elements;
   for (uint32_t n = 0; n < out->count; n++) {
      out->elements[n] = sorted[n].element;
      memcpy(out->data + n * width, &sorted[n].bits, width);
   }
   status = place->task->expect_points(place->host, inputs, t, out->elements, out->count, out->value, out->hard, out->stat,
                                       out->flags, err);
   if (status == RKB_ERR_LIMIT) { /* this is neither a finding about the candidate nor a fault of a tool */
      peer->undecided++;
      out->count = 0;
      return RKB_OK;
   }
   peer->judged += status == RKB_OK ? out->count : 0;
   out->points = (rkb_points_t){out->value, out->hard, out->stat, out->flags, out->count};
   return status;
}
