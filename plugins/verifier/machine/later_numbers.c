/* Judges what blocks do with later numbers, where they draw numbers from a word in memory: `row = atomicAdd(counter, 1)`.  The blocks of a sample are
 * executed one after the other and draw the first numbers, whatever their places in the grid.  So a kernel could be wrong in all rows but the first.
 * So some blocks are executed once more, each behind a drawn number of other blocks: the machine moves the words on for these
 * (machine/memory/ticket_words.h), and what the blocks store is judged.
 *
 * A device may reach the state behind so many blocks if as many blocks add as much as the executed ones did.  Some blocks may add nothing.  So a fault
 * rejects only if the launch has it too when all of its blocks are executed in their order.  If the executed blocks did not all add as much, words are
 * moved on by their mean, and behind at most seven blocks of eight: the mean may be a little too large.  If all blocks are too much work, only words are
 * moved on to which all executed blocks added as much, and behind at most half of the launch's blocks: the state is then out of reach only if more than
 * half of the blocks add another number, and chance would hardly have drawn none of those.  There a fault makes the kernel suspect.  Far corners are left out, because offsets overflow in the last rows there, behind nearly
 * all blocks.  docs/decisions/sampled-blocks.md.  One worker thread a sample. */
#include "bench_values.h"

#include <stdlib.h>
#include <string.h>

#define MOST_MOVED 32u          /* blocks of a launch; the last number is drawn beside */
#define MOVED_WORK 20000000.0   /* thread-instructions of these blocks together, as the executed ones tell */
#define LEAST_MOVED 2u          /* blocks that are executed however costly they are */
#define WHOLE_WORK 4000000000.0 /* of a launch of which all blocks are executed, to see whether a fault is there */
#define UNSURE_SHARE                                                                                         \
   8u /* blocks are not executed behind the last blocks where words are moved on by a mean */
#define SURE_BLOCKS 16u         /* that all added as much, so that half of all blocks do */

struct numbers {
   struct sample part; /* the blocks that are executed behind others */
   struct outcome found;
   struct sample *whole;
   const rkb_machine_options_t *options;
   uint32_t launch, count;
   uint64_t total;      /* blocks of the launch */
   uint64_t behind;     /* blocks are executed behind fewer blocks than this */
   bool affordable;     /* to execute all blocks */
   bool even;           /* every executed block added as much to each word */
   double instructions; /* of one block */
   uint64_t *places;
   rkb_machine_blocks_t *lists;
   rkb_machine_moved_t *moved; /* by launch */
   rkb_machine_ticket_t words[RKB_MACHINE_TICKETS];
   uint32_t word_count;
};

static void tell(struct sample *s, uint32_t launch, const char *why) {
   char text[256];
   snprintf(text, sizeof text, "launch %u draws numbers from a word in memory; numbers beyond the first were not judged: %s", launch, why);
   sample_leave_out(s, text);
   s->outcome->first_numbers = true;
}

/* Whether something that a block of the launch stored was judged. */
static bool is_judged(const struct sample *s, uint32_t launch) {
   bool any = false;
   for (uint32_t n = 0; s->judged_blocks && n < s->blocks.launches[launch].count; n++)
      any |= s->judged_blocks[launch][n] != 0;
   return any;
}

/* Draws ascending places, the last one among them: how many of the launch's blocks ran before. */
static void draw_places(struct numbers *m, rkb_random_t *stream) {
   for (uint32_t n = 0; n + 1 < m->count;) {
      const uint64_t place = m->whole->verifier->random->below(stream, m->behind - 1);
      uint32_t at = n;
      bool known = false;
      for (uint32_t k = 0; k < n; k++)
         known |= m->places[k] == place;
      if (known)
         continue;
      for (; at > 0 && m->places[at - 1] > place; at--)
         m->places[at] = m->places[at - 1];
      m->places[at] = place;
      n++;
   }
   m->places[m->count - 1] = m->behind - 1;
}

static bool all_even(const struct numbers *m) {
   bool even = true;
   for (uint32_t n = 0; n < m->word_count; n++)
      even &= m->words[n].even;
   return even;
}

static bool is_fault(const rkb_machine_finding_t *finding) {
   return strcmp(finding->reason, "memory.out_of_bounds") == 0 ||
          strcmp(finding->reason, "memory.misaligned") == 0 || strcmp(finding->reason, "input.modified") == 0;
}

/* The first fault of the part's run; NULL: there is none. */
static const rkb_machine_finding_t *fault_of(const struct sample *part) {
   rkb_machine_report_t report;
   rkb_machine_report(part->machine, &report);
   for (uint32_t n = 0; n < report.finding_count; n++)
      if (is_fault(&report.findings[n]))
         return &report.findings[n];
   return NULL;
}

static bool only_lacked_values(const struct sample *part) {
   rkb_machine_report_t report;
   bool only = true;
   rkb_machine_report(part->machine, &report);
   for (uint32_t n = 0; n < report.finding_count; n++)
      only &= strcmp(report.findings[n].reason, "memory.uninitialised") == 0;
   return only;
}

static void end_run(struct sample *part) {
   rkb_machine_close(part->machine);
   part->machine = NULL;
   sample_free_buffers(part, part->buffers);
   part->buffers = NULL;
}

/* Executes the blocks behind others, and judges what they stored. */
static int execute_moved(struct numbers *m, rkb_error_t *err) {
   struct sample *part = &m->part;
   rkb_machine_options_t options = *m->options;
   options.sample = m->lists;
   options.moved = m->moved;
   options.past = true;
   options.thread_instructions = part->candidate->budget;
   int status = sample_make_buffers(part, false, &part->buffers, err);
   if (status == RKB_OK)
      status = sample_execute(part, &options, err);
   if (status != RKB_OK)
      return status;
   const rkb_machine_finding_t *fault = fault_of(part);
   if (fault)
      outcome_finding(part->outcome, fault, part->the_case, part->family->name, part->seed);
   return !fault && only_lacked_values(part) ? sample_judge_outputs(part, &options, err) : RKB_OK;
}

/* Whether a whole run of the launch leaves the wrong element, with the same bytes. */
static bool has_element(const struct numbers *m, const struct sample *run) {
   uint32_t buffer, width;
   uint64_t byte;
   return outcome_wrong_element(&m->found, run->plan, &buffer, &byte, &width) &&
          rkb_machine_holds(run->machine, buffer, byte, width) &&
          memcmp((uint8_t *)run->buffers[buffer].data + byte, (uint8_t *)m->part.buffers[buffer].data + byte, width) == 0;
}

/* Executes all blocks of the launch.  *confirmed: the fault is there too. */
static int execute_whole(const struct numbers *m, bool *confirmed, rkb_error_t *err) {
   struct sample run = m->part;
   rkb_machine_options_t options = *m->options;
   options.sample = m->lists;
   options.sample_instructions = 0;
   options.thread_instructions = run.candidate->budget;
   m->lists[m->launch] = (rkb_machine_blocks_t){.count = 0};
   run.machine = NULL;
   run.buffers = NULL;
   int status = sample_make_buffers(&run, false, &run.buffers, err);
   if (status == RKB_OK)
      status = sample_execute(&run, &options, err);
   if (status == RKB_OK)
      *confirmed = strncmp(m->found.reason, "numeric.", 8) == 0 ? has_element(m, &run) : fault_of(&run) != NULL;
   end_run(&run);
   return status;
}

/* Takes over what was found, as far as a launch of all blocks has it too. */
static int confirm(struct numbers *m, rkb_error_t *err) {
   struct sample *s = m->whole;
   bool confirmed = false;
   const int status = m->affordable ? execute_whole(m, &confirmed, err) : RKB_OK;
   if (status == RKB_OK && (confirmed || !m->affordable))
      outcome_note(s->outcome, confirmed ? m->found.rank : RKB_MACHINE_SUSPECT, m->found.reason,
                   json_incref(m->found.evidence), "%s%s", m->found.message,
                   confirmed ? "" : "; a block draws its work by a number that blocks which were not executed would have left to it");
   else if (status == RKB_OK)
      tell(s, m->launch, "they look wrong where the word is moved on, and are right in a launch of all blocks");
   return status;
}

/* Adds to the facet of the sample how many numbers were judged. */
static void describe(struct numbers *m) {
   struct sample *s = m->whole;
   uint64_t judged = 0;
   for (uint32_t n = 0; n < m->count; n++)
      judged += m->part.judged_blocks[m->launch][n] != 0;
   if (!judged && !is_judged(s, m->launch))
      return;
   if (!judged) {
      tell(s, m->launch, "blocks behind others need what the others leave");
      return;
   }
   /* the last number was not drawn */
   const uint64_t drawn = judged - (m->part.judged_blocks[m->launch][m->count - 1] != 0),
                  missed = sample_missed(m->behind, drawn) + (m->total - m->behind), others = m->total - judged;
   const double share = (double)(missed < others ? missed : others) / (double)m->total;
   json_t *scope = json_object_get(s->facet, "scope"), *list = json_object_get(scope, "drawn_numbers");
   if (scope && !list) {
      list = json_array();
      json_object_set_new(scope, "drawn_numbers", list);
   }
   if (list)
      json_array_append_new(list, json_pack("{s:i, s:I, s:I, s:f}", "launch", (int)m->launch, "blocks", (json_int_t)m->total, "judged",
                                            (json_int_t)judged, "share_missed_with_5_percent", share));
   s->outcome->missed = share > s->outcome->missed ? share : s->outcome->missed;
}

/* The part's own lists of blocks and marks. */
static int make_part(struct numbers *m, struct sampled_launch *launches, rkb_error_t *err) {
   const struct sample *s = m->whole;
   struct sample *part = &m->part;
   const uint32_t launch_count = s->plan->launch_count;
   *part = *s;
   part->machine = NULL;
   part->buffers = NULL;
   part->outcome = &m->found;
   part->compared = NULL;
   part->counts = NULL;
   part->outputs = NULL;
   part->judged_blocks = NULL;
   part->judged = part->dont_care = part->final_elements = 0;
   memcpy(launches, s->blocks.launches, launch_count * sizeof *launches);
   memcpy(m->lists, s->blocks.judged, launch_count * sizeof *m->lists);
   launches[m->launch].count = m->count;
   launches[m->launch].told = NULL;
   part->blocks.launches = launches;
   m->lists[m->launch] = (rkb_machine_blocks_t){
      .numbers = s->blocks.launches[m->launch].numbers, .count = m->count, .least = m->count};
   m->moved[m->launch] =
      (rkb_machine_moved_t){.words = m->words, .count = m->word_count, .places = m->places};
   part->judged_buffers = calloc(s->plan->buffer_count + 1, sizeof *part->judged_buffers);
   return part->judged_buffers ? sample_make_marks(part, err) : rkb_fail(err, RKB_ERR_NOMEM, "no memory for later numbers");
}

static int judge_launch(struct numbers *m, rkb_random_t *stream, rkb_error_t *err) {
   const uint32_t launch_count = m->whole->plan->launch_count;
   struct sampled_launch *launches = calloc(launch_count + 1, sizeof *launches);
   m->lists = calloc(launch_count + 1, sizeof *m->lists);
   m->moved = calloc(launch_count + 1, sizeof *m->moved);
   m->places = calloc(m->count + 1, sizeof *m->places);
   int status = launches && m->lists && m->moved && m->places
                   ? RKB_OK
                   : rkb_fail(err, RKB_ERR_NOMEM, "no memory for later numbers");
   outcome_init(&m->found, m->whole->outcome->debug);
   if (status == RKB_OK) {
      draw_places(m, stream);
      status = make_part(m, launches, err);
   }
   if (status == RKB_OK)
      status = execute_moved(m, err);
   if (status == RKB_OK && m->found.rank)
      status = confirm(m, err);
   else if (status == RKB_OK)
      describe(m);
   end_run(&m->part);
   m->whole->judged += m->part.judged;
   free(m->part.judged_buffers);
   if (m->part.judged_blocks)
      sample_free_marks(&m->part);
   outcome_free(&m->found);
   free(m->places);
   free(m->moved);
   free(m->lists);
   free(launches);
   return status;
}

/* How many blocks are executed behind others. */
static uint32_t count_moved(const struct numbers *m) {
   const uint32_t listed = m->whole->blocks.launches[m->launch].count;
   const double allowed = MOVED_WORK / m->instructions;
   uint64_t count = allowed < LEAST_MOVED ? LEAST_MOVED : allowed > MOST_MOVED ? MOST_MOVED + 1 : (uint64_t)allowed;
   count = count < m->behind / 2 ? count : m->behind / 2;
   return count < listed ? (uint32_t)count : listed;
}

int later_numbers_judge(struct sample *s, const rkb_machine_options_t *options, rkb_error_t *err) {
   rkb_machine_report_t report;
   rkb_random_t stream =
      s->verifier->random->for_job(s->verifier->host, s->candidate->job, STREAM_NUMBERS | s->case_index << 8);
   int status = RKB_OK;
   rkb_machine_report(s->machine, &report);
   for (uint32_t n = 0; n < report.launch_count && status == RKB_OK && s->outcome->rank == 0; n++) {
      const rkb_launch_counters_t *c = &report.launches[n];
      struct numbers m = {.whole = s, .options = options, .launch = n, .total = c->blocks, .instructions = 1};
      bool others = false;
      if (c->executed && c->executed < c->blocks)
         m.word_count = rkb_machine_tickets(s->machine, n, m.words, &others);
      if ((!m.word_count && !others) || s->candidate->budget == 0)
         continue;
      for (int k = 0; k < RKB_CLASS_COUNT; k++)
         m.instructions += (double)c->thread_instructions[k] / (double)c->executed;
      const double all = m.instructions * (double)m.total;
      m.affordable = all < WHOLE_WORK && 3 * all < (double)s->candidate->budget;
      m.even = all_even(&m);
      m.behind = !m.affordable ? m.total / 2 : m.even ? m.total : m.total - m.total / UNSURE_SHARE;
      m.count = count_moved(&m);
      if (m.word_count && m.count && !s->lone && (m.affordable || (m.even && c->executed >= SURE_BLOCKS)))
         status = judge_launch(&m, &stream, err);
      else if (is_judged(s, n))
         tell(s, n,
              s->lone                  ? "the shape is too large"
              : m.word_count && m.even ? "too few blocks were executed"
                                       : "not every block draws as many");
   }
   return status == RKB_ERR_LIMIT ? RKB_OK : status; /* too much memory: it is left out */
}
