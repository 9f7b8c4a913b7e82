/* Replies kept across runs ("cache: read-write"), one small file a question and draw below
 * $XDG_CACHE_HOME/rkb/replies.  May vanish at any time.  [any] */
#ifndef RKB_LLM_REPLY_CACHE_H
#define RKB_LLM_REPLY_CACHE_H

#include "llm/provider.h"

/* key: over question and draw.  False when there is none, or none that can be read. */
bool rkb_reply_cache_read(const char *key, rkb_reply_t *reply);
int rkb_reply_cache_write(const char *key, const rkb_reply_t *reply, rkb_error_t *err);

#endif
