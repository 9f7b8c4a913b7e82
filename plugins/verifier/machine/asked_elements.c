/* Which elements of inputs the held elements depend on (held_elements.c): what the reference reads for them, and neighbours.  A block needs only
 * what its own held elements depend on.  If a row is made that only other blocks need, each of the block's tiles at that row computes a row of products for nothing.
 * So the sampled blocks are divided into groups, and the reference is asked for the elements of each group by itself, with inputs of its own.  Whatever
 * is left out here can make a held element undefined, never wrong.  One worker thread a sample. */
#include "asked_elements.h"

#include <stdlib.h>
#include <string.h>

#define SMALL_INPUT 65536u /* elements of an input that is made whole: a bias, scales */
#define MOST_GROUPS 24u    /* more would save less than asking the reference for them takes */

struct asked_elements {
   rkb_machine_asked_t *lists;       /* by group and buffer */
   uint32_t groups, places, buffers; /* places: of executed blocks */
};

/* The words of a bitmap, of all held elements, that are not 0. */
struct words {
   uint64_t *bits, *list, count;
};

static void free_lists(struct asked_elements *asked) {
   for (uint32_t n = 0; asked->lists && n < asked->groups * asked->buffers; n++)
      free((void *)(uintptr_t)asked->lists[n].runs);
   free(asked->lists);
   asked->lists = NULL;
}

void asked_elements_free(struct asked_elements *asked) {
   if (asked)
      free_lists(asked);
   free(asked);
}

void asked_elements_put(const struct asked_elements *asked, rkb_machine_options_t *options) {
   options->asked = asked->lists;
   options->asked_groups = asked->groups;
}

/* Neighbours ---------------------------------------------------------------------------------------------------------------- */

/* The elements of a word and the others of their pairs. */
static uint64_t pairs_of(uint64_t bits) {
   const uint64_t even = UINT64_C(0x5555555555555555);
   return bits | (bits & even) << 1 | (bits >> 1 & even);
}

/* The same word of the other row of a pair of rows; each row has so many whole words. */
static uint64_t word_beside(uint64_t word, uint64_t width) {
   return (word / width & 1) ? word - width : word + width;
}

static void set_bit(uint64_t *bits, uint64_t at) {
   bits[at / 64] |= UINT64_C(1) << at % 64;
}

/* The elements with those beside them in the last two dims.  If results are rounded to a narrow type, a register holds two neighbours of a row, and has a value
 * only if both neighbours have one.  NULL: no memory. */
static uint64_t *with_neighbours(const uint64_t *noted, const rkb_tensor_t *tensor) {
   const uint64_t words = tensor->elements / 64 + 1, width = (uint64_t)tensor->shape[tensor->rank - 1];
   uint64_t *bits = calloc(words, sizeof *bits);
   for (uint64_t w = 0; bits && width % 64 == 0 && w < tensor->elements / 64; w++) {
      const uint64_t beside = word_beside(w, width / 64);
      if (!noted[w])
         continue;
      bits[w] |= pairs_of(noted[w]);
      if (beside < words - 1)
         bits[beside] |= pairs_of(noted[w]);
   }
   for (uint64_t w = 0; bits && width % 64 && w < (tensor->elements + 63) / 64; w++)
      for (uint64_t left = noted[w]; left; left &= left - 1) {
         const uint64_t element = 64 * w + (uint64_t)__builtin_ctzll(left), row = element / width,
                        column = element % width;
         for (uint64_t n = 0; n < 4; n++) {
            const uint64_t beside = (row ^ (n >> 1)) * width + (column ^ (n & 1));
            if ((column ^ (n & 1)) < width && beside < tensor->elements)
               set_bit(bits, beside);
         }
      }
   return bits;
}

/* Runs ------------------------------------------------------------------------------------------------------------------------ */

struct runs {
   uint64_t (*list)[2];
   uint64_t count, room;
};

/* False: no memory. */
static bool add_run(struct runs *runs, uint64_t first, uint64_t end) {
   if (runs->count && runs->list[runs->count - 1][1] == first) {
      runs->list[runs->count - 1][1] = end;
      return true;
   }
   if (runs->count == runs->room) {
      const uint64_t room = runs->room ? 2 * runs->room : 64;
      uint64_t(*larger)[2] = realloc(runs->list, room * sizeof *larger);
      if (!larger)
         return false;
      runs->list = larger;
      runs->room = room;
   }
   runs->list[runs->count][0] = first;
   runs->list[runs->count++][1] = end;
   return true;
}

static bool add_bits(struct runs *runs, uint64_t word, uint64_t bits) {
   bool added = true;
   for (uint64_t at = 0; added && bits;) {
      const uint32_t none = (uint32_t)__builtin_ctzll(bits);
      bits >>= none;
      const uint32_t some = bits == UINT64_MAX ? 64 : (uint32_t)__builtin_ctzll(~bits);
      at += none;
      added = add_run(runs, 64 * word + at, 64 * word + at + some);
      at += some;
      bits = some == 64 ? 0 : bits >> some;
   }
   return added;
}

/* The runs of what was noted for some of the elements, and neighbours.  False: no memory. */
static bool list_runs(const struct words *words, const uint64_t *noted, const rkb_tensor_t *tensor,
                      rkb_machine_asked_t *asked) {
   const uint64_t width = (uint64_t)tensor->shape[tensor->rank - 1], all = tensor->elements / 64;
   uint64_t *own = width % 64 ? with_neighbours(noted, tensor) : NULL;
   struct runs runs = {.list = malloc(sizeof *runs.list), .room = 1};
   bool made = runs.list && (own || width % 64 == 0);
   for (uint64_t n = 0; made && n < words->count; n++) {
      const uint64_t word = words->list[n], beside = own ? 0 : word_beside(word, width / 64),
                     bits = own ? own[word] : pairs_of(noted[word] | (beside < all ? noted[beside] : 0));
      made = add_bits(&runs, word, bits);
   }
   asked->runs = (const uint64_t(*)[2])runs.list; /* not NULL, which would mean all elements */
   asked->count = runs.count;
   free(own);
   return made;
}

/* The words that hold what was noted for all elements.  False: no memory. */
static bool list_words(const uint64_t *noted, const rkb_tensor_t *tensor, struct words *words) {
   const uint64_t all = tensor->elements / 64 + 1;
   uint64_t count = 0;
   words->bits = with_neighbours(noted, tensor);
   for (uint64_t w = 0; words->bits && w < all; w++)
      count += words->bits[w] != 0;
   words->list = words->bits ? malloc((count + 1) * sizeof *words->list) : NULL;
   for (uint64_t w = 0; words->list && w < all; w++)
      if (words->bits[w])
         words->list[words->count++] = w;
   return words->list != NULL;
}

/* Groups ---------------------------------------------------------------------------------------------------------------------- */

static const uint64_t *noted_of(const struct sample *s, rkb_inputs_t *inputs, uint32_t buffer) {
   const rkb_plan_buffer_t *b = &s->plan->buffers[buffer];
   return b->role == RKB_IN && b->elements > SMALL_INPUT ? s->verifier->task->inputs_noted(inputs, b->tensor)
                                                         : NULL;
}

/* The lists of a group, from what its inputs noted. */
static bool take_noted(const struct sample *s, rkb_inputs_t *inputs, const struct words *words,
                       rkb_machine_asked_t *lists) {
   bool made = true;
   for (uint32_t n = 0; made && n < s->plan->buffer_count; n++) {
      const uint64_t *noted = words[n].list ? noted_of(s, inputs, n) : NULL;
      if (noted)
         made = list_runs(&words[n], noted, &s->the_case->tensors[s->plan->buffers[n].tensor], &lists[n]);
   }
   return made;
}

/* Whether a block of the group may have written the element. */
static bool is_of_group(const struct sample *s, uint32_t buffer, uint64_t byte, uint32_t group,
                        const struct asked_elements *asked) {
   bool wrote = false;
   for (uint32_t place = group; !wrote && place < asked->places; place += asked->groups)
      wrote = rkb_machine_may_have_stored(s->machine, 0, place, buffer, byte);
   return wrote;
}

/* The elements of a call that blocks of the group wrote. */
static uint64_t elements_of(const struct sample *s, const struct held_call *call, uint32_t group,
                            const struct asked_elements *asked, uint64_t *elements) {
   const uint64_t width = s->plan->buffers[call->buffer].bytes / s->plan->buffers[call->buffer].elements;
   uint64_t count = 0;
   for (uint64_t n = 0; n < call->count; n++)
      if (is_of_group(s, call->buffer, call->elements[n] * width, group, asked))
         elements[count++] = call->elements[n];
   return count;
}

/* Has the reference read what these elements depend on. */
static int read_elements(const struct sample *s, rkb_inputs_t *inputs, uint32_t buffer,
                         const uint64_t *elements, uint64_t count, rkb_error_t *err) {
   const struct verifier *me = s->verifier;
   double *numbers = calloc(3 * count + 1, sizeof *numbers);
   uint8_t *flags = calloc(count + 1, 1);
   const int status =
      !numbers || !flags ? rkb_fail(err, RKB_ERR_NOMEM, "no memory for points")
      : count ? me->task->expect_points(me->host, inputs, s->plan->buffers[buffer].tensor, elements, count,
                                        numbers, numbers + count, numbers + 2 * count, flags, err)
              : RKB_OK;
   free(numbers);
   free(flags);
   return status;
}

static int read_group(const struct sample *s, const struct held_call *calls, uint32_t count, uint32_t group,
                      const struct asked_elements *asked, rkb_inputs_t *inputs, rkb_error_t *err) {
   int status = RKB_OK;
   s->verifier->task->inputs_note(inputs);
   for (uint32_t n = 0; status == RKB_OK && n < count; n++) {
      uint64_t *elements = calls[n].status == RKB_OK ? calloc(calls[n].count + 1, sizeof *elements) : NULL;
      if (calls[n].status != RKB_OK)
         continue;
      status = elements ? read_elements(s, inputs, calls[n].buffer, elements,
                                        elements_of(s, &calls[n], group, asked, elements), err)
                        : rkb_fail(err, RKB_ERR_NOMEM, "no memory for points");
      free(elements);
   }
   return status;
}

static int make_group(const struct sample *s, const struct held_call *calls, uint32_t count, uint32_t group,
                      const struct words *words, struct asked_elements *asked, rkb_error_t *err) {
   const struct verifier *me = s->verifier;
   rkb_machine_asked_t *lists = &asked->lists[(size_t)group * asked->buffers];
   rkb_inputs_t *inputs = NULL;
   int status = RKB_OK;
   if (asked->groups == 1)
      return take_noted(s, s->inputs, words, lists)
                ? RKB_OK
                : rkb_fail(err, RKB_ERR_NOMEM, "no memory for the elements that are asked for");
   status = me->task->inputs_open(me->host, s->the_case, s->family, s->seed, &inputs, err);
   if (status == RKB_OK)
      status = read_group(s, calls, count, group, asked, inputs, err);
   if (status == RKB_OK && !take_noted(s, inputs, words, lists))
      status = rkb_fail(err, RKB_ERR_NOMEM, "no memory for the elements that are asked for");
   if (inputs)
      me->task->inputs_free(inputs);
   return status;
}

static uint32_t count_places(const struct sample *s) {
   rkb_machine_report_t report;
   rkb_machine_report(s->machine, &report);
   return report.launch_count == 1 ? sample_executed_places(s->plan, &report.launches[0]) : 0;
}

/* Whether the first group depends on less than half of what all held elements depend on.  Where all rows of a factor are needed for each element, groups save
 * nothing, and the reference would read them for each group. */
static bool saves(const struct words *words, const struct asked_elements *asked) {
   uint64_t own = 0, all = 0;
   for (uint32_t n = 0; n < asked->buffers; n++) {
      for (uint64_t w = 0; w < words[n].count; w++)
         all += (uint64_t)__builtin_popcountll(words[n].bits[words[n].list[w]]);
      for (uint64_t r = 0; r < asked->lists[n].count; r++)
         own += asked->lists[n].runs[r][1] - asked->lists[n].runs[r][0];
   }
   return 2 * own < all;
}

static int make_groups(const struct sample *s, const struct held_call *calls, uint32_t count, uint32_t groups,
                       const struct words *words, struct asked_elements *asked, rkb_error_t *err) {
   int status = RKB_OK;
   asked->groups = groups;
   asked->lists = calloc((size_t)groups * asked->buffers + 1, sizeof *asked->lists);
   if (!asked->lists)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for the elements that are asked for");
   for (uint32_t group = 0; status == RKB_OK && group < groups; group++) {
      status = make_group(s, calls, count, group, words, asked, err);
      if (status == RKB_OK && group == 0 && groups > 1 && !saves(words, asked))
         return RKB_ERR_LIMIT;
   }
   return status;
}

int asked_elements_make(const struct sample *s, const struct held_call *calls, uint32_t count,
                        struct asked_elements **asked, rkb_error_t *err) {
   const uint32_t buffers = s->plan->buffer_count, places = count_places(s);
   struct words *words = calloc(buffers + 1, sizeof *words);
   struct asked_elements *made = *asked = calloc(1, sizeof *made);
   bool listed = words && made;
   if (made)
      *made = (struct asked_elements){.places = places, .buffers = buffers};
   for (uint32_t n = 0; listed && n < buffers; n++) {
      const uint64_t *noted = noted_of(s, s->inputs, n);
      if (noted)
         listed = list_words(noted, &s->the_case->tensors[s->plan->buffers[n].tensor], &words[n]);
   }
   int status = listed ? make_groups(s, calls, count,
                                     places < 1             ? 1
                                     : places < MOST_GROUPS ? places
                                                            : MOST_GROUPS,
                                     words, made, err)
                       : rkb_fail(err, RKB_ERR_NOMEM, "no memory for the elements that are asked for");
   if (status == RKB_ERR_LIMIT && made->groups > 1) { /* all blocks are one group */
      free_lists(made);
      status = make_groups(s, calls, count, 1, words, made, err);
   }
   for (uint32_t n = 0; words && n < buffers; n++) {
      free(words[n].bits);
      free(words[n].list);
   }
   free(words);
   return status;
}
