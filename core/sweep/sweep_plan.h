/* The plan of a sweep, in the sweep's directory:
 *
 *   sweep.json            the cells, in the order in which they run
 *   secret                what decides the checks' samples, the same for every cell; its owner alone may read it
 *   lock                  one process runs a sweep
 *   <cell>/pipeline.yaml  the cell's pipeline; the cell's run writes its archive beside it
 *
 * A plan never changes once sweep.json is there, which is written last and as a whole.  What became of a cell is in its archive alone.
 * Any thread, one at a time for one directory. */
#ifndef RKB_SWEEP_SWEEP_PLAN_H
#define RKB_SWEEP_SWEEP_PLAN_H

#include <stdbool.h>
#include "base/secret.h"
#include "pipeline/pipeline.h"

typedef struct rkb_sweep_cell {
   char *name, *arm;                /* as in rkb_pipeline_cell_t */
   char *task, *direction, *target; /* "" when absent */
   char *folder;                    /* the name of its run's directory within the sweep's directory */
   uint64_t seed;
} rkb_sweep_cell_t;

typedef struct rkb_sweep {
   char *directory;
   char *name; /* name of the pipeline */
   rkb_sweep_cell_t *cells;
   uint32_t count;
   bool alone; /* a single run in its own directory: there is no plan on disk */
} rkb_sweep_t;

/* Whether the directory holds a sweep. */
bool rkb_is_sweep(const char *directory);
/* Writes the plan of a pipeline that is a sweep into an existing directory.  RKB_ERR_INVALID: the directory
 * holds a sweep or a run already.  If the process is killed during this call, there is no sweep.json, and the
 * same call begins again. */
int rkb_sweep_make(const rkb_pipeline_t *pipeline, const char *directory, const rkb_secret_t *secret,
                   rkb_sweep_t **sweep, rkb_error_t *err);
/* Reads a plan.  RKB_ERR_INVALID: there is none, or it is damaged. */
int rkb_sweep_open(const char *directory, rkb_sweep_t **sweep, rkb_error_t *err);
/* Makes a sweep of one cell from a single run, so that it can run wherever sweeps do.  Writes pipeline.yaml
 * and secret, unless pipeline is NULL: then the directory has them. */
int rkb_sweep_alone(const char *name, const rkb_pipeline_t *pipeline, const char *directory,
                    const rkb_secret_t *secret, rkb_sweep_t **sweep, rkb_error_t *err);
void rkb_sweep_free(rkb_sweep_t *sweep); /* NULL is accepted */

/* Paths; malloc'd. */
char *rkb_sweep_path_cell(const rkb_sweep_t *sweep, uint32_t index);
char *rkb_sweep_path_secret(const char *directory);
char *rkb_sweep_path_lock(const rkb_sweep_t *sweep);

#endif
