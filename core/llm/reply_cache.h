/* Replies kept across runs ("cache: read-write"), one small file per question and draw, below $XDG_CACHE_HOME/rkb/replies.  Users
 * may delete the files at any time.  [any] */
#ifndef RKB_LLM_REPLY_CACHE_H
#define RKB_LLM_REPLY_CACHE_H

#include "llm/provider.h"

/* Reads the reply to a key (over question and draw).  False when there is none, or it cannot be read. */
bool rkb_reply_cache_read(const char *key, rkb_reply_t *reply);
int rkb_reply_cache_write(const char *key, const rkb_reply_t *reply, rkb_error_t *err);

#endif
