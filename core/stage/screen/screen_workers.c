/* The screening workers of a run and which thread has which (screen_workers.h).  Owns the processes and one thread for each
 * machine, which starts them (screen_start.c).  The mutex guards who has which slot. */
#include "stage/screen/screen_workers.h"

#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/memory.h"
#include "stage/confined/confined_fork.h"
#include "stage/screen/screen_protocol.h"
#include "stage/screen/screen_slot.h"
#include "system/loop.h"
#include "system/timed_wait.h"

enum { WAIT_MS = 20, DEFAULT_COUNT = 1 };

static uint32_t count_of(const rkb_pipeline_worker_t *worker) {
   return !worker->screens ? 0 : worker->count ? worker->count : DEFAULT_COUNT;
}

uint32_t rkb_screen_count(const rkb_pipeline_t *pipeline) {
   uint32_t count = 0;
   for (uint32_t i = 0; i < pipeline->worker_count; i++)
      count += count_of(&pipeline->workers[i]);
   return count;
}

/* A worker on this machine needs this user's toolkit settings.  A worker on another machine gets only the variables that its
 * address names. */
static bool fill_command(rkb_worker_command_t *command, const rkb_pipeline_worker_t *worker) {
   static const char *const ours[] = {"HOME", "CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "RKB_PLUGIN_PATH", NULL};
   char *found = worker->command ? NULL : rkb_find_program("rkb-screen-worker");
   const char *const beside[] = {found ? found : "rkb-screen-worker", NULL};
   const bool filled = rkb_worker_command_add_words(command, worker->command ? worker->command : beside) &&
                       rkb_worker_command_add_setting(command, "PATH=/usr/local/bin:/usr/bin:/bin") &&
                       rkb_worker_command_pass(command, worker->command ? NULL : ours) &&
                       rkb_worker_command_pass(command, worker->environment);
   free(found);
   return filled;
}

static void open_machine(rkb_screen_workers_t *workers, screen_machine_t *machine, uint32_t index) {
   const rkb_pipeline_worker_t *worker = &workers->options.pipeline->workers[index];
   *machine = (screen_machine_t){.workers = workers, .index = index, .slot_count = count_of(worker)};
   machine->slots = rkb_allocate(machine->slot_count, sizeof *machine->slots);
   for (uint32_t i = 0; i < machine->slot_count; i++) {
      rkb_screen_slot_t *slot = &machine->slots[i];
      *slot = (rkb_screen_slot_t){.machine = machine, .peer = {.in = -1, .out = -1}};
      if (workers->options.compilers)
         slot->compilers = rkb_compilers_view(workers->options.compilers, screen_slot_compile, slot);
   }
   if (!fill_command(&machine->command, worker))
      machine->refused = true;
   machine->running = !machine->refused && pthread_create(&machine->thread, NULL, screen_machine_tend, machine) == 0;
   if (!machine->running)
      screen_note(machine, RKB_LOG_WARN, "its command has too many words or variables, or no thread can be had");
}

rkb_screen_workers_t *rkb_screen_open(const rkb_screen_options_t *options) {
   const rkb_pipeline_t *pipeline = options->pipeline;
   rkb_screen_workers_t *workers = rkb_allocate(1, sizeof *workers);
   workers->options = *options;
   pthread_mutex_init(&workers->mutex, NULL);
   pthread_mutex_init(&workers->probing, NULL);
   pthread_cond_init(&workers->changed, NULL);
   pthread_cond_init(&workers->down, NULL);
   screen_setup_write(workers);
   workers->machines = rkb_allocate(pipeline->worker_count, sizeof *workers->machines);
   for (uint32_t i = 0; i < pipeline->worker_count; i++)
      if (count_of(&pipeline->workers[i]))
         open_machine(workers, &workers->machines[workers->machine_count++], i);
   return workers;
}

static void close_machine(screen_machine_t *machine) {
   if (machine->running)
      pthread_join(machine->thread, NULL);
   for (uint32_t i = 0; i < machine->slot_count; i++) {
      rkb_pipe_process_kill(&machine->slots[i].peer, NULL);
      rkb_compilers_close(machine->slots[i].compilers);
   }
   rkb_worker_command_clear(&machine->command);
   free(machine->slots);
}

void rkb_screen_close(rkb_screen_workers_t *workers) {
   if (!workers)
      return;
   pthread_mutex_lock(&workers->mutex);
   workers->closing = true;
   pthread_cond_broadcast(&workers->changed);
   pthread_cond_broadcast(&workers->down);
   pthread_mutex_unlock(&workers->mutex);
   for (uint32_t i = 0; i < workers->machine_count; i++)
      close_machine(&workers->machines[i]);
   compile_output_free(&workers->probe);
   rkb_text_free(&workers->setup);
   rkb_text_free(&workers->identity);
   pthread_cond_destroy(&workers->down);
   pthread_cond_destroy(&workers->changed);
   pthread_mutex_destroy(&workers->probing);
   pthread_mutex_destroy(&workers->mutex);
   free(workers->machines);
   free(workers);
}

void rkb_screen_tally(rkb_screen_workers_t *workers, uint64_t *there, uint64_t *here) {
   *there = *here = 0;
   if (!workers)
      return;
   pthread_mutex_lock(&workers->mutex);
   *there = workers->given;
   *here = workers->kept;
   pthread_mutex_unlock(&workers->mutex);
}

bool rkb_screen_any(const rkb_screen_workers_t *workers) {
   return workers != NULL;
}

static rkb_screen_slot_t *free_slot(const rkb_screen_workers_t *workers) {
   for (uint32_t i = 0; i < workers->machine_count; i++)
      for (uint32_t j = 0; j < workers->machines[i].slot_count; j++)
         if (workers->machines[i].slots[j].state == SCREEN_FREE)
            return &workers->machines[i].slots[j];
   return NULL;
}

/* Free workers are taken before this machine, which also runs the loop and the stages that propose. */
bool rkb_screen_take(rkb_screen_workers_t *workers, bool here, bool (*cancelled)(void *), void *argument,
                     rkb_screen_slot_t **slot) {
   bool taken = false;
   *slot = NULL;
   if (!workers)
      return true;
   pthread_mutex_lock(&workers->mutex);
   while (!taken && !cancelled(argument)) {
      *slot = here ? NULL : free_slot(workers);
      taken = *slot || workers->here < workers->options.here;
      if (!taken)
         rkb_timed_wait(&workers->changed, &workers->mutex, WAIT_MS);
   }
   if (*slot)
      (*slot)->state = SCREEN_TAKEN;
   else
      workers->here += taken;
   workers->given += *slot != NULL;
   workers->kept += taken && !*slot;
   pthread_mutex_unlock(&workers->mutex);
   return taken;
}

void rkb_screen_give(rkb_screen_workers_t *workers, rkb_screen_slot_t *slot) {
   if (!workers)
      return;
   pthread_mutex_lock(&workers->mutex);
   if (!slot)
      workers->here--;
   else
      slot->state = slot->lost ? SCREEN_DOWN : SCREEN_FREE;
   if (slot && slot->lost)
      pthread_cond_broadcast(&workers->down);
   pthread_cond_signal(&workers->changed);
   pthread_mutex_unlock(&workers->mutex);
}

rkb_pipe_process_t *rkb_screen_peer(rkb_screen_slot_t *slot) {
   return &slot->peer;
}

rkb_compilers_t *rkb_screen_compilers(rkb_screen_slot_t *slot) {
   return slot->compilers;
}

bool rkb_screen_lost(const rkb_screen_slot_t *slot) {
   return slot->lost;
}

int rkb_screen_begin_job(rkb_screen_slot_t *slot, uint32_t entry, bool (*cancelled)(void *), void *argument,
                         rkb_error_t *err) {
   rkb_text_t request;
   rkb_text_init(&request, 64);
   record_put_u32(&request, SCREEN_JOB);
   record_put_u64(&request, ++slot->number);
   record_put_u32(&request, entry);
   char *payload = NULL;
   record_reader_t in = {.bad = true};
   const bool answered = confined_send(&slot->peer, request.data, request.length, cancelled, argument) &&
                         confined_receive(&slot->peer, SCREEN_MAX_READY, &payload, &in, cancelled, argument);
   const bool begun = answered && record_u32(&in) == SCREEN_BEGUN && record_u64(&in) == slot->number && !in.bad;
   rkb_text_free(&request);
   free(payload);
   return begun ? RKB_OK : rkb_fail(err, RKB_ERR_UNAVAILABLE, "the screening worker did not take the job");
}
