/* The table of open jobs (jobs.h).  A slot goes FREE -> OPEN -> ENDED -> FREE.  Its generation grows when it is freed or written
 * off, so old handles no longer match. */
#include "stage/jobs.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <rkb/items.h>
#include "base/memory.h"
#include "stage/candidate.h"
#include "stage/instance.h"
#include "stage/item.h"

enum slot_state { SLOT_FREE, SLOT_OPEN, SLOT_ENDED };

typedef struct slot {
   uint32_t generation, index;
   uint32_t state;
   bool cancelled;
   uint64_t cancelled_ns, started_ns, limit_ns;
   struct rkb_instance *instance;
   rkb_scope_t scope;
   rkb_ended_t *ended; /* the record of the job's end, which collects the items */
   uint32_t room;
   char fault[200]; /* how the job broke the contract, or "" */
   struct slot *next_free;
} slot_t;

struct rkb_jobs {
   pthread_mutex_t mutex;
   slot_t **slots;
   uint32_t count, room, open;
   slot_t *free;
   rkb_ended_t *first, *last;
   void (*ring)(void *);
   void *argument;
};

static uint64_t now_ns(void) {
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

rkb_jobs_t *rkb_jobs_new(void (*ring)(void *), void *argument) {
   rkb_jobs_t *jobs = rkb_allocate(1, sizeof *jobs);
   pthread_mutex_init(&jobs->mutex, NULL);
   jobs->ring = ring;
   jobs->argument = argument;
   return jobs;
}

void rkb_ended_free(rkb_ended_t *ended) {
   if (!ended)
      return;
   for (uint32_t i = 0; i < ended->item_count; i++)
      rkb_item_unref(ended->items[i]);
   free(ended->items);
   free(ended);
}

void rkb_jobs_free(rkb_jobs_t *jobs) {
   if (!jobs)
      return;
   for (uint32_t i = 0; i < jobs->count; i++) {
      if (jobs->slots[i]->state == SLOT_OPEN)
         rkb_ended_free(jobs->slots[i]->ended);
      free(jobs->slots[i]);
   }
   while (jobs->first) {
      rkb_ended_t *ended = jobs->first;
      jobs->first = ended->next;
      rkb_ended_free(ended);
   }
   free(jobs->slots);
   pthread_mutex_destroy(&jobs->mutex);
   free(jobs);
}

static slot_t *free_slot(rkb_jobs_t *jobs) {
   slot_t *slot = jobs->free;
   if (slot) {
      jobs->free = slot->next_free;
      return slot;
   }
   if (jobs->count >= RKB_MAX_JOBS)
      return NULL;
   if (jobs->count == jobs->room) {
      uint32_t room = jobs->room ? jobs->room * 2 : 64;
      jobs->slots = rkb_grow(jobs->slots, room, sizeof *jobs->slots);
      jobs->room = room;
   }
   slot = rkb_allocate(1, sizeof *slot);
   slot->generation = 1;
   slot->index = jobs->count;
   jobs->slots[jobs->count++] = slot;
   return slot;
}

static rkb_job_t handle_of(const slot_t *slot) {
   return (uint64_t)slot->index << 32 | slot->generation;
}

/* The slot of a live handle, or NULL. */
static slot_t *slot_of(rkb_jobs_t *jobs, rkb_job_t job) {
   uint32_t index = (uint32_t)(job >> 32);
   slot_t *slot = index < jobs->count ? jobs->slots[index] : NULL;
   return slot && slot->state != SLOT_FREE && slot->generation == (uint32_t)job ? slot : NULL;
}

static void release(rkb_jobs_t *jobs, slot_t *slot) {
   slot->state = SLOT_FREE;
   slot->generation++;
   if (!slot->generation)
      slot->generation = 1; /* handle 0 is no job */
   slot->ended = NULL;
   slot->next_free = jobs->free;
   jobs->free = slot;
   jobs->open--;
}

rkb_job_t rkb_jobs_open(rkb_jobs_t *jobs, struct rkb_work *work, struct rkb_instance *instance,
                        const rkb_scope_t *scope, uint64_t limit_ns) {
   rkb_ended_t *ended = rkb_allocate(1, sizeof *ended);
   pthread_mutex_lock(&jobs->mutex);
   slot_t *slot = free_slot(jobs);
   if (!slot) {
      pthread_mutex_unlock(&jobs->mutex);
      free(ended);
      return 0;
   }
   ended->work = work;
   slot->state = SLOT_OPEN;
   slot->cancelled = false;
   slot->cancelled_ns = slot->started_ns = 0;
   slot->limit_ns = limit_ns;
   slot->instance = instance;
   slot->scope = *scope;
   slot->ended = ended;
   slot->room = 0;
   slot->fault[0] = '\0';
   jobs->open++;
   rkb_job_t job = handle_of(slot);
   pthread_mutex_unlock(&jobs->mutex);
   return job;
}

bool rkb_jobs_start(rkb_jobs_t *jobs, rkb_job_t job) {
   uint64_t now = now_ns();
   pthread_mutex_lock(&jobs->mutex);
   slot_t *slot = slot_of(jobs, job);
   bool go = slot && !slot->cancelled;
   if (go)
      slot->started_ns = now;
   pthread_mutex_unlock(&jobs->mutex);
   return go;
}

static bool declared(const struct rkb_instance *instance, const char *type) {
   for (const char *const *emit = rkb_instance_emits(instance); emit && *emit; emit++)
      if (strcmp(*emit, type) == 0)
         return true;
   return false;
}

/* Writes why the slot cannot take another such item; false when it can. */
static bool refuses(slot_t *slot, const char *type) {
   bool candidate = strcmp(type, RKB_ITEM_CANDIDATE) == 0;
   uint32_t most = candidate ? RKB_MAX_CANDIDATES_EMITTED : RKB_MAX_EMITTED;
   if (slot->fault[0])
      return true;
   if (!declared(slot->instance, type))
      snprintf(slot->fault, sizeof slot->fault, "it emitted a '%.60s', which its descriptor does not list",
               type);
   else if (slot->ended->item_count >= most)
      snprintf(slot->fault, sizeof slot->fault, "it emitted more than %u items in one job", most);
   return slot->fault[0] != '\0';
}

void rkb_jobs_emit(rkb_jobs_t *jobs, rkb_job_t job, rkb_item_t *item) {
   if (!item)
      return;
   pthread_mutex_lock(&jobs->mutex);
   slot_t *slot = slot_of(jobs, job);
   bool taken = slot && slot->state == SLOT_OPEN && !refuses(slot, rkb_item_type(item));
   rkb_ended_t *ended = taken ? slot->ended : NULL;
   if (taken && ended->item_count == slot->room) {
      uint32_t room = slot->room ? slot->room * 2 : 4;
      ended->items = rkb_grow(ended->items, room, sizeof *ended->items);
      slot->room = room;
   }
   if (taken)
      ended->items[ended->item_count++] = item;
   pthread_mutex_unlock(&jobs->mutex);
   if (!taken)
      rkb_item_unref(item);
}

/* Moves an ended slot's record to the list.  True when the list was empty, so the loop must be woken. */
static bool append(rkb_jobs_t *jobs, rkb_ended_t *ended) {
   bool first = !jobs->first;
   if (first)
      jobs->first = ended;
   else
      jobs->last->next = ended;
   jobs->last = ended;
   return first;
}

static void drop_items(rkb_ended_t *ended) {
   for (uint32_t i = 0; i < ended->item_count; i++)
      rkb_item_unref(ended->items[i]);
   ended->item_count = 0;
}

enum rkb_job_answer rkb_jobs_complete(rkb_jobs_t *jobs, rkb_job_t job, const struct rkb_instance *instance,
                                      int status, const rkb_error_t *error) {
   uint64_t now = now_ns();
   bool ring = false;
   enum rkb_job_answer answer = RKB_JOB_LATE;
   pthread_mutex_lock(&jobs->mutex);
   slot_t *slot = slot_of(jobs, job);
   if (slot && slot->instance != instance)
      slot = NULL; /* another stage's job: treated as if it did not exist */
   if (slot && slot->state == SLOT_ENDED) {
      answer = RKB_JOB_TWICE;
   } else if (slot) {
      rkb_ended_t *ended = slot->ended;
      answer = RKB_JOB_TAKEN;
      ended->status = status;
      if (error)
         ended->error = *error;
      ended->error.message[sizeof ended->error.message - 1] = '\0';
      if (status == RKB_OK && slot->fault[0]) {
         ended->status = rkb_fail(&ended->error, RKB_ERR_CONTRACT, "%s", slot->fault);
      } else if (status != RKB_OK && !ended->error.message[0]) {
         rkb_fail(&ended->error, status, "it failed without saying why");
      }
      if (ended->status != RKB_OK)
         drop_items(ended);
      ended->started_ns = slot->started_ns ? slot->started_ns : now;
      ended->ended_ns = now;
      slot->state = SLOT_ENDED;
      ended->job = job;
      ring = append(jobs, ended);
   }
   pthread_mutex_unlock(&jobs->mutex);
   if (ring)
      jobs->ring(jobs->argument);
   return answer;
}

bool rkb_jobs_cancelled(rkb_jobs_t *jobs, rkb_job_t job) {
   pthread_mutex_lock(&jobs->mutex);
   const slot_t *slot = slot_of(jobs, job);
   bool cancelled = !slot || slot->cancelled;
   pthread_mutex_unlock(&jobs->mutex);
   return cancelled;
}

uint64_t rkb_jobs_deadline(rkb_jobs_t *jobs, rkb_job_t job) {
   pthread_mutex_lock(&jobs->mutex);
   const slot_t *slot = slot_of(jobs, job);
   uint64_t deadline = slot && slot->started_ns && slot->limit_ns ? slot->started_ns + slot->limit_ns : 0;
   pthread_mutex_unlock(&jobs->mutex);
   return deadline;
}

bool rkb_jobs_scope(rkb_jobs_t *jobs, rkb_job_t job, rkb_scope_t *scope) {
   pthread_mutex_lock(&jobs->mutex);
   const slot_t *slot = slot_of(jobs, job);
   if (slot)
      *scope = slot->scope;
   pthread_mutex_unlock(&jobs->mutex);
   return slot != NULL;
}

struct rkb_candidate *rkb_jobs_candidate_of(rkb_jobs_t *jobs, const char *source) {
   struct rkb_candidate *found = NULL;
   pthread_mutex_lock(&jobs->mutex);
   for (uint32_t i = 0; i < jobs->count && !found; i++) {
      const slot_t *slot = jobs->slots[i];
      if (slot->state == SLOT_OPEN && slot->scope.candidate && slot->scope.candidate->source == source)
         found = slot->scope.candidate;
   }
   pthread_mutex_unlock(&jobs->mutex);
   return found;
}

bool rkb_jobs_cancel(rkb_jobs_t *jobs, rkb_job_t job) {
   uint64_t now = now_ns();
   pthread_mutex_lock(&jobs->mutex);
   slot_t *slot = slot_of(jobs, job);
   bool first = slot && slot->state == SLOT_OPEN && !slot->cancelled;
   if (first) {
      slot->cancelled = true;
      slot->cancelled_ns = now;
   }
   pthread_mutex_unlock(&jobs->mutex);
   return first;
}

void rkb_jobs_write_off(rkb_jobs_t *jobs, rkb_job_t job, const char *why) {
   bool ring = false;
   pthread_mutex_lock(&jobs->mutex);
   slot_t *slot = slot_of(jobs, job);
   if (slot && slot->state == SLOT_OPEN) {
      rkb_ended_t *ended = slot->ended;
      drop_items(ended);
      ended->status = rkb_fail(&ended->error, RKB_ERR_TIMEOUT, "%s", why);
      ended->started_ns = slot->started_ns;
      ended->ended_ns = now_ns();
      ring = append(jobs, ended);
      release(jobs, slot);
   }
   pthread_mutex_unlock(&jobs->mutex);
   if (ring)
      jobs->ring(jobs->argument);
}

rkb_ended_t *rkb_jobs_take(rkb_jobs_t *jobs) {
   pthread_mutex_lock(&jobs->mutex);
   rkb_ended_t *list = jobs->first;
   jobs->first = jobs->last = NULL;
   for (rkb_ended_t *ended = list; ended; ended = ended->next) {
      slot_t *slot = ended->job ? slot_of(jobs, ended->job) : NULL;
      if (slot)
         release(jobs, slot);
   }
   pthread_mutex_unlock(&jobs->mutex);
   return list;
}

void rkb_jobs_each(rkb_jobs_t *jobs, void (*visit)(void *argument, const rkb_job_view_t *view),
                   void *argument) {
   for (uint32_t i = 0;; i++) {
      rkb_job_view_t view = {0};
      pthread_mutex_lock(&jobs->mutex);
      bool more = i < jobs->count;
      const slot_t *slot = more ? jobs->slots[i] : NULL;
      if (slot && slot->state == SLOT_OPEN)
         view = (rkb_job_view_t){.job = handle_of(slot),
                                 .work = slot->ended->work,
                                 .instance = slot->instance,
                                 .started_ns = slot->started_ns,
                                 .limit_ns = slot->limit_ns,
                                 .cancelled = slot->cancelled,
                                 .cancelled_ns = slot->cancelled_ns};
      pthread_mutex_unlock(&jobs->mutex);
      if (!more)
         return;
      if (view.job)
         visit(argument, &view);
   }
}
