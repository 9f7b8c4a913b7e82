/* Exchanges parts between two texts: the body of a device function, or the launch shape of a kernel.  Pure;
 * any thread. */
#ifndef CROSSOVER_EXCHANGE_H
#define CROSSOVER_EXCHANGE_H

#include <rkb/ext/random.h>
#include "shared/patches.h"
#include "source/source_functions.h"

typedef struct side {
   const source_t *source;
   const functions_t *functions;
   const rkb_manifest_t *manifest;
} side_t;

/* Copies the body of one top-level __device__ function from the second text into the first.  Both must define it with the same signature,
 * token by token, and with different bodies; a function that reads threadIdx or the like has to be called by the same launches in both.
 * False: there is no such function.  note says what was changed. */
bool exchange_function(const rkb_random_api_t *random, rkb_random_t *stream, const side_t *first,
                       const side_t *second, patches_t *patches, char *note, size_t note_size);

/* Gives one launch of the first manifest the grid and block of the second's launch of the same kernel under
 * the same condition. */
bool exchange_launch(const rkb_random_api_t *random, rkb_random_t *stream, const side_t *first,
                     const side_t *second, patches_t *patches, char *note, size_t note_size);

#endif
