/* Shows the progress of a run on standard error.  The loop thread calls it, and so does any thread that
 * writes a log line through the log's hooks; one mutex guards everything.  Owns only its own counts. */
#include "cli/progress.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "base/memory.h"
#include "base/text.h"
#include "base/units.h"
#include "archive/archive.h"

enum { MAX_STAGES = 64, MAX_REASONS = 128, SHOWN_REASONS = 3, MAX_PICTURE = 64 << 10, FALLBACK_COLUMNS = 80 };

static const double redraw_seconds = 0.1; /* at most ten updates a second */
static const double plain_seconds = 10.0; /* between two plain lines when nothing has changed */
/* between two plain lines about a new best: at the beginning of a run there may be a hundred at once */
static const double news_seconds = 1.0;

typedef struct reason_count {
   char entry[48], reason[48];
   uint64_t count;
} reason_count_t;

struct rkb_progress {
   pthread_mutex_t mutex;
   bool live;
   char objective[96];
   rkb_pipeline_facts_t limits;
   rkb_log_t *log;
   reason_count_t reasons[MAX_REASONS]; /* rejections by stage; a reason past the last place is not shown */
   uint32_t reason_count;
   int64_t best;
   double best_objective, first_objective; /* NaN: none yet */
   rkb_event_t last;                       /* its pointers are not valid */
   rkb_stage_progress_t stages[MAX_STAGES];
   char stage_names[MAX_STAGES][48];
   uint32_t stage_count;
   double shown_at; /* elapsed seconds at the last picture or plain line */
   char line[512];  /* the last plain line */
   int lines;       /* number of lines of the picture on the terminal */
   rkb_text_t picture;
};

/* --- the picture -------------------------------------------------------------------------------------------------- */

static int terminal_columns(void) {
   struct winsize size;
   return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : FALLBACK_COLUMNS;
}

/* Adds one line of the picture.  Cuts it at the terminal's width, so that it stays one line, and removes
 * control characters that a name may contain. */
static void add_line(rkb_progress_t *progress, const char *line, int columns) {
   const size_t start = progress->picture.length;
   rkb_text_format(&progress->picture, "%.*s", columns - 1, line);
   for (size_t i = start; i < progress->picture.length; i++) {
      unsigned char *c = (unsigned char *)progress->picture.data + i;
      if (*c < 0x20 || *c == 0x7f || (*c == 0xc2 && i + 1 < progress->picture.length && c[1] < 0xa0))
         *c = '?';
   }
   rkb_text_add(&progress->picture, "\033[K\n");
   progress->lines++;
}

static void add_reasons(const rkb_progress_t *progress, const char *entry, rkb_text_t *line) {
   const reason_count_t *shown[SHOWN_REASONS] = {NULL};
   for (uint32_t i = 0; i < progress->reason_count; i++) {
      const reason_count_t *moving = &progress->reasons[i];
      if (strcmp(moving->entry, entry) != 0)
         continue;
      for (int place = 0; moving && place < SHOWN_REASONS; place++)
         if (!shown[place] || moving->count > shown[place]->count) {
            const reason_count_t *displaced = shown[place];
            shown[place] = moving;
            moving = displaced;
         }
   }
   for (int place = 0; place < SHOWN_REASONS && shown[place]; place++)
      rkb_text_format(line, "%s%" PRIu64 " %s", place ? ", " : "  ", shown[place]->count,
                      shown[place]->reason);
}

static void draw_stage(rkb_progress_t *progress, const rkb_stage_progress_t *stage, const char *name,
                       int columns) {
   rkb_text_t line;
   rkb_text_init(&line, 512);
   rkb_text_format(&line, "%-16s %6" PRIu64 " done %3u running", name, stage->done, stage->running);
   if (stage->waiting > 0)
      rkb_text_format(&line, " %3u waiting", stage->waiting);
   if (stage->rejected > 0)
      rkb_text_format(&line, " %6" PRIu64 " rejected", stage->rejected);
   if (stage->unknown > 0)
      rkb_text_format(&line, " %6" PRIu64 " unknown", stage->unknown);
   add_reasons(progress, name, &line);
   add_line(progress, rkb_text_get(&line), columns);
   rkb_text_free(&line);
}

/* Computes the gain as in the result: against the best of the first candidates, which propose gave. */
static void spell_best(const rkb_progress_t *progress, char *out, size_t size) {
   char gain[64] = "";
   if (progress->first_objective >= 1.005 * progress->best_objective)
      snprintf(gain, sizeof gain, ", x%.2f over the best first",
               progress->first_objective / progress->best_objective);
   if (progress->best == 0)
      snprintf(out, size, "no accepted candidate yet");
   else if (isnan(progress->best_objective))
      snprintf(out, size, "best: candidate %" PRId64, progress->best);
   else
      snprintf(out, size, "best: candidate %" PRId64 ", %s = %.5g%s", progress->best, progress->objective,
               progress->best_objective, gain);
}

static void spell_left(const rkb_progress_t *progress, char *out, size_t size) {
   char elapsed[32], left[32] = "", cost[96] = "";
   const rkb_pipeline_facts_t *limits = &progress->limits;
   double wall = (double)limits->limit_wall_ns * 1e-9, gone = progress->last.elapsed_seconds;
   rkb_format_duration((uint64_t)(gone * 1e9), elapsed, sizeof elapsed);
   if (limits->limit_wall_ns > 0)
      rkb_format_duration(gone < wall ? (uint64_t)((wall - gone) * 1e9) : 0, left, sizeof left);
   const double spent = progress->last.cost_usd, reserved = progress->last.reserved_usd;
   if (limits->limit_cost_usd >= 0)
      snprintf(cost, sizeof cost, ", %.3f USD spent, %.3f reserved, %.3f left", spent, reserved,
               fmax(limits->limit_cost_usd - spent - reserved, 0));
   else if (spent + reserved > 0)
      snprintf(cost, sizeof cost, ", %.3f USD spent, %.3f reserved", spent, reserved);
   snprintf(out, size, "%s%s%s%s%s", elapsed, left[0] ? ", at most " : "", left, left[0] ? " left" : "",
            cost);
}

static void spell_candidates(const rkb_progress_t *progress, char *out, size_t size) {
   if (progress->limits.limit_candidates > 0 &&
       progress->last.candidates >= progress->limits.limit_candidates)
      snprintf(out, size, "%" PRIu64 " candidates, the limit of %" PRIu64 " reached (begun requests finish)",
               progress->last.candidates, progress->limits.limit_candidates);
   else if (progress->limits.limit_candidates > 0)
      snprintf(out, size, "%" PRIu64 " of %" PRIu64 " candidates", progress->last.candidates,
               progress->limits.limit_candidates);
   else
      snprintf(out, size, "%" PRIu64 " candidates", progress->last.candidates);
}

static void erase(rkb_progress_t *progress) {
   if (progress->lines > 0)
      dprintf(STDERR_FILENO, "\033[%dA\033[J", progress->lines);
   progress->lines = 0;
}

static void draw(rkb_progress_t *progress) {
   char best[192], left[160], candidates[128], line[512];
   int columns = terminal_columns(), before = progress->lines;
   rkb_text_clear(&progress->picture);
   if (before > 0)
      rkb_text_format(&progress->picture, "\033[%dA", before);
   progress->lines = 0;
   for (uint32_t i = 0; i < progress->stage_count; i++)
      draw_stage(progress, &progress->stages[i], progress->stage_names[i], columns);
   spell_best(progress, best, sizeof best);
   spell_left(progress, left, sizeof left);
   spell_candidates(progress, candidates, sizeof candidates);
   snprintf(line, sizeof line, "%s  %s", candidates, left);
   add_line(progress, line, columns);
   add_line(progress, best, columns);
   /* Writes directly, without the filter of base/terminal.h. */
   dprintf(STDERR_FILENO, "%s", rkb_text_get(&progress->picture));
   progress->shown_at = progress->last.elapsed_seconds;
}

static void print_plain(rkb_progress_t *progress) {
   char best[192], left[160], candidates[128], line[sizeof progress->line];
   spell_best(progress, best, sizeof best);
   spell_left(progress, left, sizeof left);
   spell_candidates(progress, candidates, sizeof candidates);
   snprintf(line, sizeof line, "%s; %s; %s", left, candidates, best);
   if (strcmp(line, progress->line) != 0) /* the previous line may have said the same */
      fprintf(stderr, "%s\n", line);
   memcpy(progress->line, line, sizeof line);
   progress->shown_at = progress->last.elapsed_seconds;
}

/* --- what happened ------------------------------------------------------------------------------------------------ */

static void count_reason(rkb_progress_t *progress, const rkb_event_t *event) {
   reason_count_t *place;
   for (uint32_t i = 0; i < progress->reason_count; i++) {
      place = &progress->reasons[i];
      if (strcmp(place->entry, event->entry) == 0 && strcmp(place->reason, event->reason) == 0) {
         place->count++;
         return;
      }
   }
   if (progress->reason_count == MAX_REASONS)
      return;
   place = &progress->reasons[progress->reason_count++];
   snprintf(place->entry, sizeof place->entry, "%s", event->entry);
   snprintf(place->reason, sizeof place->reason, "%s", event->reason);
   place->count = 1;
}

static void keep(rkb_progress_t *progress, const rkb_event_t *event) {
   progress->last = *event;
   progress->stage_count = event->stage_count < MAX_STAGES ? event->stage_count : MAX_STAGES;
   for (uint32_t i = 0; i < progress->stage_count; i++) {
      progress->stages[i] = event->stages[i];
      snprintf(progress->stage_names[i], sizeof progress->stage_names[i], "%s", event->stages[i].id);
   }
   if (event->kind == RKB_EVENT_STAGE_END && strcmp(event->standing, "reject") == 0)
      count_reason(progress, event);
   if (event->kind == RKB_EVENT_BEST) {
      progress->best = event->candidate;
      progress->best_objective = event->has_objective ? event->objective : NAN;
      if (event->section == RKB_SECTION_PROPOSE)
         progress->first_objective = progress->best_objective;
   }
}

void rkb_progress_observe(void *argument, const rkb_event_t *event) {
   rkb_progress_t *progress = argument;
   double since = event->elapsed_seconds - progress->shown_at;
   pthread_mutex_lock(&progress->mutex);
   keep(progress, event);
   if (progress->live && since >= redraw_seconds)
      draw(progress);
   else if (!progress->live && since >= (event->kind == RKB_EVENT_BEST ? news_seconds : plain_seconds))
      print_plain(progress);
   pthread_mutex_unlock(&progress->mutex);
}

static void before_log_line(void *argument) {
   rkb_progress_t *progress = argument;
   pthread_mutex_lock(&progress->mutex);
   erase(progress);
}

static void after_log_line(void *argument) {
   rkb_progress_t *progress = argument;
   if (progress->stage_count > 0)
      draw(progress);
   pthread_mutex_unlock(&progress->mutex);
}

rkb_progress_t *rkb_progress_new(bool live, const char *objective, const rkb_pipeline_facts_t *limits,
                                 rkb_log_t *log) {
   rkb_progress_t *progress = rkb_allocate(1, sizeof *progress);
   pthread_mutex_init(&progress->mutex, NULL);
   rkb_text_init(&progress->picture, MAX_PICTURE);
   snprintf(progress->objective, sizeof progress->objective, "%s", objective);
   progress->live = live;
   progress->limits = *limits;
   progress->log = log;
   progress->best_objective = progress->first_objective = NAN;
   if (live)
      rkb_log_set_hooks(log, before_log_line, after_log_line, progress);
   return progress;
}

void rkb_progress_free(rkb_progress_t *progress) {
   if (!progress)
      return;
   if (!progress->live && progress->stage_count > 0)
      print_plain(progress);
   if (progress->live) {
      rkb_log_set_hooks(progress->log, NULL, NULL, NULL);
      if (progress->stage_count > 0)
         draw(progress);
   }
   rkb_text_free(&progress->picture);
   pthread_mutex_destroy(&progress->mutex);
   free(progress);
}
