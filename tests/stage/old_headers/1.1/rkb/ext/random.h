/* rkb/ext/random.h - random numbers that depend on their key alone.  Extension "rkb.random/1".
 *
 * A stream is Philox4x32-10 (Salmon, Moraes, Dror, Shaw: 'Parallel random numbers: as easy as
 * 1, 2, 3', SC 2011): a key and a counter, so any draw can be made again from (key, position) and
 * streams never overlap.  The keys of jobs that propose come from (run seed, stage id, request number,
 * child index), those of jobs that judge a candidate from (run secret, stage id, candidate, child index):
 * the author of a candidate cannot know them.  No stream depends on scheduling.  A stream is a value: copying it copies its position.  Draw with the core's
 * functions below, so that every plugin sees the same numbers on every machine.
 */
#ifndef RKB_EXT_RANDOM_H
#define RKB_EXT_RANDOM_H

#include <rkb/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKB_EXT_RANDOM "rkb.random/1"
#define RKB_RANDOM_OF_RUN 0x80000000u

typedef struct rkb_random {
   uint32_t key[2];
   uint32_t stream[2]; /* upper half of the counter */
   uint64_t position;  /* 64-bit draws made so far */
} rkb_random_t;

typedef struct rkb_random_api {
   uint32_t size;
   uint32_t reserved;

   /* The stream of a job that proposes: (run seed, this stage's entry id, request number of the job's item, child);
    * child tells apart the candidates that one request gives.  Of a job about a candidate: (run secret, entry id,
    * the candidate's hash, child); with RKB_RANDOM_OF_RUN in child the same for all candidates of the run.  [any] */
   rkb_random_t (*for_job)(const rkb_host_t *host, rkb_job_t job, uint32_t child);

   uint64_t (*next)(rkb_random_t *stream); /* 64 uniform bits */
   uint64_t (*below)(rkb_random_t *stream,
                     uint64_t limit);      /* uniform in 0 .. limit-1, no bias; limit 0 gives 0 */
   double (*real)(rkb_random_t *stream);   /* uniform in [0, 1), 53 bits */
   double (*normal)(rkb_random_t *stream); /* N(0, 1), by inversion: one draw a number */
} rkb_random_api_t;

#ifdef __cplusplus
}
#endif
#endif
