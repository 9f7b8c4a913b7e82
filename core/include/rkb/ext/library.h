/* rkb/ext/library.h - kernels that other runs accepted.  Extension "rkb.library/1"; absent in a run without --library.
 *
 * What a run may read was read before its first request and is kept in its archive, so that a resumed run reads the same.  A kernel of
 * a library is text that others wrote: material for a prompt, or a proposal that is judged like any other.
 */
#ifndef RKB_EXT_LIBRARY_H
#define RKB_EXT_LIBRARY_H

#include <rkb/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKB_EXT_LIBRARY "rkb.library/1"

typedef struct rkb_library_row {
   const char *identity;         /* 64 digits */
   const char *task, *direction; /* what it computes */
   const char *device, *limiter; /* the target's profile; what limits it there, or "" */
   const char *objective;        /* the measurement's name */
   double score;                 /* its value; less is better */
   const char *source, *tune;    /* tune: a JSON object */
   bool same_task;               /* it was accepted for this very task and direction */
} rkb_library_row_t;

typedef struct rkb_library_api {
   uint32_t size;
   uint32_t reserved;

   /* The entries nearest to what the job works on, at most limit, nearest first: those whose tasks have the most operations in common,
    * of these those that the same thing limits as candidate (a visible one; 0: any), of these those for the same device.  Returns
    * how many; rows lie in the caller's array and their texts live as long as the run.  [worker] */
   uint32_t (*nearest)(const rkb_host_t *host, rkb_job_t job, int64_t candidate, rkb_library_row_t *rows, uint32_t limit);
} rkb_library_api_t;

#ifdef __cplusplus
}
#endif
#endif
