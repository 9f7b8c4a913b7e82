/* Draws inputs, sends them to the device, keeps them there and finds them again (value_staging.h). */
#include "value_staging.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Values travel in pieces, so that this process holds no whole copy, and many threads can draw.  A piece is
 * smaller than those into which an input's generator divides its own work. */
#define PIECE_ELEMENTS (UINT64_C(1) << 17)

bool sums_open(uint32_t tensors, sums_t *sums) {
   *sums = (sums_t){calloc(tensors + 1, sizeof *sums->keys), calloc(tensors + 1, sizeof *sums->sums)};
   return sums->keys && sums->sums;
}

void sums_close(sums_t *sums) {
   free(sums->keys);
   free(sums->sums);
   *sums = (sums_t){0};
}

uint64_t keyed_sum(uint64_t key, uint64_t first_word, const void *data, size_t bytes) {
   const uint64_t multiplier = 0xd6e8feb86659fd93;
   const char *at = data;
   uint64_t sum = 0;
   for (size_t i = 0; i < bytes; i += sizeof(uint32_t)) {
      uint32_t word = 0;
      memcpy(&word, at + i, bytes - i < sizeof word ? bytes - i : sizeof word);
      uint64_t x = ((first_word + i / sizeof word) << 32 | word) ^ key;
      x = (x ^ x >> 32) * multiplier;
      x = (x ^ x >> 32) * multiplier;
      sum += x ^ x >> 32;
   }
   return sum;
}

/* A tensor of a set that is not on the device yet. */
typedef struct absent {
   const staging_t *staging;
   uint32_t tensor;
   uint64_t name[3];
   bool sum_known;
   uint64_t first_piece; /* the number of its first piece */
} absent_t;

/* All that has to be sent: threads draw pieces side by side and send them one after the other. */
typedef struct transfer {
   absent_t *list; /* owned */
   uint32_t count;
   uint64_t pieces;
   pthread_mutex_t lock;
   pthread_cond_t turned;
   uint64_t next; /* the piece that is sent next */
   int status;
   rkb_error_t err;
} transfer_t;

static const rkb_tensor_t *tensor_of(const absent_t *absent) {
   return &absent->staging->the_case->tensors[absent->tensor];
}

static uint64_t pieces_of(const rkb_tensor_t *tensor) {
   return tensor->elements ? (tensor->elements + PIECE_ELEMENTS - 1) / PIECE_ELEMENTS : 1;
}

static absent_t *owner_of(const transfer_t *transfer, uint64_t piece) {
   uint32_t low = 0, high = transfer->count;
   while (high - low > 1) {
      uint32_t middle = (low + high) / 2;
      if (transfer->list[middle].first_piece <= piece)
         low = middle;
      else
         high = middle;
   }
   return &transfer->list[low];
}

/* Waits for its turn even after an error, because the pieces behind it wait for this one. */
static void send_piece(transfer_t *transfer, uint64_t n, const absent_t *absent, uint64_t first,
                       uint64_t count, const void *data, uint64_t sum, int status, const rkb_error_t *err) {
   const staging_t *s = absent->staging;
   const rkb_tensor_t *tensor = tensor_of(absent);
   const uint64_t width = tensor->elements ? tensor->bytes / tensor->elements : 1;
   pthread_mutex_lock(&transfer->lock);
   while (transfer->next != n)
      pthread_cond_wait(&transfer->turned, &transfer->lock);
   if (transfer->status == RKB_OK && status != RKB_OK) {
      transfer->status = status;
      transfer->err = *err;
   }
   if (transfer->status == RKB_OK)
      transfer->status = s->device->stage(s->session, s->set, absent->tensor, tensor->bytes, first * width,
                                          data, count * width, &transfer->err);
   if (!absent->sum_known)
      s->sums->sums[absent->tensor] += sum;
   transfer->next++;
   pthread_cond_broadcast(&transfer->turned);
   pthread_mutex_unlock(&transfer->lock);
}

static void draw_and_send(void *argument, uint32_t n) {
   transfer_t *transfer = argument;
   const absent_t *absent = owner_of(transfer, n);
   const staging_t *s = absent->staging;
   const rkb_tensor_t *tensor = tensor_of(absent);
   const uint64_t width = tensor->elements ? tensor->bytes / tensor->elements : 1,
                  first = (n - absent->first_piece) * PIECE_ELEMENTS, left = tensor->elements - first,
                  count = left < PIECE_ELEMENTS ? left : PIECE_ELEMENTS;
   uint64_t sum = 0;
   rkb_error_t err = {0};
   char *data = malloc(count * width + 1);
   int status = data ? s->task->inputs_fill(s->inputs, absent->tensor, first, count, data, &err)
                     : rkb_fail(&err, RKB_ERR_NOMEM, "out of memory");
   if (status == RKB_OK && !absent->sum_known)
      sum = keyed_sum(s->sums->keys[absent->tensor], first * width / sizeof(uint32_t), data, count * width);
   send_piece(transfer, n, absent, first, count, data, sum, status, &err);
   free(data);
}

/* Looks for values of a pool's seed, which are on the device under a name, with their sum in the store; takes
 * them if they are still whole. */
static int look(const staging_t *s, uint32_t t, absent_t *absent, bool *there, rkb_error_t *err) {
   uint64_t found = 0;
   *absent = (absent_t){.staging = s, .tensor = t};
   *there = false;
   s->sums->keys[t] = (s->seed + 1) * 0x9e3779b97f4a7c15u + t;
   s->sums->sums[t] = 0;
   if (!s->store)
      return RKB_OK;
   absent->sum_known =
      s->task->staged_find(s->store, s->the_case, s->family, s->seed, t, absent->name, &s->sums->sums[t]);
   s->sums->keys[t] = absent->name[2];
   if (!absent->sum_known)
      return RKB_OK;
   int status = s->device->take(s->session, s->set, t, absent->name, s->the_case->tensors[t].bytes,
                                s->sums->keys[t], there, &found, err);
   *there = *there && found == s->sums->sums[t];
   return status;
}

/* Keeps the tensor under its name, for later sessions. */
static int keep(const absent_t *absent, rkb_error_t *err) {
   const staging_t *s = absent->staging;
   if (!s->store)
      return RKB_OK;
   int status = s->device->keep(s->session, s->set, absent->tensor, absent->name, err);
   if (status == RKB_OK && !absent->sum_known)
      s->task->staged_keep(s->store, s->the_case, s->family, s->seed, absent->tensor,
                           s->sums->sums[absent->tensor]);
   return status;
}

static int find_absent(const staging_t *sets, uint32_t count, transfer_t *transfer, rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t i = 0; i < count; i++)
      for (uint32_t t = 0; t < sets[i].the_case->tensor_count && status == RKB_OK; t++) {
         absent_t *absent = &transfer->list[transfer->count];
         bool there;
         if (sets[i].the_case->tensors[t].role == RKB_OUT)
            continue;
         status = look(&sets[i], t, absent, &there, err);
         if (status == RKB_OK && !there) {
            absent->first_piece = transfer->pieces;
            transfer->pieces += pieces_of(tensor_of(absent));
            transfer->count++;
         }
      }
   return status;
}

int staging_send(const staging_t *sets, uint32_t count, rkb_error_t *err) {
   transfer_t transfer = {.lock = PTHREAD_MUTEX_INITIALIZER, .turned = PTHREAD_COND_INITIALIZER};
   uint32_t most = 0;
   for (uint32_t i = 0; i < count; i++)
      most += sets[i].the_case->tensor_count;
   transfer.list = calloc(most + 1, sizeof *transfer.list);
   if (!transfer.list)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   int status = find_absent(sets, count, &transfer, err);
   if (status == RKB_OK && transfer.pieces) {
      sets[0].workers->share(sets[0].host, (uint32_t)transfer.pieces, draw_and_send, &transfer);
      status = transfer.status;
      *err = transfer.err;
   }
   for (uint32_t i = 0; i < transfer.count && status == RKB_OK; i++)
      status = keep(&transfer.list[i], err);
   free(transfer.list);
   return status;
}
