/* A tune space of which every point was measured, from a T4 file: the format of public collections of such
 * spaces (github.com/AutoTuningAssociation/benchmark_hub).  Reads one file, plain or gzip, and does not trust
 * what it holds. */
#ifndef BENCH_T4_SPACE_H
#define BENCH_T4_SPACE_H

#include <rkb/plugin.h>
#include <stdint.h>

typedef struct t4_space {
   uint32_t point_count, parameter_count;
   double *values; /* point_count rows of parameter_count */
   double *times;  /* milliseconds, NAN: the configuration failed */
   double optimum; /* least time */
} t4_space_t;

/* RKB_ERR_INVALID with the reason: it is no T4 file, has no correct result, or is beyond a limit (128 MiB of
 * text, 65,536 configurations, 32 parameters).  Free what was read. */
int t4_space_read(const char *path, t4_space_t *space, rkb_error_t *err);
void t4_space_free(t4_space_t *space);

#endif
