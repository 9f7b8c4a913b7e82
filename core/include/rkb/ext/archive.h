/* rkb/ext/archive.h - what the run already knows.  Extension "rkb.archive/1".
 *
 * Reads go through a job and show only what the job's request may see: all of the propose section
 * and the search requests up to (its number - window), never later ones even when they are known.
 * That is what keeps a run independent of the number of cores.  There is no unwindowed read.
 */
#ifndef RKB_EXT_ARCHIVE_H
#define RKB_EXT_ARCHIVE_H

#include <rkb/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKB_EXT_ARCHIVE "rkb.archive/1"

enum rkb_archive_order {
   RKB_ARCHIVE_BY_NUMBER, /* oldest first */
   RKB_ARCHIVE_BY_OBJECTIVE /* best first: accept before suspect before unknown, then the objective, then the number;
                               candidates without the objective or rejected are left out */
};

typedef struct rkb_archive_query {
   uint32_t size;
   uint32_t order; /* enum rkb_archive_order */
   uint32_t limit; /* most rows, 1 to 4096 */
   uint32_t reserved;
   const char *source_hash; /* only candidates with this source, or NULL */
   const char *operator_id; /* only candidates made by this entry, or NULL */
   const char *standing;    /* only this standing, or NULL */
   int64_t parent;          /* only candidates with this parent, or 0; absent in structures of older headers */
} rkb_archive_query_t;

typedef struct rkb_archive_row {
   int64_t number;
   const char *source, *source_hash, *tune, *operator_id, *note, *standing;
   const char *reason, *message, *evidence; /* of the verdict that decided; evidence is JSON or NULL */
   bool has_objective;
   double objective;
} rkb_archive_row_t;

typedef struct rkb_archive_rows rkb_archive_rows_t;

/* One measurement of a candidate, as a profiler emitted it. */
typedef struct rkb_archive_measured {
   const char *name;      /* "<entry id>.<name>" */
   const char *case_name; /* NULL: over all cases */
   const char *unit, *better;
   const char *method;    /* how it was obtained, or "" */
   const char *detail;    /* JSON, or NULL */
   double value;
} rkb_archive_measured_t;

typedef struct rkb_archive_measured_list rkb_archive_measured_list_t;

typedef struct rkb_archive_api {
   uint32_t size;
   uint32_t reserved;

   /* Runs a query.  On RKB_OK *rows is owned: release it with rows_free.  [worker] */
   int (*query)(const rkb_host_t *host, rkb_job_t job, const rkb_archive_query_t *query,
                rkb_archive_rows_t **rows, rkb_error_t *err);
   uint32_t (*rows_count)(const rkb_archive_rows_t *rows);
   const rkb_archive_row_t *(*rows_at)(const rkb_archive_rows_t *rows,
                                       uint32_t index); /* lives as long as rows */
   void (*rows_free)(rkb_archive_rows_t *rows);

   /* One measurement of one visible candidate, by "<entry id>.<name>"; false when there is none.  detail, when not
    * NULL, receives JSON (or "") copied into the caller's buffer, cut at its size.  [worker] */
   bool (*measurement)(const rkb_host_t *host, rkb_job_t job, int64_t candidate, const char *name,
                       double *value, char *detail, size_t detail_size);

   /* The last search request whose results the job may see, -1 when it sees none of the search; *window, which may be
    * NULL, receives the pipeline's window.  [worker] */
   int64_t (*horizon)(const rkb_host_t *host, rkb_job_t job, int64_t *window);

   /* From here on: check RKB_HAS first, because older programs end before.
    *
    * Every measurement of one visible candidate, by name and then by case; those over all cases come first of their name.  Without
    * one, or when the candidate is not visible, the list is empty.  On RKB_OK *list is owned: release it with
    * measured_free.  [worker] */
   int (*measured)(const rkb_host_t *host, rkb_job_t job, int64_t candidate, rkb_archive_measured_list_t **list,
                   rkb_error_t *err);
   uint32_t (*measured_count)(const rkb_archive_measured_list_t *list);
   const rkb_archive_measured_t *(*measured_at)(const rkb_archive_measured_list_t *list,
                                                uint32_t index); /* lives as long as list */
   void (*measured_free)(rkb_archive_measured_list_t *list);
} rkb_archive_api_t;

#ifdef __cplusplus
}
#endif
#endif
