/* Implements the ledger (ledger.h). */
#include "llm/ledger.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/memory.h"

/* A draw that was given out but is not stored yet; the reservation stores it a moment later. */
typedef struct promised {
   struct promised *next;
   char key[RKB_HASH_TEXT];
   int64_t draw;
} promised_t;

struct rkb_ledger {
   rkb_archive_t *archive;
   double limit;
   pthread_mutex_t mutex; /* guards the members below, and makes looking up and promising a draw one step */
   double spent;
   promised_t *promised;
   int64_t unkept; /* last id of a call when there is no archive */
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
      status = rkb_archive_cost(archive, &ledger->spent, err);
   if (status != RKB_OK) {
      free(ledger);
      return status;
   }
   pthread_mutex_init(&ledger->mutex, NULL);
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

int rkb_ledger_reserve(rkb_ledger_t *ledger, const rkb_call_record_t *call, bool *fits, int64_t *id,
                       rkb_error_t *err) {
   int status = RKB_OK;
   pthread_mutex_lock(&ledger->mutex);
   *fits = ledger->limit < 0 || ledger->spent + call->reserved_usd <= ledger->limit;
   if (*fits && ledger->archive)
      status = rkb_archive_reserve_call(ledger->archive, call, id, err);
   else if (*fits)
      *id = ++ledger->unkept;
   if (*fits && status == RKB_OK)
      ledger->spent += call->reserved_usd;
   pthread_mutex_unlock(&ledger->mutex);
   return status;
}

int rkb_ledger_finish(rkb_ledger_t *ledger, int64_t id, const rkb_call_record_t *call, rkb_error_t *err) {
   int status = ledger->archive ? rkb_archive_finish_call(ledger->archive, id, call, err) : RKB_OK;
   pthread_mutex_lock(&ledger->mutex);
   if (status == RKB_OK)
      ledger->spent += call->cost_usd - call->reserved_usd;
   pthread_mutex_unlock(&ledger->mutex);
   return status;
}

double rkb_ledger_spent(rkb_ledger_t *ledger) {
   pthread_mutex_lock(&ledger->mutex);
   double spent = ledger->spent;
   pthread_mutex_unlock(&ledger->mutex);
   return spent;
}
