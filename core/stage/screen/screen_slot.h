/* One screening worker, and the machine that it is on.  Internal to stage/screen. */
#ifndef RKB_STAGE_SCREEN_SCREEN_SLOT_H
#define RKB_STAGE_SCREEN_SCREEN_SLOT_H

#include <pthread.h>
#include "stage/screen/screen_workers.h"
#include "system/peer_command.h"

/* How long a machine whose worker was lost is left alone. */
#define SCREEN_LOST_NS (30ull * 1000000000ull)

enum screen_state {
   SCREEN_DOWN, /* its machine's thread will start it */
   SCREEN_FREE,
   SCREEN_TAKEN
};

struct rkb_screen_slot {
   struct screen_machine *machine;
   rkb_peer_t peer;   /* of the thread that starts it, then of the one that took it */
   uint32_t state;    /* enum screen_state; under the mutex */
   uint64_t again_ns; /* while it is down: not before then; under the mutex */
   bool lost;         /* its process ended under the one that has it */
   uint64_t number;   /* of the last request */
   rkb_compilers_t *compilers; /* a view; NULL: nothing is built */
};

/* The workers that one address starts, and the thread that starts them. */
typedef struct screen_machine {
   rkb_screen_workers_t *workers;
   rkb_peer_command_t command;
   uint32_t index; /* in the pipeline's workers */
   rkb_screen_slot_t *slots;
   uint32_t slot_count;
   bool refused; /* it is no worker of this run, and will not become one */
   pthread_t thread;
   bool running;
   char said[600]; /* what the last note about it was: no line is said twice in a row */
} screen_machine_t;

struct rkb_screen_workers {
   rkb_screen_options_t options;
   screen_machine_t *machines;
   uint32_t machine_count;
   pthread_mutex_t mutex;
   pthread_cond_t changed; /* a place may be free */
   pthread_cond_t down;    /* a worker is to be started, or all is over */
   uint32_t here;     /* jobs on this machine now */
   uint64_t given, kept; /* jobs that workers took, and this machine */
   bool closing;
   rkb_text_t setup;  /* the frame that every worker gets first */
   rkb_text_t identity;
   compile_output_t probe; /* what this machine's compiler makes of the probe */
   bool probed;
   pthread_mutex_t probing; /* guards both */
};

/* screen_start.c: starts what is down, again and again, until the workers close.  [its own thread] */
void *screen_machine_tend(void *machine);
void screen_setup_write(rkb_screen_workers_t *workers);

/* screen_slot.c: a line for the log and the owner, unless it was the last one about the machine. */
void screen_note(screen_machine_t *machine, int level, const char *fmt, ...) RKB_PRINTF(3, 4);

/* screen_compile.c: as compilers_compile, on the slot. */
int screen_slot_compile(void *slot, const compile_input_t *input, bool (*cancelled)(void *), void *argument,
                        compile_output_t *output, rkb_finding_t *finding, rkb_error_t *err);

#endif
