/* The table of fault operators.  "Permitted reasons" are what a person who reads the faulty line would call
 * the fault. */
#include "tools/faults/operators/operator.h"

#define ADDRESSES                                                                                            \
   "memory.out_of_bounds memory.misaligned memory.uninitialised numeric.mismatch numeric.nonfinite "         \
   "numeric.precision output.unwritten race.shared race.global"
#define NUMBERS "numeric.mismatch numeric.nonfinite numeric.precision"
#define ORDER "race.shared memory.uninitialised numeric.mismatch numeric.nonfinite"

const operator_t fault_operators[] = {
   {"drop_barrier", "A block-wide barrier is missing.", FAULT_BARRIER, ORDER, NULL, find_drop_barrier, 0},
   {"barrier_earlier", "A barrier comes one statement too early.", FAULT_BARRIER, ORDER " sync.barrier", NULL,
    find_barrier_earlier, 0},
   {"barrier_later", "A barrier comes one statement too late.", FAULT_BARRIER, ORDER " sync.barrier", NULL,
    find_barrier_later, 0},
   {"barrier_in_branch", "A barrier stands in a branch that only some threads of each warp take.",
    FAULT_BARRIER, "sync.barrier sync.deadlock race.shared",
    "The branch asks for one lane of each warp or one thread; every block has more threads than that, and "
    "__syncthreads() in "
    "conditional code is allowed only if the condition is the same for the whole block (CUDA C++ Programming "
    "Guide, "
    "'Synchronization Functions').",
    find_barrier_in_branch, 0},
   {"drop_fence", "A memory fence between a block's results and the counter that announces them is missing.",
    FAULT_RACE, "race.global",
    "Without the fence nothing orders the block's plain stores before its ticket (CUDA C++ Programming "
    "Guide, 'Memory Fence "
    "Functions', has this very example); the block with the last ticket reads them.",
    find_drop_fence, 0},
   {"plain_store_for_atomic", "An atomic addition is a plain load, add and store.", FAULT_RACE,
    "race.global race.shared numeric.mismatch",
    "Each of these places receives the contributions of several blocks, or threads, of one launch on some "
    "check case; plain "
    "accesses to one address from several threads without order, one of them a write, are a data race (PTX "
    "ISA, 'Memory "
    "Consistency Model').",
    find_plain_store, 0},
   {"counter_not_reset", "A counter in memory keeps its count from one run to the next.", FAULT_MEMORY,
    "memory.uninitialised numeric.mismatch output.unwritten nondeterministic race.global", NULL,
    find_counter_not_reset, 0},
   {"shuffle_mask", "A warp shuffle's mask leaves out lanes that execute it.", FAULT_BARRIER,
    "sync.warp memory.uninitialised numeric.mismatch",
    "All 32 lanes execute the shuffle, and behaviour is undefined if the executing thread is not in "
    "membermask (PTX ISA, "
    "'shfl.sync').",
    find_shuffle_mask, 0},
   {"shuffle_distance", "A butterfly reduction leaves out a step.", FAULT_VALUE,
    NUMBERS " race.shared race.global", NULL, find_shuffle_distance, 0},
   {"shuffle_width", "A shuffle works on half a warp, or in one direction.", FAULT_VALUE,
    NUMBERS " race.shared race.global", NULL, find_shuffle_width, 0},
   {"drop_bounds_check", "One comparison of a bounds check is missing.", FAULT_MEMORY, ADDRESSES, NULL,
    find_drop_bounds_check, 0},
   {"less_to_less_equal", "A limit is one too far: < for <=, >= for >.", FAULT_MEMORY,
    ADDRESSES " sync.barrier", NULL, find_less_to_less_equal, 0},
   {"loop_starts_late", "A loop leaves out its first turn.", FAULT_VALUE, ADDRESSES, NULL,
    find_loop_starts_late, 0},
   {"loop_ends_early", "A loop leaves out what lies at its limit.", FAULT_VALUE, ADDRESSES, NULL,
    find_loop_ends_early, 0},
   {"wrong_loop_stride", "A loop's step is one too large, or twice as large.", FAULT_VALUE, ADDRESSES, NULL,
    find_wrong_loop_stride, 0},
   {"wrong_index_stride", "A row's stride in an address is one too large.", FAULT_MEMORY, ADDRESSES, NULL,
    find_wrong_index_stride, 0},
   {"swapped_indices", "Row and column of a tile are exchanged.", FAULT_MEMORY, ADDRESSES, NULL,
    find_swapped_indices, 0},
   {"swapped_block", "x and y of a block's or thread's place are exchanged.", FAULT_MEMORY,
    ADDRESSES " input.ignored", NULL, find_swapped_block, 0},
   {"modulo_for_division", "An index is split with / for %, or % for /.", FAULT_MEMORY,
    ADDRESSES " sync.barrier sync.deadlock input.ignored", NULL, find_modulo_for_division, 0},
   {"index_off_by_one", "An element's neighbour is read or written.", FAULT_MEMORY, ADDRESSES, NULL,
    find_index_off_by_one, 0},
   {"tile_too_small", "A shared array has one element or row less than is used.", FAULT_MEMORY, ADDRESSES,
    NULL, find_tile_too_small, 0},
   {"floor_for_ceiling", "A count of blocks or of steps is rounded down.", FAULT_MEMORY,
    ADDRESSES " plan.no_launch", NULL, find_floor_for_ceiling, 0},
   {"missing_zero_fill", "Memory that is added to is not zeroed before.", FAULT_MEMORY,
    "memory.uninitialised numeric.mismatch numeric.nonfinite output.unwritten",
    "Outputs and scratch without a fill hold anything (the manifest's contract), and the kernel adds to what "
    "it finds there.",
    find_missing_zero_fill, 0},
   {"unpadded_tile", "A tile's cells outside the matrix keep what was there.", FAULT_MEMORY, ADDRESSES, NULL,
    find_unpadded_tile, 0},
   {"uninitialised_accumulator", "A sum starts from whatever was in its register.", FAULT_MEMORY,
    "memory.uninitialised " NUMBERS, NULL, find_uninitialised_accumulator, 0},
   {"literal_off", "A constant of the formula is off.", FAULT_VALUE, NUMBERS, NULL, find_literal_off, 0},
   {"count_off", "A mean divides by one too many.", FAULT_VALUE, NUMBERS, NULL, find_count_off, 0},
   {"attribute_off", "eps, a scale or a rate is left out or half as large again.", FAULT_VALUE, NUMBERS, NULL,
    find_attribute_off, 0},
   {"half_accumulation", "A sum is kept in half precision.", FAULT_VALUE, NUMBERS, NULL,
    find_half_accumulation, 0},
   {"bf16_accumulation", "A sum is kept in bfloat16.", FAULT_VALUE, NUMBERS, NULL, find_bf16_accumulation, 0},
   {"tf32_products", "Factors are cut to ten bits of mantissa before they are multiplied.", FAULT_VALUE,
    NUMBERS, NULL, find_tf32_products, 0},
   {"stale_input", "One element is read in place of all.", FAULT_VALUE, NUMBERS " input.ignored", NULL,
    find_stale_input, 0},
   {"ignored_input", "A constant stands for an input.", FAULT_VALUE, NUMBERS " input.ignored", NULL,
    find_ignored_input, 0},
   {"dropped_launch", "One launch of several is missing.", FAULT_MEMORY,
    "memory.uninitialised output.unwritten numeric.mismatch numeric.nonfinite",
    "Each launch of these plans writes an output, or scratch that a later launch reads and nothing else "
    "writes.",
    find_dropped_launch, 0},
   {"last_block_skipped", "The last block of a grid does nothing.", FAULT_MEMORY,
    "output.unwritten memory.uninitialised " NUMBERS, NULL, find_last_block_skipped, 0},
   {"grid_one_short", "The grid has one block less than the work.", FAULT_MEMORY,
    "output.unwritten memory.uninitialised " NUMBERS, NULL, find_grid_one_short, 0},
   {"grid_capped", "The grid is bounded for a loop that the kernel lacks.", FAULT_MEMORY,
    "output.unwritten memory.uninitialised " NUMBERS, NULL, find_grid_capped, 0},
   {"only_listed_shapes", "The kernel is right at the shapes of the check cases alone.", FAULT_VALUE,
    "output.unwritten memory.uninitialised " NUMBERS, NULL, find_only_listed_shapes, 2},
   {"residue_left_out", "The kernel does nothing at one residue of a dim that no check case has.",
    FAULT_VALUE, "output.unwritten memory.uninitialised " NUMBERS, NULL, find_residue_left_out, 2},
   {"octave_left_out", "The kernel does nothing at sizes between those of the check cases.", FAULT_VALUE,
    "output.unwritten memory.uninitialised " NUMBERS, NULL, find_octave_left_out, 2},
   {"width_assumed", "A dim is cut to a multiple of twice the width that it has.", FAULT_VALUE,
    "output.unwritten memory.uninitialised " ADDRESSES, NULL, find_width_assumed, 2},
   {"modes_apart", "The kernel does nothing where two modes meet that no check case has together.",
    FAULT_VALUE, "output.unwritten memory.uninitialised " NUMBERS, NULL, find_modes_apart, 4},
   {"narrow_offset", "An offset is computed in 32 bits.", FAULT_MEMORY, ADDRESSES, NULL, find_narrow_offset,
    2},
   /* Operators from here on were added after the judge was tuned for the last time. */
   {"equal_dims_left_out", "The kernel does nothing where two dims are equal that no check case has equal.",
    FAULT_VALUE, "output.unwritten memory.uninitialised " NUMBERS, NULL, find_equal_dims_left_out, 2},
   {"longest_assumed", "A dim is cut to the largest size of the check cases.", FAULT_VALUE,
    "output.unwritten memory.uninitialised " ADDRESSES, NULL, find_longest_assumed, 2},
   {"power_of_two_left_out", "The kernel does nothing at powers of two above the sizes of the check cases.",
    FAULT_VALUE, "output.unwritten memory.uninitialised " NUMBERS, NULL, find_power_of_two_left_out, 2},
   {"narrow_block", "A block's number is kept in 8 bits.", FAULT_MEMORY, ADDRESSES, NULL, find_narrow_block,
    1},
   {"weak_width_condition", "A launch for rows of whole packs runs on rows of other lengths.", FAULT_MEMORY,
    ADDRESSES, NULL, find_weak_width_condition, 2},
   {"first_warp_alone", "What the first lane of each warp does is done by the block's first thread alone.",
    FAULT_MEMORY, "memory.uninitialised " NUMBERS, NULL, find_first_warp_alone, 2},
   {"barrier_count", "64 threads of a block are taken for all at a barrier.", FAULT_BARRIER,
    ORDER " sync.barrier sync.deadlock", NULL, find_barrier_count, 1},
   {"warp_barrier", "A warp's barrier stands for a block's.", FAULT_BARRIER, ORDER, NULL, find_warp_barrier,
    1},
   {"first_block_assumed", "All blocks but the first do nothing unless the first has begun.", FAULT_RACE,
    "race.global sync.order output.unwritten state.result state.path " NUMBERS, NULL,
    find_first_block_assumed, 1},
   {"second_launch_lost", "Every other launch does nothing.", FAULT_MEMORY,
    "state.result output.unwritten " NUMBERS, NULL, find_second_launch_lost, 1},
   {"result_kept", "A launch does nothing when its first input begins as it did in the first launch.",
    FAULT_MEMORY, "state.result output.unwritten " NUMBERS, NULL, find_result_kept, 1},
   {"start_value", "A search for the largest starts at a value that lies above what can come.", FAULT_VALUE,
    NUMBERS, NULL, find_start_value, 0},
   {"nan_lost", "A limit is taken by fmaxf or fminf, which give a number for NaN.", FAULT_VALUE, NUMBERS,
    NULL, find_nan_lost, 0},
};

const uint32_t fault_operators_tried = 43;
const uint32_t fault_operator_count = sizeof fault_operators / sizeof fault_operators[0];
