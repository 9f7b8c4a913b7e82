/* Whether a run still goes on, and how it ended.  Loop thread. */
#ifndef RKB_RUN_ENDING_H
#define RKB_RUN_ENDING_H

#include <stdbool.h>
#include <stdint.h>
#include <rkb/plugin.h>

struct rkb_run;

typedef struct rkb_run_ending {
   bool asking_over;  /* no more requests are added to the row */
   uint32_t kind;     /* enum rkb_ending; 0 while the run goes on */
   char text[128];    /* the reason in words */
   int status;        /* RKB_OK until something breaks the run */
   rkb_error_t error; /* what broke it */
} rkb_run_ending_t;

/* No more requests: the row's end is final. */
void rkb_run_stop_asking(struct rkb_run *run);
/* Records why the run ends; the first reason counts.  Open requests are still finished. */
void rkb_run_end(struct rkb_run *run, uint32_t kind, const char *fmt, ...) RKB_PRINTF(3, 4);
/* Ends the run at once, for the wall limit or an interrupt.  An open promote group stays open, so that the record is a prefix of
 * the longer run's. */
void rkb_run_cut(struct rkb_run *run, uint32_t kind, const char *text);
/* Ends the run at once with an error; the first error counts. */
void rkb_run_break(struct rkb_run *run, int status, const char *fmt, ...) RKB_PRINTF(3, 4);

#endif
