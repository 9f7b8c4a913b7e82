/* rkb/ext/lift.h - structural edits of kernels that have no schedule.  Extension "rkb.lift/1".
 *
 * Each edit is a rewrite of the kernel's syntax tree with the conditions under which it computes the same.  Where a condition does not hold
 * or cannot be shown, the edit is refused, and the note says which condition and where.
 */
#ifndef RKB_EXT_LIFT_H
#define RKB_EXT_LIFT_H

#include <rkb/ext/random.h>
#include <rkb/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKB_EXT_LIFT "rkb.lift/1"

typedef struct rkb_lift_api {
   uint32_t size;
   uint32_t reserved;

   /* The name of rewrite number index ("warp_to_block"), and what it does in a sentence; NULL past the last.  [any] */
   const char *(*name)(uint32_t index, const char **summary);

   /* Makes the rewrite of this name, or for "any" one that holds, drawn from the stream.  RKB_OK with *changed NULL: refused, and note says
    * why.  A text with a `schedule:` loses it.  RKB_ERR_UNAVAILABLE: this machine has no parser; err says what to install.  The text is
    * the caller's, released with free_text.  Starts a process and waits for it, about 50 ms.  [worker] */
   int (*rewrite)(const rkb_host_t *host, rkb_job_t job, rkb_random_t *stream, const char *name, const char *source, char **changed,
                  char *note, size_t note_size, rkb_error_t *err);
   void (*free_text)(char *text);
} rkb_lift_api_t;

#ifdef __cplusplus
}
#endif
#endif
