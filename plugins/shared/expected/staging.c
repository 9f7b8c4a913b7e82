/* Drawing, sending, keeping and taking. */
#include "expected/staging.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values travel in pieces, so that no whole copy is made here. */
enum { PIECE_BYTES = 32 << 20 };

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

/* sum may be NULL, when it is known. */
static int send(const staging_t *s, uint32_t t, uint64_t key, uint64_t *sum, rkb_error_t *err) {
   const rkb_tensor_t *tensor = &s->the_case->tensors[t];
   uint64_t width = tensor->elements ? tensor->bytes / tensor->elements : 1, piece = PIECE_BYTES / width;
   char *data = malloc(tensor->bytes < PIECE_BYTES ? tensor->bytes + 1 : PIECE_BYTES);
   int status = data ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   uint64_t added = 0;
   for (uint64_t first = 0; status == RKB_OK && (first < tensor->elements || first == 0); first += piece) {
      uint64_t left = tensor->elements - first, count = left < piece ? left : piece;
      status = s->task->inputs_fill(s->inputs, t, first, count, data, err);
      if (status == RKB_OK)
         status =
            s->device->stage(s->session, s->set, t, tensor->bytes, first * width, data, count * width, err);
      if (status == RKB_OK && sum)
         added += keyed_sum(key, first * width / sizeof(uint32_t), data, count * width);
   }
   if (sum)
      *sum = added;
   free(data);
   return status;
}

/* Values of a pool's seed: under a name on the device, with their sum in the store. */
static int take_or_send(const staging_t *s, uint32_t t, uint64_t *key, uint64_t *sum, rkb_error_t *err) {
   char text[512];
   uint64_t name[3], found = 0;
   uint8_t kept[sizeof *sum];
   bool there = false, known;
   int status = RKB_OK;
   snprintf(text, sizeof text, "%s|%s|%llu|%s|sum", s->the_case->name, s->family, (unsigned long long)s->seed,
            s->the_case->tensors[t].name);
   store_name(s->store, text, name);
   *key = name[2];
   known = store_load(s->store, text, NULL, 0, kept, sizeof kept);
   if (known) {
      memcpy(sum, kept, sizeof kept);
      status = s->device->take(s->session, s->set, t, name, s->the_case->tensors[t].bytes, *key, &there,
                               &found, err);
      if (status != RKB_OK || (there && found == *sum))
         return status;
   }
   status = send(s, t, *key, known ? NULL : sum, err);
   if (status == RKB_OK)
      status = s->device->keep(s->session, s->set, t, name, err);
   memcpy(kept, sum, sizeof kept);
   if (status == RKB_OK && !known)
      store_save(s->store, text, NULL, 0, kept, sizeof kept);
   return status;
}

int staging_send(const staging_t *s, sums_t *sums, rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t t = 0; t < s->the_case->tensor_count && status == RKB_OK; t++) {
      if (s->the_case->tensors[t].role == RKB_OUT)
         continue;
      sums->keys[t] = (s->seed + 1) * 0x9e3779b97f4a7c15u + t;
      status = s->store ? take_or_send(s, t, &sums->keys[t], &sums->sums[t], err)
                        : send(s, t, sums->keys[t], &sums->sums[t], err);
   }
   return status;
}
