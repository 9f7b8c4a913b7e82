/* What goes into a prompt's slots: the task, the device, kernels known so far, and what was found about them.
 * A context belongs to one job and is built on a worker.  Everything from the archive comes through the job,
 * and so through its window. */
#ifndef PLUGIN_ASKING_CONTEXT_H
#define PLUGIN_ASKING_CONTEXT_H

#include <rkb/ext/archive.h>
#include <rkb/ext/kernel.h>
#include <rkb/ext/library.h>
#include <rkb/ext/prompt.h>
#include <rkb/ext/task.h>
#include <rkb/items.h>

#define CONTEXT_MOST_TEXTS 512
#define CONTEXT_SLOTS 20

/* The services a model stage asks of its host; any may be NULL. */
typedef struct context_services {
   const rkb_archive_api_t *archive;
   const rkb_kernel_api_t *kernel;
   const rkb_task_api_t *task;
   const rkb_prompt_api_t *prompt;
   const rkb_random_api_t *random;
   const rkb_library_api_t *library;
} context_services_t;

typedef struct context_slot {
   const char *name;
   rkb_slot_entry_t entries[RKB_MAX_SLOT_ENTRIES];
   uint32_t count;
} context_slot_t;

/* Which profile a prompt shows of a kernel.  The objective's values are its score and are always its own. */
enum context_profile {
   PROFILE_OWN,
   PROFILE_NONE, /* show scores alone */
   /* Show the profile of another kernel, drawn by chance: the control that tells whether a profile's
    * content helps. */
   PROFILE_RANDOM
};
#define PROFILE_OPTION(config_type)                                                                                     \
   {                                                                                                                    \
      .name = "profile", .type = RKB_OPT_ENUM, .offset = offsetof(config_type, profile), .fallback = "own",             \
      .choices = CONTEXT_PROFILES,                                                                                      \
      .help = "Which profile the prompt shows of a kernel beside its score. own: its own; none: none; random: that of " \
              "another kernel of the run, drawn, as a control."                                                         \
   }
extern const char *const CONTEXT_PROFILES[]; /* names of enum context_profile, NULL-terminated */
enum context_profile context_profile_named(const char *name);

typedef struct context {
   const rkb_host_t *host;
   rkb_job_t job;
   const context_services_t *services;
   context_slot_t slots[CONTEXT_SLOTS];
   uint32_t slot_count;
   char *texts[CONTEXT_MOST_TEXTS]; /* owned */
   uint32_t text_count;
   rkb_archive_rows_t *rows; /* visible candidates, oldest first; or NULL */
   enum context_profile profile;
   const char *objective;    /* the measurement that is the score; or NULL */
   uint32_t drawn;           /* kernels whose profiles were drawn so far */
   bool failed;              /* memory ran out, or there is more of something than fits */
} context_t;

void context_services_find(const rkb_host_t *host, context_services_t *services);
void context_open(context_t *context, const rkb_host_t *host, rkb_job_t job,
                  const context_services_t *services);
void context_close(context_t *context);

/* The visible candidate of that number, or NULL.  Lives as long as the context. */
const rkb_archive_row_t *context_row(const context_t *context, int64_t number);
/* The first visible candidate whose text differs from this one by spaces and line ends alone, or NULL. */
const rkb_archive_row_t *context_same(const context_t *context, const char *source);
/* Adds an entry to a slot.  text and label are kept as they are unless made by context_format. */
void context_add(context_t *context, const char *slot, const char *text, const char *label, int32_t priority,
                 bool fenced);
/* Returns a text that lives as long as the context; "" when memory runs out. */
const char *context_format(context_t *context, const char *fmt, ...) RKB_PRINTF(2, 3);
const char *context_keep(context_t *context, char *text); /* takes over a malloc'd text */

/* Returns the text with two spaces before every line. */
const char *context_indented(context_t *context, const char *text);

/* Slots "task", "contract", "device" and "hints". */
void context_add_task(context_t *context);
void context_add_contract(context_t *context);
void context_add_device(context_t *context);
void context_add_hints(context_t *context);
/* Slot "best": at most count kernels, slow to fast, each with its time and what limits it. */
void context_add_best(context_t *context, const char *objective, uint32_t count);
/* Slot "verdicts": the last verdicts that found something wrong, at most count, newest last. */
void context_add_verdicts(context_t *context, uint32_t count);
/* Fills slot "kernel" (or another) with a candidate's source and assignment, and slot "findings" with its verdicts and
 * measurements. */
void context_add_candidate(context_t *context, const char *slot, const rkb_item_t *candidate,
                           int32_t priority);
void context_add_findings(context_t *context, const char *slot, const rkb_item_t *candidate);
/* Adds one entry: what every profiler measured of a visible candidate, case by case, with what limits it and
 * what treats that. */
void context_add_measured(context_t *context, const char *slot, int64_t candidate, const char *label);
/* Returns one measurement over all cases, with what limits the slowest case; "" when it was not measured or
 * is not visible. */
const char *context_summary(context_t *context, int64_t candidate, const char *name);
/* Slot "siblings": what other changes to this kernel gave: the last visible ones, at most so many. */
void context_add_siblings(context_t *context, const rkb_item_t *parent, uint32_t most);

/* Slot "errors": how many visible candidates were rejected for which reason, with the newest message of each. */
void context_add_errors(context_t *context);
/* Slot "library": at most count kernels of earlier runs, those nearest to the task and to what limits the
 * parent (NULL: no parent).  In a run without a library it adds nothing. */
void context_add_library(context_t *context, const rkb_item_t *parent, uint32_t count);

/* Fills the prompt; *filled is owned. */
int context_fill(context_t *context, const rkb_prompt_t *prompt, uint32_t child, rkb_filled_prompt_t **filled,
                 rkb_error_t *err);

#endif
