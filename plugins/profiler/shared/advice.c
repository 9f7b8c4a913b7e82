/* The table of bottlenecks and what treats them (advice.h).  Owns nothing. */
#include "advice.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* A rule holds when its resource limits the launch and its figure lies between least and most.  The first that holds is
 * taken, so that within a resource the special case stands before the general one. */
typedef struct rule {
   const char *resource; /* NULL: any */
   size_t figure;        /* offset in launch_figures_t; ANY: none */
   double least, most;
   bool about_line; /* the moves treat the line that wastes most */
   advice_t advice;
} rule_t;

#define ANY SIZE_MAX
#define OF(member) offsetof(launch_figures_t, member)

/* [B] CUDA C++ Best Practices Guide 13.0; [P] CUDA C++ Programming Guide 13.0; [H] Hopper Tuning Guide 13.0; [V] Volkov,
 * 'Understanding Latency Hiding on GPUs', 2016; [R] Williams, Waterman, Patterson, 'Roofline', CACM 2009.  The thresholds are
 * ours: the shares from which the model's other terms no longer decide (plugins/profiler/model/README.md). */
static const rule_t RULES[] = {
   {NULL,
    OF(fixed_share),
    0.5,
    1,
    false,
    {"launch overhead",
     {"join this launch with the one before or after it, so that the plan has fewer launches",
      "give the launch the work of several: more elements a thread, or several rows a block"},
     "[P] 'CUDA Graphs': an empty kernel's time"}},
   {"global memory",
    OF(wasted_sectors),
    0.25,
    1,
    true,
    {"uncoalesced access",
     {"let neighbouring threads of a warp touch neighbouring addresses",
      "load the tile row by row into shared memory and read it from there in the other order"},
     "[B] 'Coalesced Access to Global Memory'"}},
   {"global memory",
    OF(memory_share),
    0.8,
    INFINITY,
    false,
    {"memory bandwidth, nearly reached",
     {"move fewer bytes: fuse with the launch that writes or reads this data, or compute a cheap intermediate again",
      "read each input once: keep a row in registers between its passes"},
     "[R]; [B] 'Theoretical Bandwidth Calculation'"}},
   {"global memory",
    ANY,
    0,
    0,
    false,
    {"memory bandwidth, not reached",
     {"load and store 16 bytes a thread where the layout allows it",
      "keep more loads in flight: several independent loads a thread before the first use, or more resident warps"},
     "[V] on bytes in flight; [B] 'Effective Bandwidth Calculation'"}},
   {"L2 cache",
    OF(wasted_sectors),
    0.25,
    1,
    true,
    {"uncoalesced access served by L2",
     {"let neighbouring threads of a warp touch neighbouring addresses", "stage the tile in shared memory"},
     "[B] 'Coalesced Access to Global Memory'"}},
   {"L2 cache",
    ANY,
    0,
    0,
    false,
    {"L2 traffic",
     {"use each loaded value more often: a larger tile a block, staged in shared memory or held in registers",
      "order the blocks so that those that run together share tiles"},
     "[B] 'Shared Memory in Matrix Multiplication (C=AB)'"}},
   {"shared memory",
    OF(wavefronts),
    1.5,
    INFINITY,
    false,
    {"bank conflicts",
     {"pad the rows of the shared array, or swizzle its columns by the row",
      "change which lane reads which element, so that the lanes of a request fall into different banks"},
     "[B] 'Shared Memory and Memory Banks'"}},
   {"shared memory",
    ANY,
    0,
    0,
    false,
    {"shared-memory bandwidth",
     {"use each value read from shared memory more often: a larger tile in the registers of a thread",
      "read 16 bytes a lane, or feed tensor cores with ldmatrix"},
     "[B] 'Shared Memory'; [V]"}},
   {"load/store units",
    ANY,
    0,
    0,
    false,
    {"load and store instructions",
     {"access 16 bytes an instruction in place of 4", "keep values that are read again in registers"},
     "[P] 'Device Memory Accesses': size and alignment"}},
   {"fp32 units",
    OF(tensor_share),
    0,
    0.5,
    false,
    {"fp32 arithmetic",
     {"compute products of matrices on tensor cores, split into parts where fp32 accuracy is asked for (tf32x3)",
      "do fewer operations: use fused multiply-adds, and compute what all threads share once"},
     "[P] 'Throughput of Native Arithmetic Instructions'; [H] 'Tensor Core Operations'"}},
   {"fp32 units",
    ANY,
    0,
    0,
    false,
    {"fp32 arithmetic beside tensor cores",
     {"do fewer operations in the epilogue: fused multiply-adds, and factors computed once a block",
      "let some warps load and convert while others multiply"},
     "[P] 'Throughput of Native Arithmetic Instructions'"}},
   {"tensor cores",
    ANY,
    0,
    0,
    false,
    {"tensor cores",
     {"use a narrower type where the task's precision class allows it",
      "use the widest matrix instruction of the target"},
     "[H] 'Tensor Core Operations'"}},
   {"fp64 units",
    ANY,
    0,
    0,
    false,
    {"double-precision arithmetic",
     {"accumulate in fp32 with a compensated or pairwise sum",
      "find the literal or function that promotes to double: write 1.0f, expf"},
     "[B] 'Single vs. Double Precision'"}},
   {"half units",
    ANY,
    0,
    0,
    false,
    {"half-precision arithmetic",
     {"use the packed forms, two values an instruction", "compute products of matrices on tensor cores"},
     "[P] 'Throughput of Native Arithmetic Instructions'"}},
   {"instruction issue",
    ANY,
    0,
    0,
    false,
    {"instruction issue",
     {"take index arithmetic out of the inner loop, and unroll it",
      "do more with an instruction: 16-byte accesses, packed or matrix instructions"},
     "[B] 'Instruction Optimization'"}},
   {"integer units",
    ANY,
    0,
    0,
    false,
    {"integer arithmetic",
     {"take index arithmetic out of the inner loop: advance a pointer in place of multiplying",
      "avoid division and remainder by numbers that the compiler does not know; use 32-bit indices inside a tile"},
     "[B] 'Division Modulo Operations'"}},
   {"special function units",
    ANY,
    0,
    0,
    false,
    {"special functions",
     {"call fewer of them: one exponential an element, with its scale folded into the argument",
      "compute a part of them as polynomials on the fp32 units"},
     "[P] 'Throughput of Native Arithmetic Instructions': 16 a clock"}},
   {"conversion units",
    ANY,
    0,
    0,
    false,
    {"conversions",
     {"convert two values an instruction, and each value once", "keep values in the wider type between uses"},
     "[P] 'Throughput of Native Arithmetic Instructions'"}},
   {"atomics on one address",
    ANY,
    0,
    0,
    false,
    {"atomics on one address",
     {"reduce within a warp and a block first, and let one thread add the sum",
      "write partial sums and add them in a second launch, in a fixed order"},
     "[P] 'Atomic Functions'; [B] 'Shared Memory'"}},
   {"latency",
    OF(waves),
    0,
    0.999,
    false,
    {"too few blocks",
     {"split the work over more blocks: a smaller tile, or the reduction in parts with a second pass",
      "give each block more warps, so that the loads of one hide behind those of another"},
     "[B] 'Thread and Block Heuristics'"}},
   {"latency",
    OF(occupancy),
    0,
    0.25,
    false,
    {"low occupancy",
     {"use fewer registers or less shared memory a block: a smaller tile, or launch bounds",
      "give a thread more independent work: load the next tile while this one is used"},
     "[B] 'Occupancy'; [V]"}},
   {"latency",
    OF(waves),
    1,
    3,
    false,
    {"tail effect",
     {"choose the tile so that the blocks fill whole waves",
      "let as many blocks as fit stay resident, each with several tiles"},
     "[B] 'Thread and Block Heuristics'"}},
   {"latency",
    ANY,
    0,
    0,
    false,
    {"dependent loads and barriers",
     {"load the next tile while this one is used (two buffers, cp.async)",
      "issue independent loads together, and synchronise less often"},
     "[V]; [B] 'Asynchronous Copy from Global Memory to Shared Memory'"}},
};

static const rule_t *rule_for(const launch_figures_t *figures) {
   for (size_t i = 0; i < sizeof RULES / sizeof RULES[0]; i++) {
      const rule_t *rule = &RULES[i];
      double figure = 0;
      if (rule->resource && strcmp(rule->resource, figures->resource) != 0)
         continue;
      if (rule->figure != ANY)
         memcpy(&figure, (const char *)figures + rule->figure, sizeof figure);
      /* A comparison with NAN is false: the rule does not hold. */
      if (rule->figure == ANY || (figure >= rule->least && figure <= rule->most))
         return rule;
   }
   return NULL;
}

const advice_t *advice_for(const launch_figures_t *figures) {
   const rule_t *rule = rule_for(figures);
   return rule ? &rule->advice : NULL;
}

json_t *advice_json(const launch_figures_t *figures) {
   char first[320];
   const rule_t *rule = rule_for(figures);
   if (!rule)
      return NULL;
   const advice_t *advice = &rule->advice;
   if (rule->about_line && figures->line)
      snprintf(first, sizeof first, "%s (line %u)", advice->moves[0], figures->line);
   else if (figures->occupancy_by && strcmp(advice->bottleneck, "low occupancy") == 0)
      snprintf(first, sizeof first, "%s (%s limit it)", advice->moves[0], figures->occupancy_by);
   else
      snprintf(first, sizeof first, "%s", advice->moves[0]);
   return json_pack("{s:s, s:f, s:[s, s]}", "bottleneck", advice->bottleneck, "share", figures->share,
                    "moves", first, advice->moves[1]);
}
