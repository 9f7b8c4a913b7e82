/* Chooses the elements of an output that are judged at a bench shape, and bounds the faults that this may miss.  Every executed block that
 * wrote to the output has an element among them, as far as there are enough: a block is either wrong in most of what it writes, or wrong in
 * so little that no sample finds it.  One worker thread a sample. */
#include "bench_values.h"
#include "machine/state/block_paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MANY 32u          /* elements of a block that is there for some of its threads */
#define MOST_WRITERS 256u /* blocks told apart; those beyond are not judged */

/* A block, and what of the output it met first. */
struct writer {
   uint32_t launch, place;
   bool drawn;
   bool told;  /* for some of its threads */
   bool leads; /* the first that was met of its control path */
   uint64_t path;
   uint64_t count, seen; /* elements */
   uint64_t *ordinals;   /* of those chosen among count, ascending */
   uint32_t wanted, had;
   uint64_t *elements; /* chosen */
};

struct writers {
   struct writer list[MOST_WRITERS];
   uint32_t count, last;
   uint64_t place;       /* of the last element, in RKB_MACHINE_MET_BYTES, and one more; 0: there was none */
   struct writer *there; /* who wrote there first */
};

static struct writer *find(struct writers *all, uint32_t launch, uint32_t place) {
   if (all->last < all->count && all->list[all->last].launch == launch && all->list[all->last].place == place)
      return &all->list[all->last];
   for (uint32_t n = 0; n < all->count; n++)
      if (all->list[n].launch == launch && all->list[n].place == place)
         return &all->list[all->last = n];
   return NULL;
}

static bool is_drawn(const struct sample *s, uint32_t launch, uint32_t place) {
   return launch < s->blocks.launch_count && place < s->blocks.launches[launch].count &&
          s->blocks.launches[launch].drawn[place];
}

static bool is_told(const struct sample *s, uint32_t launch, uint32_t place) {
   return launch < s->blocks.launch_count && place < s->blocks.launches[launch].count &&
          s->blocks.launches[launch].told && s->blocks.launches[launch].told[place];
}

static struct writer *find_writer(const struct sample *s, struct writers *all, uint64_t element) {
   uint32_t launch, place;
   if (!rkb_machine_met_by(sample_writers(s), s->output, element * s->width, &launch, &place))
      return NULL;
   struct writer *found = find(all, launch, place);
   if (found || all->count == MOST_WRITERS)
      return found;
   all->list[all->count] = (struct writer){.launch = launch,
                                           .place = place,
                                           .drawn = is_drawn(s, launch, place),
                                           .told = is_told(s, launch, place),
                                           .path = rkb_machine_path(sample_writers(s), launch, place),
                                           .leads = true};
   for (uint32_t n = 0; n < all->count; n++)
      if (all->list[n].launch == launch && all->list[n].path == all->list[all->count].path)
         all->list[all->count].leads = false;
   return &all->list[all->count++];
}

/* Elements come in their order, and neighbours mostly have the same writer. */
static struct writer *writer_of(const struct sample *s, struct writers *all, uint64_t element) {
   const uint64_t place = element * s->width / RKB_MACHINE_MET_BYTES + 1;
   if (all->place != place) {
      all->place = place;
      all->there = find_writer(s, all, element);
   }
   return all->there;
}

/* Calls visit for the elements of each writer that follow each other. */
static void visit_writers(const struct sample *s, struct writers *all,
                          void (*visit)(struct writer *writer, uint64_t first, uint64_t count)) {
   for (uint64_t n = 0; n < s->written_run_count; n++) {
      const uint64_t end = s->written_runs[n][0] + s->written_runs[n][1];
      for (uint64_t at = s->written_runs[n][0], next; at < end; at = next) {
         /* The first element that begins at the next multiple of RKB_MACHINE_MET_BYTES, or behind it. */
         const uint64_t place = at * s->width / RKB_MACHINE_MET_BYTES + 1;
         next = (place * RKB_MACHINE_MET_BYTES + s->width - 1) / s->width;
         next = next < end ? next : end;
         struct writer *w = writer_of(s, all, at);
         if (w)
            visit(w, at, next - at);
      }
   }
}

static void count_elements(struct writer *w, uint64_t first, uint64_t count) {
   (void)first;
   w->count += count;
}

/* Draws `wanted` of the writer's elements, one from each of as many equal parts. */
static bool draw_ordinals(struct sample *s, struct writer *w, uint32_t wanted) {
   w->wanted = wanted < w->count ? wanted : (uint32_t)w->count;
   w->ordinals = calloc(w->wanted + 1, sizeof *w->ordinals);
   w->elements = calloc(w->wanted + 1, sizeof *w->elements);
   if (!w->ordinals || !w->elements)
      return false;
   for (uint32_t n = 0; n < w->wanted; n++) {
      const uint64_t first = w->count * n / w->wanted, end = w->count * (n + 1) / w->wanted;
      w->ordinals[n] = first + s->verifier->random->below(&s->points, end - first);
   }
   return true;
}

static void take(struct writer *w, uint64_t first, uint64_t count) {
   for (; w->had < w->wanted && w->ordinals[w->had] < w->seen + count; w->had++)
      w->elements[w->had] = first + (w->ordinals[w->had] - w->seen);
   w->seen += count;
}

static uint32_t common_divisor(uint32_t a, uint32_t b) {
   while (b) {
      const uint32_t rest = a % b;
      a = b;
      b = rest;
   }
   return a;
}

/* Spread out: the first ones may be all that is judged, and a block may be wrong in one of its warps alone.  From a drawn place on in steps of the golden ratio, so
 * however many are judged, the largest part without one is little larger than the others. */
static bool spread(struct sample *s, struct writer *w) {
   uint64_t *in_order = calloc(w->had + 1, sizeof *in_order);
   if (!in_order)
      return false;
   memcpy(in_order, w->elements, w->had * sizeof *in_order);
   uint32_t step = (uint32_t)(0.6180339887 * w->had),
            at = w->had ? (uint32_t)s->verifier->random->below(&s->points, w->had) : 0;
   while (w->had && common_divisor(step, w->had) != 1)
      step++;
   for (uint32_t n = 0; n < w->had; n++, at = (at + step) % w->had)
      w->elements[n] = in_order[at];
   free(in_order);
   return true;
}

/* One of each control path, then drawn blocks before the others, else as they were executed. */
static int compare_writers(const void *a, const void *b) {
   const struct writer *x = a, *y = b;
   return x->leads != y->leads     ? (int)y->leads - (int)x->leads
          : x->drawn != y->drawn   ? (int)y->drawn - (int)x->drawn
          : x->launch != y->launch ? (x->launch > y->launch ? 1 : -1)
                                   : (x->place > y->place) - (x->place < y->place);
}

/* One of every block, then many of those that are there for some of their threads, then the others in turn.  How many. */
static uint64_t line_up(struct sample *s, const struct writers *all, uint32_t each, uint64_t room) {
   uint64_t count = 0;
   for (uint32_t turn = 0; turn <= each; turn++)
      for (uint32_t n = 0; n < all->count; n++) {
         const struct writer *w = &all->list[n];
         const uint32_t first = turn < 2 ? turn : w->told ? turn + MANY - 2 : turn - 1,
                        end = turn != 1 ? first + 1 : w->told ? MANY : first;
         for (uint32_t k = first; k < end && k < w->had && count < room; k++)
            s->written[count++] = w->elements[k];
      }
   return count;
}

int sample_choose(struct sample *s, uint64_t *count, rkb_error_t *err) {
   const uint64_t before = s->written_count;
   struct writers *all = calloc(1, sizeof *all);
   uint64_t chosen = 0;
   bool made = all != NULL;
   *count = 0;
   if (made)
      visit_writers(s, all, count_elements);
   const uint32_t each = made && all->count ? s->most_judged / all->count : 0;
   for (uint32_t n = 0; made && n < all->count; n++)
      made = draw_ordinals(s, &all->list[n], all->list[n].told && each < MANY ? MANY : each);
   if (made)
      visit_writers(s, all, take);
   for (uint32_t n = 0; made && n < all->count; n++)
      made = spread(s, &all->list[n]);
   if (made)
      qsort(all->list, all->count, sizeof *all->list, compare_writers);
   for (uint32_t n = 0; made && n < all->count; n++)
      chosen += all->list[n].had;
   free(s->written);
   s->written = made ? malloc((chosen + 1) * sizeof *s->written) : NULL;
   made = s->written != NULL;
   if (made)
      *count = line_up(s, all, each, before);
   for (uint32_t n = 0; all && n < all->count; n++) {
      free(all->list[n].ordinals);
      free(all->list[n].elements);
   }
   free(all);
   return made ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "no memory to choose elements");
}

/* What is left out ------------------------------------------------------------------------------------------------------ */

void sample_note_judged(struct sample *s, uint64_t first, uint64_t count) {
   uint32_t launch, place;
   for (uint64_t n = first; n < first + count; n++)
      if (rkb_machine_met_by(sample_writers(s), s->output, s->written[n] * s->width, &launch, &place) &&
          launch < s->blocks.launch_count && place < s->blocks.launches[launch].count)
         s->judged_blocks[launch][place] |= UINT64_C(1) << s->output % 64;
}

void sample_note_output(struct sample *s, const char *name, uint64_t judged, uint64_t final) {
   const double share = judged < final ? 1 - pow(MISSED, 1.0 / (double)judged) : 0.0;
   if (!s->outputs)
      s->outputs = json_object();
   json_object_set_new(
      s->outputs, name,
      json_pack("{s:I, s:I}", "elements", (json_int_t)judged, "of_elements", (json_int_t) final));
   s->share = share > s->share ? share : s->share;
}

/* Positions of the grid of which no block was executed. */
static json_t *classes_left_out(const struct sample *s, const rkb_launch_counters_t *c) {
   const uint32_t *grid = s->plan->launches[c->launch].grid, executed = sample_executed_places(s->plan, c);
   const struct sampled_launch *list = &s->blocks.launches[c->launch];
   uint32_t classes = sample_classes(grid);
   json_t *names = json_array();
   for (uint32_t n = 0; n < list->count && n < executed; n++)
      classes &= ~(1u << list->classes[n]);
   for (; classes && c->executed < list->total; classes &= classes - 1) {
      char name[64];
      sample_class_name(grid, (uint32_t)__builtin_ctz(classes), name, sizeof name);
      json_array_append_new(names, json_string(name));
   }
   return names;
}

/* How many control paths the executed blocks took; *left_out: of how many no block was judged. */
static uint32_t count_paths(const struct sample *s, uint32_t launch, uint32_t *left_out) {
   const struct sampled_launch *list = &s->blocks.launches[launch];
   uint32_t paths = 0;
   *left_out = 0;
   for (uint32_t n = 0; n < list->count; n++) {
      const uint64_t path = rkb_machine_path(s->machine, launch, n);
      bool first = path != 0, judged = false;
      for (uint32_t k = 0; k < list->count && first; k++) {
         if (rkb_machine_path(s->machine, launch, k) != path)
            continue;
         first = k >= n;
         judged |= s->judged_blocks[launch][k] != 0;
      }
      paths += first;
      *left_out += first && !judged;
   }
   return paths;
}

/* How many drawn blocks were judged in the output of which they are fewest. */
static uint64_t fewest_drawn(const struct sample *s, uint32_t launch) {
   const struct sampled_launch *list = &s->blocks.launches[launch];
   uint64_t outputs = 0, fewest = UINT64_MAX;
   for (uint32_t n = 0; n < list->count; n++)
      outputs |= s->judged_blocks[launch][n];
   for (uint64_t left = outputs; left; left &= left - 1) {
      const uint64_t bit = left & (0 - left);
      uint64_t drawn = 0;
      for (uint32_t n = 0; n < list->count; n++)
         drawn += (s->judged_blocks[launch][n] & bit) && list->drawn[n];
      fewest = drawn < fewest ? drawn : fewest;
   }
   return outputs ? fewest : 0;
}

static json_t *describe_launch(struct sample *s, const rkb_launch_counters_t *c) {
   const struct sampled_launch *list = &s->blocks.launches[c->launch];
   uint64_t judged = 0;
   for (uint32_t n = 0; n < list->count; n++)
      judged += s->judged_blocks[c->launch][n] != 0;
   const uint64_t drawn = fewest_drawn(s, c->launch);
   const uint64_t others = c->blocks - judged, likely = sample_missed(c->blocks, drawn),
                  missed = likely < others ? likely : others;
   const double share = (double)missed / (double)c->blocks;
   if (judged)
      s->outcome->missed = share > s->outcome->missed ? share : s->outcome->missed;
   json_t *launch =
      json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "kernel", s->plan->launches[c->launch].expression, "blocks",
                (json_int_t)c->blocks, "executed", (json_int_t)c->executed, "judged", (json_int_t)judged,
                "drawn", (json_int_t)drawn, "missed_with_5_percent", (json_int_t)missed);
   uint32_t paths_left_out;
   const uint32_t paths = count_paths(s, c->launch, &paths_left_out);
   if (paths)
      json_object_set_new(launch, "paths", json_integer(paths));
   if (paths_left_out)
      json_object_set_new(launch, "paths_left_out", json_integer(paths_left_out));
   json_t *classes = classes_left_out(s, c);
   if (json_array_size(classes))
      json_object_set(launch, "positions_left_out", classes);
   json_decref(classes);
   return launch;
}

/* Which intermediate each buffer held that was given. */
static json_t *given_names(const struct sample *s) {
   json_t *names = json_object();
   rkb_intermediate_t intermediate;
   for (uint32_t b = 0; b < s->plan->buffer_count && b < MOST_LINKED; b++)
      if (sample_is_given(s, b) &&
          s->verifier->intermediates->at(s->the_case, s->target->link[b]->number, &intermediate))
         json_object_set_new(names, s->plan->buffers[b].name,
                             json_string(intermediate.name[0] ? intermediate.name : intermediate.operation));
   return names;
}

void sample_describe(struct sample *s, const rkb_machine_report_t *report) {
   json_t *launches = json_array();
   for (uint32_t n = 0; n < report->launch_count; n++)
      if (report->launches[n].blocks && report->launches[n].executed)
         json_array_append_new(launches, describe_launch(s, &report->launches[n]));
   json_t *scope = json_pack("{s:[s], s:s, s:s, s:o, s:I, s:I, s:f}", "shapes", s->the_case->name, "inputs",
                             "the tested values", "family", s->family->name, "launches", launches, "elements",
                             (json_int_t)s->judged, "of_elements", (json_int_t)s->final_elements,
                             "share_missed_with_5_percent", s->share);
   if (s->outputs)
      json_object_set_new(scope, "outputs", s->outputs);
   s->outputs = NULL;
   s->share = 0;
   json_t *assumptions = json_pack(
      "[s, s, s]",
      "bounds, alignment and values of the blocks named; races were looked for within and between the blocks that races_looked_for counts, and nowhere else",
      "blocks that were not executed change nothing that these read or wrote",
      "so many blocks of a launch as missed_with_5_percent says can be wrong in all elements, or such a share of the "
      "elements of all blocks as share_missed_with_5_percent says, and are missed with 5 %");
   if (s->target && s->target->given) {
      json_object_set_new(scope, "given", given_names(s));
      json_array_append_new(
         assumptions,
         json_string(
            "the launch was executed by itself: the buffers in given held drawn elements of the intermediates named, in "
            "another order than the launches before would leave; it is right for what they do leave if it is right for these"));
   }
   s->facet = json_pack("{s:s, s:o, s:o}", "facet", "sampled", "scope", scope, "assumptions", assumptions);
   json_array_append_new(s->outcome->sampled, s->facet);
}
