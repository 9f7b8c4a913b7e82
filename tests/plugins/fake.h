/* A host for one plugin under test: the built object is loaded, its options are filled from texts, its jobs
 * run on the test's own thread.  Items, tokens, manifests and random streams are the program's; archive and
 * task are lists the test fills. */
#ifndef RKB_TESTS_PLUGINS_FAKE_H
#define RKB_TESTS_PLUGINS_FAKE_H

#include "check.h"
#include <rkb/ext/archive.h>
#include <rkb/ext/kernel.h>
#include <rkb/ext/random.h>
#include <rkb/ext/task.h>
#include <rkb/items.h>
#include <rkb/strategy.h>

enum { FAKE_ROWS = 64, FAKE_EMITTED = 64 };

typedef struct fake {
   rkb_host_t host; /* first: extensions find the rest by it */
   void *object;
   const rkb_stage_t *stage;       /* of a stage plugin */
   const rkb_strategy_t *strategy; /* of a strategy plugin */
   void *config, *self;
   rkb_task_info_t task;
   rkb_tensor_t tensors[16];
   rkb_case_t a_case; /* shown as the first check and bench case */
   rkb_archive_row_t rows[FAKE_ROWS];
   uint32_t row_count;
   uint32_t found[FAKE_ROWS], found_count; /* rows of the last query, which goes by source_hash alone */
   uint64_t seed;
   int64_t number; /* of the running request: keys the streams */
   rkb_item_t *emitted[FAKE_EMITTED];
   uint32_t emitted_count;
   rkb_error_t error;  /* of the last call */
   char logged[4096]; /* warnings, one a line; text past the limit is cut */
} fake_t;

/* plugin: "mutator/tune".  settings: NULL or a NULL-terminated list of "name=value"; what it leaves out has
 * its fallback.  The test fails when the plugin does not load or create.  task may be changed between open
 * and start. */
void fake_open(fake_t *fake, const char *plugin);
void fake_start(fake_t *fake, const char *const *settings);
void fake_start_strategy(fake_t *fake, const char *const *settings, const rkb_setup_t *setup);
void fake_close(fake_t *fake);

/* A request with these parents (borrowed), and a candidate; owned. */
rkb_item_t *fake_request(fake_t *fake, const char *section, int64_t number, const char *hints,
                         rkb_item_t *const *parents, uint32_t parent_count);
rkb_item_t *fake_candidate(fake_t *fake, int64_t number, const char *source, const char *tune);
void fake_drop(rkb_item_t *item);

/* Runs one job; fake->emitted has its items until the next job. */
int fake_run(fake_t *fake, const rkb_item_t *in);
/* A search request with one parent, run. */
int fake_run_parent(fake_t *fake, int64_t number, const char *hints, const char *source, const char *tune);
const char *fake_text(const fake_t *fake, uint32_t emitted, const char *key);
const char *fake_json(const fake_t *fake, uint32_t emitted, const char *key);

char *fake_read(const char *path); /* a whole file below the source tree; malloc'd */

#endif
