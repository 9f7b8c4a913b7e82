/* Which stage this thread is in, and with which candidate: what a person needs to know when a plugin crashes the program.  Each thread has its
 * own; rkb_at_work may be called in a signal handler. */
#ifndef RKB_STAGE_AT_WORK_H
#define RKB_STAGE_AT_WORK_H

#include <stdint.h>
#include "pipeline/pipeline.h"

typedef struct rkb_at_work {
   const rkb_graph_node_t *stage; /* NULL: in none */
   int64_t candidate;             /* 0: none yet */
   const char *doing;             /* "at work on a candidate" */
} rkb_at_work_t;

/* Call it before a plugin is called.  After the plugin has returned, call it again with the first call's return value, which is
 * the stage before. */
rkb_at_work_t rkb_at_work_set(rkb_at_work_t now);
rkb_at_work_t rkb_at_work(void);

#endif
