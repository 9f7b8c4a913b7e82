/* `rkb tasks`: what each task directory computes, the work of its cases, and the least time they can take. */
#ifndef RKB_TASK_LISTING_H
#define RKB_TASK_LISTING_H

#include "base/arena.h"
#include "base/json.h"
#include "base/problems.h"
#include "base/text.h"
#include "task/least_time.h"

typedef struct rkb_listed_case {
   const char *task, *direction, *name; /* "llama_rmsnorm", "forward", "bench/published" */
   const char *dims;                    /* "B=16 T=1024 D=4096" */
   const char *precision;               /* class: "fp32", "bf16", ... */
   /* its group in groups.yaml; "others" when groups.yaml names no group for it, "" when there is no such
    * file */
   const char *group;
   uint32_t place; /* its group's place in the listing, from 0 */
   double operations, bytes;
   double least_s; /* max(bytes / bandwidth, operations / rate) + launch floor */
   bool memory_bound;
} rkb_listed_case_t;

typedef struct rkb_listing {
   rkb_arena_t *arena;
   rkb_listed_case_t *cases;
   uint32_t count, room;
} rkb_listing_t;

/* Adds every bench case, in all directions, of every task under directory: directory itself, or its subfolders with a task.yaml,
 * sorted by the groups of directory/groups.yaml, if there is one, and by name.  A task that does not load adds its problems and is left out.  The listing owns its texts; free it with
 * rkb_listing_free. */
int rkb_listing_load(const char *directory, const rkb_peaks_t *target, rkb_listing_t *listing,
                     rkb_problems_t *problems, rkb_error_t *err);
void rkb_listing_free(rkb_listing_t *listing);
void rkb_listing_write(const rkb_listing_t *listing, const rkb_peaks_t *target,
                       rkb_text_t *out); /* a table */
json_t *rkb_listing_json(const rkb_listing_t *listing,
                         const rkb_peaks_t *target); /* owned; NULL without memory */

#endif
