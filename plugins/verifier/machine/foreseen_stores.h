/* Foresees which blocks of a sample will be executed, and which bytes they will store, where parameters alone decide where blocks store.  Owned by the
 * elements that are chosen from it (compared_elements.c); one worker thread a sample. */
#ifndef MACHINE_FORESEEN_STORES_H
#define MACHINE_FORESEEN_STORES_H

#include "bench_values.h"

struct foreseen_stores;

/* For a plan with one launch.  options: as of the run of the judged blocks; counted: of a run of the counted blocks, with which s->blocks begins.  *stores: NULL
 * where the stores cannot be foreseen. */
int foreseen_stores_run(struct sample *s, const rkb_machine_options_t *options,
                        const rkb_machine_report_t *counted, struct foreseen_stores **stores,
                        rkb_error_t *err);
void foreseen_stores_free(struct foreseen_stores *stores);
/* The machine that knows which of these blocks stores which bytes. */
const rkb_machine_t *foreseen_stores_machine(const struct foreseen_stores *stores);
uint32_t foreseen_stores_blocks(const struct foreseen_stores *stores);
/* Lets a run execute these blocks, and no others. */
void foreseen_stores_put(const struct foreseen_stores *stores, rkb_machine_options_t *options);
/* Whether s->machine's run of these blocks stored to the same bytes, and took so many instructions that no run of the sample would have had to execute more blocks. */
bool foreseen_stores_hold(const struct foreseen_stores *stores, const struct sample *s,
                          const rkb_machine_report_t *report);
/* Lets later runs of the sample's judged blocks execute at least these. */
void foreseen_stores_keep(const struct foreseen_stores *stores, struct sample *s);

#endif
