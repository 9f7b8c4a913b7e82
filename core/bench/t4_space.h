/* A brute-forced tune space from a T4 file: the format in which the public collections of measured spaces are kept
 * (github.com/AutoTuningAssociation/benchmark_hub).  Reads one file, plain or gzip; what it holds is not trusted. */
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

/* RKB_ERR_INVALID with the reason: no T4 file, no result that is correct, or beyond a limit (128 MiB of text, 65,536 configurations,
 * 32 parameters).  Free what was read. */
int t4_space_read(const char *path, t4_space_t *space, rkb_error_t *err);
void t4_space_free(t4_space_t *space);

#endif
