/* Implements the ledger (ledger.h). */
#include "llm/ledger.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/hash.h"
#include "base/memory.h"
#include "system/timed_wait.h"

/* A draw that was promised to an asker and is not stored yet; the reservation stores it a moment later. */
typedef struct promised {
   struct promised *next;
   char key[RKB_HASH_TEXT];
   int64_t draw;
} promised_t;

typedef struct waiter {
   struct waiter *next;
} waiter_t;

struct rkb_ledger {
   rkb_archive_t *archive;
   double limit;
   pthread_mutex_t mutex; /* guards the members below, and makes looking up and promising a draw one step */
   double charged, reserved; /* USD */
   uint32_t outstanding;     /* reservations */
   /* The questions that wait to reserve, in order of arrival; each entry belongs to its asker. */
   waiter_t *first;
   pthread_cond_t changed;   /* a reservation ended, or a waiter left the row */
   promised_t *promised;
   int64_t unkept; /* the last call id that was given out when there is no archive */
};

int rkb_ledger_open(rkb_archive_t *archive, double limit, rkb_ledger_t **out, rkb_error_t *err) {
   int64_t abandoned = 0;
   int status = RKB_OK;
   rkb_ledger_t *ledger = rkb_allocate(1, sizeof *ledger);
   ledger->archive = archive;
   ledger->limit = limit;
   if (archive)
      status = rkb_archive_abandon_calls(archive, &abandoned, err);
   if (archive && status == RKB_OK)
      status = rkb_archive_cost(archive, &ledger->charged, err);
   if (status != RKB_OK) {
      free(ledger);
      return status;
   }
   pthread_mutex_init(&ledger->mutex, NULL);
   pthread_cond_init(&ledger->changed, NULL);
   *out = ledger;
   return RKB_OK;
}

void rkb_ledger_close(rkb_ledger_t *ledger) {
   if (!ledger)
      return;
   while (ledger->promised) {
      promised_t *next = ledger->promised->next;
      free(ledger->promised);
      ledger->promised = next;
   }
   pthread_cond_destroy(&ledger->changed);
   pthread_mutex_destroy(&ledger->mutex);
   free(ledger);
}

/* The next draw of this key that is neither stored nor promised. */
static void promise(rkb_ledger_t *ledger, const char *key, int64_t *draw) {
   promised_t *mine = rkb_allocate(1, sizeof *mine);
   for (const promised_t *other = ledger->promised; other; other = other->next)
      if (strcmp(other->key, key) == 0 && other->draw >= *draw)
         *draw = other->draw + 1;
   snprintf(mine->key, sizeof mine->key, "%s", key);
   mine->draw = *draw;
   mine->next = ledger->promised;
   ledger->promised = mine;
}

int rkb_ledger_find(rkb_ledger_t *ledger, const rkb_call_record_t *call, rkb_call_found_t *found,
                    rkb_error_t *err) {
   int status = RKB_OK;
   *found = (rkb_call_found_t){.seconds = -1};
   pthread_mutex_lock(&ledger->mutex);
   if (ledger->archive)
      status = rkb_archive_find_call(ledger->archive, call->section, call->request, call->stage, call->child,
                                     call->key, found, err);
   if (status == RKB_OK && !found->asked)
      promise(ledger, call->key, &found->draw);
   pthread_mutex_unlock(&ledger->mutex);
   return status;
}

enum { LOOK_MS = 50 };

/* Waits, with the mutex held, for a change or for LOOK_MS; false when the asker gives up. */
static bool wait_for_change(rkb_ledger_t *ledger, rkb_give_up_t give_up, void *argument) {
   rkb_timed_wait(&ledger->changed, &ledger->mutex, LOOK_MS);
   pthread_mutex_unlock(&ledger->mutex); /* give_up is the caller's code, so the lock is released while it runs */
   const bool stays = !give_up(argument);
   pthread_mutex_lock(&ledger->mutex);
   return stays;
}

/* Whether this sum fits now, never, or perhaps later (0). */
static uint32_t fits(const rkb_ledger_t *ledger, double usd) {
   if (ledger->limit < 0 || ledger->charged + ledger->reserved + usd <= ledger->limit)
      return RKB_LEDGER_RESERVED;
   return !ledger->outstanding || ledger->charged + usd > ledger->limit ? RKB_LEDGER_OVER : 0;
}

static waiter_t **place_of(rkb_ledger_t *ledger, const waiter_t *waiter) {
   waiter_t **place = &ledger->first;
   while (*place != waiter)
      place = &(*place)->next;
   return place;
}

int rkb_ledger_reserve(rkb_ledger_t *ledger, const rkb_call_record_t *call, rkb_give_up_t give_up, void *argument, uint32_t *answer,
                       int64_t *id, rkb_error_t *err) {
   waiter_t me = {0};
   int status = RKB_OK;
   pthread_mutex_lock(&ledger->mutex);
   *answer = call->reserved_usd > 0 ? 0 : ledger->limit < 0 || ledger->charged <= ledger->limit ? RKB_LEDGER_RESERVED : RKB_LEDGER_OVER;
   *place_of(ledger, NULL) = &me; /* at the end */
   while (!*answer) {
      if (ledger->first == &me)
         *answer = fits(ledger, call->reserved_usd);
      if (!*answer && !wait_for_change(ledger, give_up, argument))
         *answer = RKB_LEDGER_GIVEN_UP;
   }
   if (*answer == RKB_LEDGER_RESERVED && ledger->archive)
      status = rkb_archive_reserve_call(ledger->archive, call, id, err);
   else if (*answer == RKB_LEDGER_RESERVED)
      *id = ++ledger->unkept;
   if (*answer == RKB_LEDGER_RESERVED && status == RKB_OK) {
      ledger->reserved += call->reserved_usd;
      ledger->outstanding++;
   }
   *place_of(ledger, &me) = me.next;
   pthread_cond_broadcast(&ledger->changed);
   pthread_mutex_unlock(&ledger->mutex);
   return status;
}

int rkb_ledger_finish(rkb_ledger_t *ledger, int64_t id, const rkb_call_record_t *call, rkb_error_t *err) {
   int status = ledger->archive ? rkb_archive_finish_call(ledger->archive, id, call, err) : RKB_OK;
   pthread_mutex_lock(&ledger->mutex);
   if (status == RKB_OK) {
      ledger->reserved = --ledger->outstanding ? ledger->reserved - call->reserved_usd : 0;
      ledger->charged += call->cost_usd;
      pthread_cond_broadcast(&ledger->changed);
   }
   pthread_mutex_unlock(&ledger->mutex);
   return status;
}

void rkb_ledger_state(rkb_ledger_t *ledger, double *charged, double *reserved) {
   pthread_mutex_lock(&ledger->mutex);
   *charged = ledger->charged;
   *reserved = ledger->reserved;
   pthread_mutex_unlock(&ledger->mutex);
}
