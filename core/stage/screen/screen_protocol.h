/* What the program and rkb-screen-worker say to each other over the worker's standard input and output, in frames of kernel/byte_record.h.
 *
 *    program: SCREEN_SETUP: text version, u32 count + texts plugin files, bytes resolved pipeline
 *    worker:  SCREEN_READY: text version, u32 good;  good 1: text identity;  good 0: text why
 *    program: SCREEN_COMPILE: u64 number, compile input (kernel/compile_record.h)
 *    worker:  SCREEN_COMPILED: u64 number, u32 status, text message, u32 uncertain, compile output
 *    program: SCREEN_JOB: u64 number, u32 entry
 *    worker:  SCREEN_BEGUN: u64 number; then both speak as confined/confined_protocol.h has it, until CONFINED_DONE or CONFINED_FAILED
 *
 * One request at a time.  The first text of SETUP and READY stands in every version, so that versions that differ can be named.  A worker
 * ends when its input does, and a program that no longer wants an answer ends the worker: what answers late has another number, or nobody. */
#ifndef RKB_STAGE_SCREEN_SCREEN_PROTOCOL_H
#define RKB_STAGE_SCREEN_SCREEN_PROTOCOL_H

#include "pipeline/pipeline_parts.h"

enum screen_kind { SCREEN_SETUP = 101, SCREEN_READY, SCREEN_COMPILE, SCREEN_COMPILED, SCREEN_JOB, SCREEN_BEGUN };

enum {
   SCREEN_MAX_SETUP = 8 << 20,
   SCREEN_MAX_READY = 64 << 10,
   SCREEN_MAX_COMPILED = 113 << 20,
   SCREEN_MAX_PLUGINS = 256,
   SCREEN_MAX_TEXT = 4096
};

/* Writes what both sides must have in common, one item a line: pipeline, task, plugins. */
void screen_identity_write(const rkb_pipeline_t *pipeline, rkb_text_t *out);

#endif
