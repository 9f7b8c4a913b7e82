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

/* One remark of clang's. */
typedef struct rkb_lift_warning {
   uint32_t line;      /* of the kernel */
   uint32_t reserved;
   const char *option; /* "-Wunused-variable" */
   const char *words;
} rkb_lift_warning_t;

typedef struct rkb_lift_warnings rkb_lift_warnings_t;

typedef struct rkb_lift_api {
   uint32_t size;
   uint32_t reserved;

   /* The name of rewrite number index ("warp_to_block"), and a sentence that describes it; NULL past the last.  [any] */
   const char *(*name)(uint32_t index, const char **summary);

   /* Makes the rewrite of this name; for "any", one that applies, drawn from the stream.  RKB_OK with *changed NULL: refused, and
    * note has the reason.  A text with a `schedule:` loses it.  RKB_ERR_UNAVAILABLE: this machine has no parser; err names the package
    * to install.  The text is the caller's, released with free_text.  Starts a process and waits for it, about 50 ms.  [worker] */
   int (*rewrite)(const rkb_host_t *host, rkb_job_t job, rkb_random_t *stream, const char *name, const char *source, char **changed,
                  char *note, size_t note_size, rkb_error_t *err);
   void (*free_text)(char *text);

   /* From here on: check RKB_HAS first, because older programs end before.
    *
    * What clang warns of in a kernel, at most the first 100, in the order of the text.  RKB_OK with *warnings NULL: it cannot read the
    * text, and refusal says why.  RKB_ERR_UNAVAILABLE as for rewrite.  Owned, warnings_free.  [worker] */
   int (*warnings)(const rkb_host_t *host, rkb_job_t job, const char *source, rkb_lift_warnings_t **warnings, char *refusal,
                   size_t refusal_size, rkb_error_t *err);
   uint32_t (*warnings_count)(const rkb_lift_warnings_t *warnings);
   const rkb_lift_warning_t *(*warnings_at)(const rkb_lift_warnings_t *warnings, uint32_t index); /* lives as long as warnings */
   void (*warnings_free)(rkb_lift_warnings_t *warnings);                                          /* NULL is accepted */
} rkb_lift_api_t;

#ifdef __cplusplus
}
#endif
#endif
