/* How fast a provider may be asked: questions at once, requests and tokens a minute, shared by all models at
 * one address. Any thread but the loop's. */
#ifndef RKB_LLM_RATE_LIMITS_H
#define RKB_LLM_RATE_LIMITS_H

#include "llm/model_entry.h"

typedef struct rkb_limits rkb_limits_t;

rkb_limits_t *rkb_limits_new(const rkb_models_t *models);
void rkb_limits_free(rkb_limits_t *limits);

/* What a waiter asks now and then; true ends the wait. */
typedef bool (*rkb_give_up_t)(void *argument);

/* Waits for a turn of a question of so many tokens at most.  False when it gave up. */
bool rkb_limits_take(rkb_limits_t *limits, const rkb_model_t *model, int64_t tokens, rkb_give_up_t give_up,
                     void *argument);
/* The turn is over; tokens: what it really used, or negative when that is not known. */
void rkb_limits_give(rkb_limits_t *limits, const rkb_model_t *model, int64_t reserved, int64_t used);
/* Sleeps, unless it gives up; false then. */
bool rkb_limits_pause(uint64_t nanoseconds, rkb_give_up_t give_up, void *argument);

#endif
