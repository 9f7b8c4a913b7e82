/* rkb/ext/confined.h - stages whose jobs run in processes of their own.  Extension "rkb.confined/1".
 *
 * A stage that lists this extension in its needs is created twice: in the program, and in a process that the program forked before it
 * read any key and before it had threads.  Each job runs in a fork of that process, which may compute and do nothing else: it
 * opens no file and no connection, starts no program and looks into no other process.  A job that crashes, or that takes more
 * than its memory or processor time, is a broken tool for its candidate alone (unknown tool.*).
 *
 * In such a job
 *   - the item has its own values and no references;
 *   - rkb.task, rkb.random, rkb.kernel and rkb.workers work; rkb.workers has threads of the job's own; rkb.kernel finds the notes that
 *     this job itself has set.  What reaches for files, models, devices or other programs does not work;
 *   - what a job changes in memory is gone when it ends: it gives what it emits, the notes that it sets, and its status. */
#ifndef RKB_EXT_CONFINED_H
#define RKB_EXT_CONFINED_H

#include <rkb/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKB_EXT_CONFINED "rkb.confined/1"

typedef struct rkb_confined_api {
   uint32_t size;
   uint32_t reserved;

   /* Processor time that the pipeline gives to a candidate in one such stage (limits.execute), nanoseconds.  A stage keeps to it by
    * a measure of its work, so that its verdict is the same on every machine; the process is ended at RKB_CONFINED_NET times as much. [any] */
   uint64_t (*processor_ns)(const rkb_host_t *host);
} rkb_confined_api_t;

#define RKB_CONFINED_NET 10

#ifdef __cplusplus
}
#endif
#endif
