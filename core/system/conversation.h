/* Child processes that read a line and answer with a line: <rkb/ext/conversation.h> without jobs.  Owns the processes, busy and free.  Any thread may ask;
 * each question has a process of its own while it is open. */
#ifndef RKB_SYSTEM_CONVERSATION_H
#define RKB_SYSTEM_CONVERSATION_H

#include <stdbool.h>
#include <rkb/ext/conversation.h>

/* The spec's texts are copied.  Release with conversation_close. */
int conversation_open(const rkb_conversation_spec_t *spec, rkb_conversation_t **conversation, rkb_error_t *err);
/* deadline_ns: CLOCK_MONOTONIC, 0 for none; the spec's own limit applies too. cancelled may be NULL; it is called every 50 ms. */
int conversation_ask(rkb_conversation_t *conversation, const char *line, uint64_t deadline_ns, bool (*cancelled)(void *), void *whom,
                     rkb_conversation_read_t read, void *argument, rkb_error_t *err);
void conversation_close(rkb_conversation_t *conversation);

#endif
