/* One screening worker, and the machine that it is on.  Internal to stage/screen. */
#ifndef RKB_STAGE_SCREEN_SCREEN_SLOT_H
#define RKB_STAGE_SCREEN_SCREEN_SLOT_H

#include <pthread.h>
#include "stage/screen/screen_workers.h"
#include "system/worker_command.h"

/* A machine whose worker was lost is tried again after this time. */
#define SCREEN_LOST_NS (30ull * 1000000000ull)

enum screen_state {
   SCREEN_DOWN, /* the machine's thread will start the worker */
   SCREEN_FREE,
   SCREEN_TAKEN
};

struct rkb_screen_slot {
   struct screen_machine *machine;
   rkb_pipe_process_t peer; /* used by the thread that starts the worker, then by the thread that took it */
   uint32_t state;    /* enum screen_state; under the mutex */
   uint64_t again_ns; /* while the slot is down, it is not started before this time; under the mutex */
   bool lost;         /* the process ended while a thread had the slot */
   uint64_t number;   /* of the last request; answers must repeat it */
   rkb_compilers_t *compilers; /* a view of the program's compilers; NULL: nothing is built */
};

/* The workers that one address starts, and the thread that starts them. */
typedef struct screen_machine {
   rkb_screen_workers_t *workers;
   rkb_worker_command_t command;
   uint32_t index; /* index in the pipeline's workers */
   rkb_screen_slot_t *slots;
   uint32_t slot_count;
   bool refused; /* its program, toolkit or pipeline differs, so it is never used in this run */
   pthread_t thread;
   bool running;
   char said[600]; /* the last note about the machine, so that the same note is not repeated */
} screen_machine_t;

struct rkb_screen_workers {
   rkb_screen_options_t options;
   screen_machine_t *machines;
   uint32_t machine_count;
   pthread_mutex_t mutex;
   pthread_cond_t changed; /* signalled when a slot or a place on this machine may be free */
   pthread_cond_t down;    /* signalled when a worker must be started, or when the workers close */
   uint32_t here;     /* jobs that this machine executes now */
   uint64_t given, kept; /* jobs that workers took, and jobs that this machine took */
   bool closing;
   rkb_text_t setup;  /* the frame that every worker gets first */
   rkb_text_t identity;
   compile_output_t probe; /* what this machine's compiler gives for the probe source */
   bool probed;
   pthread_mutex_t probing; /* guards probe and probed */
};

/* screen_start.c: starts slots that are down until the workers close.  Each machine has a thread that runs this. */
void *screen_machine_tend(void *machine);
void screen_setup_write(rkb_screen_workers_t *workers);

/* screen_slot.c: passes a line to the log and the owner, unless it repeats the last line about the machine. */
void screen_note(screen_machine_t *machine, int level, const char *fmt, ...) RKB_PRINTF(3, 4);

/* screen_compile.c: the form of compilers_compile that compiles on the slot's worker. */
int screen_slot_compile(void *slot, const compile_input_t *input, bool (*cancelled)(void *), void *argument,
                        compile_output_t *output, rkb_finding_t *finding, rkb_error_t *err);

#endif
