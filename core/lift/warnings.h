/* The warnings that clang gives for one kernel's text, from the parser's process.  Blocks for about 50 ms;
 * any thread but the loop's. */
#ifndef RKB_LIFT_WARNINGS_H
#define RKB_LIFT_WARNINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <rkb/ext/lift.h>

struct rkb_lift_warnings {
   rkb_lift_warning_t *list; /* in the order of the text; their texts are owned */
   uint32_t count;
};

/* RKB_OK with *warnings NULL: the text is refused, and refusal (size bytes) says why.  RKB_ERR_UNAVAILABLE:
 * this machine has no parser, and err says what to install.  cancelled may be NULL. */
int lift_warn(const char *text, bool (*cancelled)(void *argument), void *argument, rkb_lift_warnings_t **warnings, char *refusal,
              size_t size, rkb_error_t *err);
/* Reads the parser's answer, which may be as hostile as the text.  Returns as lift_warn does. */
int lift_warnings_read(const void *bytes, size_t length, rkb_lift_warnings_t **warnings, char *refusal, size_t size, rkb_error_t *err);
void lift_warnings_free(rkb_lift_warnings_t *warnings); /* NULL is accepted */

#endif
