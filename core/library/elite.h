/* An elite: a kernel that a run accepted, with what it computes and how good it was, as one entry of a library (library.h).
 *
 * Its text is canonical JSON, and its identity the SHA-256 of that text.  So an entry that was changed is no entry any more, and two
 * runs that find the same thing in the same way write the same file.  Every text in it is data from outside: bounded and checked
 * here, and never more than text for a prompt or a proposal that is judged like any other.  Pure functions; any thread. */
#ifndef RKB_LIBRARY_ELITE_H
#define RKB_LIBRARY_ELITE_H

#include <jansson.h>
#include <stdint.h>
#include <rkb/plugin.h>
#include "base/hash.h"

#define RKB_ELITE_MOST_BYTES (640u << 10) /* of an entry's text: the largest source, every line end escaped */
#define RKB_ELITE_MOST_SOURCE (256u << 10)
#define RKB_ELITE_MOST_WORD 160 /* bytes of a short text; printable ASCII */
#define RKB_ELITE_MOST_OPERATIONS 64

typedef struct rkb_elite {
   char identity[RKB_HASH_TEXT]; /* of the entry; not read when it is written */
   const char *task, *task_hash, *direction;
   const char *operations[RKB_ELITE_MOST_OPERATIONS]; /* of the task's graph, sorted, each once */
   uint32_t operation_count;
   const char *limiter;   /* the kernel's bottleneck: "uncoalesced access", "global memory"; "" when unknown */
   const char *device;      /* the target's profile: "h200" */
   const char *measured_on; /* the GPU's name; "" when nothing was measured */
   const char *objective; /* the measurement's name: "time.us" */
   double score;          /* its value; less is better */
   const char *pipeline, *pipeline_hash, *made_by; /* made_by: the pipeline's entry that proposed it */
   uint64_t seed;
   int64_t candidate;       /* its number in that run */
   const char *source_hash; /* SHA-256 of source */
   const char *source, *tune; /* tune: a JSON object, canonical */
   json_t *owner;           /* of all texts; NULL: they are somebody else's */
} rkb_elite_t;

/* The entry's text; malloc'd.  RKB_ERR_INVALID when a part of it is too long or no plain text. */
int rkb_elite_write(const rkb_elite_t *elite, char **text, rkb_error_t *err);
/* Reads and checks an entry.  identity: what its text must have, or NULL.  Free with rkb_elite_free, which accepts a zeroed one. */
int rkb_elite_read(const char *text, size_t bytes, const char *identity, rkb_elite_t *elite, rkb_error_t *err);
void rkb_elite_free(rkb_elite_t *elite);

/* Adds an operation in sorted order, unless it is there already or the list is full. */
void rkb_elite_add_operation(rkb_elite_t *elite, const char *operation);

#endif
