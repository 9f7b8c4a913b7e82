/* Finds the elements of inputs on which the compared elements depend (compared_elements.c): the elements that the reference reads for them, and their
 * neighbours.  A block needs only the elements on which its own compared elements depend.  If it also made a row that only other blocks need, each of its
 * tiles at that row would compute a row of products that nobody needs. So the sampled blocks are divided into groups, and the reference is evaluated for each
 * group separately, with inputs of its own.  An element that is missing here can make a compared element undefined, but never wrong.  One worker thread a
 * sample. */
#include "needed_inputs.h"

#include <stdlib.h>
#include <string.h>

#define SMALL_INPUT 65536u /* most elements of an input that is made whole, such as a bias or scales */
#define MOST_GROUPS                                                                                          \
   24u /* evaluating the reference for more groups would take more time than the groups save */

struct needed_inputs {
   rkb_machine_asked_t *lists;       /* for each group and buffer */
   uint32_t groups, buffers, launch; /* launch: the one whose blocks write the compared elements */
   uint32_t places;                  /* how many blocks of it were executed */
};

/* A word of a bitmap of elements, and the same word of the other row of its pair of rows; NO_WORD: there is none. */
struct word {
   uint64_t at, beside;
};
#define NO_WORD UINT64_MAX

/* The words of the input elements on which all compared elements depend, and of their neighbours; elements: how many elements that are. */
struct words {
   struct word *list;
   uint64_t count, room, elements;
};

static void free_lists(struct needed_inputs *needed) {
   for (uint32_t n = 0; needed->lists && n < needed->groups * needed->buffers; n++)
      free((void *)(uintptr_t)needed->lists[n].runs);
   free(needed->lists);
   needed->lists = NULL;
}

void needed_inputs_free(struct needed_inputs *needed) {
   if (needed)
      free_lists(needed);
   free(needed);
}

void needed_inputs_put(const struct needed_inputs *needed, rkb_machine_options_t *options) {
   options->asked = needed->lists;
   options->asked_groups = needed->groups;
}

/* Neighbours ---------------------------------------------------------------------------------------------------------------- */

/* Adds to the elements of a word the other element of each pair. */
static uint64_t pairs_of(uint64_t bits) {
   const uint64_t even = UINT64_C(0x5555555555555555);
   return bits | (bits & even) << 1 | (bits >> 1 & even);
}

static void set_bit(uint64_t *bits, uint64_t at) {
   bits[at / 64] |= UINT64_C(1) << at % 64;
}

/* Adds to the elements their neighbours in the last two dims, for rows whose length is no multiple of 64.  If results are rounded to a narrow type, a register
 * holds two neighbours of a row, and is defined only if both neighbours are.  NULL: no memory. */
static uint64_t *with_neighbours(const uint64_t *noted, const rkb_tensor_t *tensor) {
   const uint64_t words = tensor->elements / 64 + 1, width = (uint64_t)tensor->shape[tensor->rank - 1];
   uint64_t *bits = calloc(words, sizeof *bits);
   for (uint64_t w = 0; bits && w < (tensor->elements + 63) / 64; w++)
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

/* The same for a word of rows that are whole words. */
static inline uint64_t neighbours_in(const uint64_t *noted, const struct word *word) {
   return pairs_of(noted[word->at] | (word->beside == NO_WORD ? 0 : noted[word->beside]));
}

/* False: no memory. */
static bool add_word(struct words *words, uint64_t at, uint64_t beside, uint64_t bits) {
   if (words->count == words->room) {
      const uint64_t room = 2 * words->room;
      struct word *larger = realloc(words->list, room * sizeof *larger);
      if (!larger)
         return false;
      words->list = larger;
      words->room = room;
   }
   words->list[words->count++] = (struct word){at, beside};
   words->elements += (uint64_t)__builtin_popcountll(bits);
   return true;
}

/* The words of a row of whole words. */
static bool list_row(const uint64_t *noted, uint64_t row, uint64_t rows, uint64_t width,
                     struct words *words) {
   const uint64_t other = (row ^ 1) < rows ? row ^ 1 : row;
   const uint64_t *own = noted + row * width, *beside = noted + other * width;
   bool added = true;
   for (uint64_t w = 0; added && w < width; w++)
      if (own[w] | beside[w])
         added = add_word(words, row * width + w, other == row ? NO_WORD : other * width + w,
                          pairs_of(own[w] | beside[w]));
   return added;
}

/* The words that hold what was noted for all elements.  False: no memory. */
static bool list_words(const uint64_t *noted, const rkb_tensor_t *tensor, struct words *words) {
   const uint64_t width = (uint64_t)tensor->shape[tensor->rank - 1], rows = tensor->elements / width;
   uint64_t *own = width % 64 ? with_neighbours(noted, tensor) : NULL;
   words->room = 64;
   words->list = malloc(words->room * sizeof *words->list);
   bool made = words->list && (own || width % 64 == 0);
   for (uint64_t row = 0; made && !own && row < rows; row++)
      made = list_row(noted, row, rows, width / 64, words);
   for (uint64_t w = 0; made && own && w < tensor->elements / 64 + 1; w++)
      made = !own[w] || add_word(words, w, NO_WORD, own[w]);
   free(own);
   return made;
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

/* Lists the runs of elements that were noted for a group, with their neighbours.  False: no memory. */
static bool list_runs(const struct words *words, const uint64_t *noted, const rkb_tensor_t *tensor,
                      rkb_machine_asked_t *needed) {
   const uint64_t width = (uint64_t)tensor->shape[tensor->rank - 1];
   uint64_t *own = width % 64 ? with_neighbours(noted, tensor) : NULL;
   struct runs runs = {.list = malloc(sizeof *runs.list), .room = 1};
   bool made = runs.list && (own || width % 64 == 0);
   for (uint64_t n = 0; made && n < words->count; n++) {
      const struct word *word = &words->list[n];
      made = add_bits(&runs, word->at, own ? own[word->at] : neighbours_in(noted, word));
   }
   needed->runs = (const uint64_t(*)[2])runs.list; /* not NULL, which would mean all elements */
   needed->count = runs.count;
   free(own);
   return made;
}

/* Groups ---------------------------------------------------------------------------------------------------------------------- */

static const uint64_t *noted_of(const struct sample *s, rkb_inputs_t *inputs, uint32_t buffer) {
   const rkb_plan_buffer_t *b = &s->plan->buffers[buffer];
   const bool decides = buffer < RKB_MACHINE_BUFFER_BITS - 1 && (sample_deciding(s) >> buffer & 1);
   return b->role == RKB_IN && b->elements > SMALL_INPUT && !decides
             ? s->verifier->task->inputs_noted(inputs, b->tensor)
             : NULL;
}

/* Makes the lists of a group from the elements that its inputs noted. */
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
                        const struct needed_inputs *needed) {
   bool wrote = false;
   for (uint32_t place = group; !wrote && place < needed->places; place += needed->groups)
      wrote = rkb_machine_may_have_stored(sample_writers(s), needed->launch, place, buffer, byte);
   return wrote;
}

/* Finds the elements of a call that blocks of the group may have written; returns how many. */
static uint64_t elements_of(const struct sample *s, const struct compared_call *call, uint32_t group,
                            const struct needed_inputs *needed, uint64_t *elements) {
   const uint64_t width = s->plan->buffers[call->buffer].bytes / s->plan->buffers[call->buffer].elements;
   uint64_t count = 0;
   for (uint64_t n = 0; n < call->count; n++)
      if (is_of_group(s, call->buffer, call->elements[n] * width, group, needed))
         elements[count++] = call->elements[n];
   return count;
}

/* Evaluates the reference for these elements, so that the inputs note what it reads. */
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

static int read_group(const struct sample *s, const struct compared_call *calls, uint32_t count,
                      uint32_t group, const struct needed_inputs *needed, rkb_inputs_t *inputs,
                      rkb_error_t *err) {
   int status = RKB_OK;
   s->verifier->task->inputs_note(inputs);
   for (uint32_t n = 0; status == RKB_OK && n < count; n++) {
      uint64_t *elements = calls[n].status == RKB_OK ? calloc(calls[n].count + 1, sizeof *elements) : NULL;
      if (calls[n].status != RKB_OK)
         continue;
      status = elements ? read_elements(s, inputs, calls[n].buffer, elements,
                                        elements_of(s, &calls[n], group, needed, elements), err)
                        : rkb_fail(err, RKB_ERR_NOMEM, "no memory for points");
      free(elements);
   }
   return status;
}

static int make_group(const struct sample *s, const struct compared_call *calls, uint32_t count,
                      uint32_t group, const struct words *words, struct needed_inputs *needed,
                      rkb_error_t *err) {
   const struct verifier *me = s->verifier;
   rkb_machine_asked_t *lists = &needed->lists[(size_t)group * needed->buffers];
   rkb_inputs_t *inputs = NULL;
   int status = RKB_OK;
   if (needed->groups == 1)
      return take_noted(s, s->inputs, words, lists)
                ? RKB_OK
                : rkb_fail(err, RKB_ERR_NOMEM, "no memory for the elements that are asked for");
   status = me->task->inputs_open(me->host, s->the_case, s->family, s->seed, &inputs, err);
   if (status == RKB_OK)
      status = read_group(s, calls, count, group, needed, inputs, err);
   if (status == RKB_OK && !take_noted(s, inputs, words, lists))
      status = rkb_fail(err, RKB_ERR_NOMEM, "no memory for the elements that are asked for");
   if (inputs)
      me->task->inputs_free(inputs);
   return status;
}

static uint32_t count_places(const struct sample *s, uint32_t launch) {
   rkb_machine_report_t report;
   rkb_machine_report(sample_writers(s), &report);
   return launch < report.launch_count ? sample_executed_places(s->plan, &report.launches[launch]) : 0;
}

/* Whether the first group depends on less than half of the elements on which all compared elements depend.  If each element needs all rows of a factor,
 * groups save nothing, and the reference would read these rows again for each group. */
static bool saves(const struct words *words, const struct needed_inputs *needed) {
   uint64_t own = 0, all = 0;
   for (uint32_t n = 0; n < needed->buffers; n++) {
      all += words[n].elements;
      for (uint64_t r = 0; r < needed->lists[n].count; r++)
         own += needed->lists[n].runs[r][1] - needed->lists[n].runs[r][0];
   }
   return 2 * own < all;
}

static int make_groups(const struct sample *s, const struct compared_call *calls, uint32_t count,
                       uint32_t groups, const struct words *words, struct needed_inputs *needed,
                       rkb_error_t *err) {
   int status = RKB_OK;
   needed->groups = groups;
   needed->lists = calloc((size_t)groups * needed->buffers + 1, sizeof *needed->lists);
   if (!needed->lists)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for the elements that are asked for");
   for (uint32_t group = 0; status == RKB_OK && group < groups; group++) {
      status = make_group(s, calls, count, group, words, needed, err);
      if (status == RKB_OK && group == 0 && groups > 1 && !saves(words, needed))
         return RKB_ERR_LIMIT;
   }
   return status;
}

int needed_inputs_make(const struct sample *s, const struct compared_call *calls, uint32_t count,
                       struct needed_inputs **needed, rkb_error_t *err) {
   const uint32_t buffers = s->plan->buffer_count, launch = sample_writing_launch(s),
                  places = count_places(s, launch);
   struct words *words = calloc(buffers + 1, sizeof *words);
   struct needed_inputs *made = *needed = calloc(1, sizeof *made);
   bool listed = words && made;
   if (made)
      *made = (struct needed_inputs){.places = places, .launch = launch, .buffers = buffers};
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
   for (uint32_t n = 0; words && n < buffers; n++)
      free(words[n].list);
   free(words);
   return status;
}
