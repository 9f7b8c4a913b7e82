/* Which stage this thread is in, and with which candidate: what a person needs to know when a plugin crashes the program, and what an extension
 * needs where its call names no host.  Each thread has its own; rkb_current_stage may be called in a signal handler. */
#ifndef RKB_STAGE_CURRENT_STAGE_H
#define RKB_STAGE_CURRENT_STAGE_H

#include <stdint.h>
#include "pipeline/pipeline.h"

struct rkb_source_cache;

typedef struct rkb_current_stage {
   const rkb_graph_node_t *stage; /* NULL: in none */
   int64_t candidate;             /* 0: none yet */
   const char *doing;             /* "at work on a candidate" */
   /* Texts that its run has read, or NULL: for calls of extensions that are not told whose they are. */
   struct rkb_source_cache *sources;
} rkb_current_stage_t;

/* Call it before a plugin is called.  After the plugin has returned, call it again with the first call's return value, which is
 * the stage before. */
rkb_current_stage_t rkb_current_stage_set(rkb_current_stage_t now);
rkb_current_stage_t rkb_current_stage(void);

#endif
