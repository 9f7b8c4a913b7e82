/* Runs one CUDA file through the machine: a comment at its top says which buffers there are, what is launched, and what the
 * machine must find.
 *
 *    // buffer: NAME ROLE TYPE ELEMENTS [INIT]     role in, out, inout or scratch; init ramp, noise, zero, one or index
 *    // map: NAME BUFFER TYPE dims=64,32 strides=128 box=64,8 swizzle=128 fill=nan      a tensor map, for args; type bf16, f32, ...
 *    // launch: KERNEL grid=4,1,1 block=256,1,1 shared=0 args=x,y,1024,0.5f
 *    // expect: pass | reject REASON | suspect REASON | unknown REASON
 *    // broken: the same, for the file compiled with -DBROKEN
 *    // runs: 2
 *    // resident: 4                    blocks of a launch that the target holds at once; without it any number
 *    // order: ascending               it is right in ascending order alone; without it a test may run it in others too
 *    // why: one sentence
 *
 * Used by tests and by rkb-bench-machine; one thread. */
#ifndef TESTS_MACHINE_HARNESS_H
#define TESTS_MACHINE_HARNESS_H

#include "machine/machine.h"

#define HARNESS_MOST 16

typedef struct harness {
   rkb_machine_module_t *module;
   rkb_plan_t plan;
   rkb_plan_buffer_t buffers[HARNESS_MOST];
   rkb_plan_launch_t launches[HARNESS_MOST];
   rkb_plan_argument_t arguments[HARNESS_MOST][HARNESS_MOST];
   char names[4 * HARNESS_MOST][64];
   uint32_t name_count;
   rkb_plan_map_t maps[HARNESS_MOST];
   char init[HARNESS_MOST][16];
   rkb_machine_buffer_t data[HARNESS_MOST];
   char expect[96], broken[96];
   uint32_t runs;
   uint64_t order; /* of blocks and warps: rkb_machine_set_order */
   uint32_t resident[HARNESS_MOST]; /* 0: any number */
} harness_t;

/* PTX of a CUDA text by NVRTC, without machine code, which takes as long again; malloc'd.  NULL when NVRTC is missing or the text does not compile; the message says which. */
char *harness_compile(const char *source, const char *define, char *message, size_t message_size);
/* Reads the directives of source and the PTX.  False with a message. */
bool harness_open(harness_t *harness, const char *source, const char *ptx, char *message,
                  size_t message_size);
void harness_close(harness_t *harness);
/* initial bytes of every buffer; the run's number changes the values */
void harness_fill(harness_t *harness, uint32_t run);
/* Executes all runs and writes what was found ("pass", "reject race.shared", ...) to verdict. */
bool harness_judge(harness_t *harness, const rkb_machine_options_t *options, char *verdict,
                   size_t verdict_size, char **text);
char *harness_read_file(const char *path);

/* Opens a machine, and runs the plan once; NULL: that failed.  The caller closes the machine. */
rkb_machine_t *harness_execute(harness_t *harness, const rkb_machine_options_t *options,
                               rkb_machine_report_t *report);

#endif
