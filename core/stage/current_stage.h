/* Which stage this thread is in, and with which candidate: what a person needs to know when a plugin crashes the program.  Each thread has its
 * own; rkb_current_stage may be called in a signal handler. */
#ifndef RKB_STAGE_CURRENT_STAGE_H
#define RKB_STAGE_CURRENT_STAGE_H

#include <stdint.h>
#include "pipeline/pipeline.h"

typedef struct rkb_current_stage {
   const rkb_graph_node_t *stage; /* NULL: in none */
   int64_t candidate;             /* 0: none yet */
   const char *doing;             /* "at work on a candidate" */
} rkb_current_stage_t;

/* Call it before a plugin is called.  After the plugin has returned, call it again with the first call's return value, which is
 * the stage before. */
rkb_current_stage_t rkb_current_stage_set(rkb_current_stage_t now);
rkb_current_stage_t rkb_current_stage(void);

#endif
