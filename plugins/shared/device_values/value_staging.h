/* Input values on the device: drawn here and sent, or taken from what an earlier session left there, if that
 * is still whole. */
#ifndef DEVICE_VALUES_VALUE_STAGING_H
#define DEVICE_VALUES_VALUE_STAGING_H

#include <rkb/ext/device.h>
#include <rkb/ext/task.h>
#include <rkb/ext/workers.h>

/* One set of values of one case. */
typedef struct staging {
   const rkb_host_t *host;
   const rkb_task_api_t *task;
   const rkb_device_api_t *device;
   const rkb_workers_api_t *workers;
   const rkb_store_t *store; /* NULL: the seed belongs to no pool, and nothing is kept */
   rkb_session_t *session;
   const rkb_case_t *the_case;
   const rkb_inputs_t *inputs;
   const rkb_family_t *family;
   uint64_t seed;
   uint32_t set;
   struct sums *sums; /* filled in by staging_send */
} staging_t;

/* The sums that the device must find of a set's inputs, and their keys; one of each for a tensor. */
typedef struct sums {
   uint64_t *keys, *sums; /* owned */
} sums_t;
bool sums_open(uint32_t tensors, sums_t *sums);
void sums_close(sums_t *sums);

/* Stages every tensor that is not only an output, of count sets of one case.  The calling thread holds the
 * session; free workers draw, and send one after the other. */
int staging_send(const staging_t *sets, uint32_t count, rkb_error_t *err);

/* The sum of bytes that begin at this word number, as <rkb/ext/device.h> defines it.  Sums of pieces add up
 * where all pieces but the last have whole words. */
uint64_t keyed_sum(uint64_t key, uint64_t first_word, const void *data, size_t bytes);

#endif
