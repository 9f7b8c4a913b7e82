/* The state of one run.  Requests stand in one row, propose first, then search; three marks move along it, each in order:
 * next_number (whose candidates get numbers), next_tell (whose result the strategy hears), and the end, where asks are
 * added.  That order, and nothing about who was faster, decides everything that is recorded.  Loop thread.
 *
 *   run.c       begins and ends            requests.c   asks, operators, numbers
 *   groups.c    screened, promoted, told   run_record.c     writes to the archive
 *   resume.c    reads from it              dialogue.c   hashes of asks and tells, and their replay
 *   events.c    tells the observer       times.c      what everything took */
#ifndef RKB_RUN_RUN_STATE_H
#define RKB_RUN_RUN_STATE_H

#include "run/digest_set.h"
#include "run/run.h"
#include "run/screening.h"

/* A search whose space is used up gives duplicates for ever, and these count against no limit but stale. */
#define RKB_MAX_BARREN 256
#define RKB_MAX_SCREENING 1024 /* candidates between numbering and the end of their section */

enum rkb_asked_state {
   RKB_ASKED = 1, /* its operator works, or will */
   RKB_GENERATED, /* its candidates are there, without numbers */
   RKB_SCREENING, /* numbered */
   RKB_SCREENED,
   RKB_FINISHED, /* evaluated too, or nothing to evaluate */
   RKB_TOLD
};

typedef struct rkb_asked {
   uint32_t section;            /* enum rkb_request_section */
   int64_t number;              /* within the section */
   uint32_t ordinal;            /* in the row */
   uint32_t answer;             /* enum rkb_request_answer */
   uint32_t state;              /* enum rkb_asked_state */
   const rkb_entry_t *operator; /* NULL for an empty request */
   rkb_request_t request;       /* what the strategy answered */
   rkb_item_t *item;            /* for the operator */
   rkb_work_t work;
   rkb_candidate_t **candidates;
   uint32_t count;
   uint32_t open;        /* candidates whose section is not over */
   char *failure;        /* why its operator gave nothing, or NULL */
   bool restored;        /* its candidates come from the archive, with their numbers */
   bool screened_before; /* and so does what the screen found */
   struct rkb_run *run;
} rkb_asked_t;

typedef struct rkb_spent {
   uint64_t jobs;
   double seconds, longest;
} rkb_spent_t;

/* When a candidate became the best. */
typedef struct rkb_best {
   int64_t candidate;
   double elapsed; /* seconds of the run */
} rkb_best_t;

typedef struct rkb_run {
   rkb_core_t core;
   rkb_pipeline_t *pipeline;
   rkb_run_options_t options;
   rkb_screening_t screening;
   rkb_archive_t *archive; /* or NULL */

   rkb_asked_t **asked; /* the row */
   uint32_t asked_count, asked_room;
   uint32_t propose_count; /* of them, in propose */
   uint32_t next_number, next_tell;
   bool numbering, telling, deciding; /* a mark is moving: who comes to move it leaves it to the one who is */
   bool asking_over;                  /* no more asks */
   uint32_t waits;                    /* WAIT answers in a row */

   rkb_candidate_t **candidates; /* by number - 1 */
   uint64_t candidate_count, candidate_room;
   uint64_t next_build; /* index of the first candidate whose build is not decided */
   rkb_identity_t *by_tokens, *by_ptx;

   rkb_owner_t strategy_owner;
   rkb_setup_t setup;
   void *strategy; /* self, or NULL */

   struct rkb_restored *restored; /* resume.c; NULL for a fresh run */
   struct rkb_replay *replay;     /* dialogue.c */

   uint64_t duplicates, told, told_candidates, stale;
   uint64_t barren;         /* search requests told in a row without a candidate that is new */
   uint64_t by_standing[5]; /* told, by rkb_standing_rank */
   int64_t best;
   bool best_has_objective;
   double best_objective, first_objective;
   uint64_t started_ns;
   rkb_timer_t *wall;
   uint32_t ending; /* enum rkb_ending; 0 while it goes on */
   char ending_text[128];
   int status; /* of what broke the run */
   rkb_error_t error;
   rkb_stage_progress_t progress[RKB_MAX_ENTRIES];
   rkb_spent_t spent[RKB_MAX_ENTRIES]; /* by this process and those before it */
   rkb_best_t *bests;                  /* times.c */
   uint32_t best_count, best_room;
   double earlier_seconds; /* of the processes before it, from their begin to what they stored last */
} rkb_run_t;

/* requests.c */
int rkb_requests_propose(rkb_run_t *run); /* puts the propose section into the row and starts it */
void rkb_requests_ask(rkb_run_t *run);    /* asks as far as the window reaches */
void rkb_requests_number(rkb_run_t *run); /* numbers what is generated, in order, and begins its screening */
void rkb_requests_free(rkb_run_t *run, rkb_asked_t *asked);
rkb_candidate_t *rkb_run_candidate(const rkb_run_t *run, int64_t number); /* NULL when there is none */

/* groups.c */
void rkb_groups_screened(rkb_run_t *run, rkb_asked_t *asked); /* all its candidates were screened */
void rkb_groups_evaluated(rkb_run_t *run, rkb_candidate_t *candidate);
/* tells what is finished, in order; asks; ends the run when nothing is left */
void rkb_groups_tell(rkb_run_t *run);
void rkb_groups_builds(rkb_run_t *run); /* decides duplicates among builds, in order of numbers */

/* run_record.c: each does nothing without an archive.  What fails breaks the run. */
/* With the tell before it, or NULL; the dialogue calls, which knows whether this ask is new. */
bool rkb_record_new_ask(rkb_run_t *run, const rkb_asked_t *asked, const char *hash,
                        const rkb_dialogue_record_t *told);
bool rkb_record_generated(rkb_run_t *run, rkb_asked_t *asked);
bool rkb_record_screened(rkb_run_t *run, rkb_asked_t *asked, bool finished);
bool rkb_record_evaluated(rkb_run_t *run, rkb_candidate_t *candidate);
bool rkb_record_finished(rkb_run_t *run, rkb_asked_t *asked);

/* dialogue.c */
int rkb_dialogue_open(rkb_run_t *run, rkb_error_t *err);
void rkb_dialogue_close(rkb_run_t *run);
/* Compares with what was recorded at this place, or records it.  False, with the run broken, at the first difference. */
bool rkb_dialogue_ask(rkb_run_t *run, rkb_asked_t *asked);
bool rkb_dialogue_tell(rkb_run_t *run, const rkb_asked_t *asked, const rkb_result_t *result);
/* Stores a tell that no ask has taken along. */
bool rkb_dialogue_flush(rkb_run_t *run);

/* resume.c */
int rkb_resume_load(rkb_run_t *run, rkb_error_t *err);
void rkb_resume_free(rkb_run_t *run);
/* Takes what the archive holds about this request; true when there is something and asked has been filled. */
bool rkb_resume_restore(rkb_run_t *run, rkb_asked_t *asked);

/* times.c: each does nothing without an archive but add. */
double rkb_times_elapsed(const rkb_run_t *run);         /* seconds, of the processes before this one too */
void rkb_times_best(rkb_run_t *run, int64_t candidate); /* it is the best from now on */
void rkb_times_add(rkb_run_t *run, uint32_t entry, double seconds); /* negative: not known, left out */
void rkb_times_store(rkb_run_t *run);                               /* what fails breaks the run */
void rkb_times_load(rkb_run_t *run);                                /* of a run that is resumed */

/* run.c */
void rkb_run_break(rkb_run_t *run, int status, const char *fmt, ...) RKB_PRINTF(3, 4);
/* Ends at once: wall, cost, ^C.  The open group stays open. */
void rkb_run_cut(rkb_run_t *run, uint32_t ending, const char *text);
void rkb_run_end(rkb_run_t *run, uint32_t ending, const char *fmt, ...) RKB_PRINTF(3, 4);

/* events.c */
void rkb_event_send(rkb_run_t *run, rkb_event_t *event); /* fills in the rest */
void rkb_event_candidate_end(rkb_run_t *run, const rkb_candidate_t *candidate);
void rkb_event_hooks(rkb_run_t *run);

#endif
