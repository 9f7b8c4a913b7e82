/* A way to break a correct kernel.  Each operator finds, in one kernel file, every place where it applies,
 * always in the same order; a place is a set of replacements of bytes.  Stateless; any thread. */
#ifndef RKB_TOOLS_FAULTS_OPERATORS_OPERATOR_H
#define RKB_TOOLS_FAULTS_OPERATORS_OPERATOR_H

#include "tools/faults/operators/fault_source.h"

enum { MOST_EDITS = 4 };

typedef struct edit {
   uint32_t start, end; /* bytes replaced; equal for an insertion */
   char *text;
} edit_t;

typedef struct site {
   edit_t edits[MOST_EDITS];
   uint32_t count;
   /* An expression over a case's dims.  At shapes where it holds, the fault must show.  NULL: the operator does not say at which shapes the fault shows.
    * */
   char *where;
} site_t;

typedef struct sites {
   site_t *list;
   uint32_t count, room;
   bool failed; /* a site has more edits than fit */
} sites_t;

void sites_begin(sites_t *sites); /* begins a site: the replacements that follow belong to it */
void sites_replace(sites_t *sites, uint32_t start, uint32_t end, const char *fmt, ...) RKB_PRINTF(4, 5);
/* Sets `where` of the last site. */
void sites_show_where(sites_t *sites, const char *fmt, ...) RKB_PRINTF(2, 3);
void sites_free(sites_t *sites);
/* Returns the text with one site's replacements made; malloc'd. */
char *site_apply(const source_t *source, const site_t *site, size_t *bytes);

enum fault_class { FAULT_VALUE, FAULT_MEMORY, FAULT_RACE, FAULT_BARRIER };

typedef struct operator_t {
   const char *name;
   const char *does;     /* one sentence */
   uint32_t kind;        /* enum fault_class: what kind of fault the operator plants */
   const char *reasons;  /* the reason codes that are right for this fault, separated by spaces */
   const char *argument; /* why every site is a fault by construction; NULL: an oracle must see the fault */
   void (*find)(const source_t *source, sites_t *sites);
   uint32_t most; /* most sites in one kernel; 0: the usual number */
} operator_t;

extern const operator_t fault_operators[];
extern const uint32_t fault_operator_count;
/* Judges were tuned on faults of only this many operators, the first ones. */
extern const uint32_t fault_operators_tried;

/* Operators that break the order of asynchronous operations, or that break matrix products.  They have a table of their own, because the seeds of tasks
 * have few places for them: tests/machine/tensor_kernels.txt lists kernels that have more. */
extern const operator_t asynchrony_operators[];
extern const uint32_t asynchrony_operator_count;

/* operators/<file>.c */
#define FINDER(name) void name(const source_t *s, sites_t *sites)
FINDER(find_drop_barrier);
FINDER(find_barrier_earlier);
FINDER(find_barrier_later);
FINDER(find_barrier_in_branch);
FINDER(find_drop_fence);
FINDER(find_plain_store);
FINDER(find_counter_not_reset);
FINDER(find_shuffle_mask);
FINDER(find_shuffle_distance);
FINDER(find_shuffle_width);
FINDER(find_drop_bounds_check);
FINDER(find_less_to_less_equal);
FINDER(find_loop_starts_late);
FINDER(find_loop_ends_early);
FINDER(find_wrong_loop_stride);
FINDER(find_wrong_index_stride);
FINDER(find_swapped_indices);
FINDER(find_swapped_block);
FINDER(find_modulo_for_division);
FINDER(find_index_off_by_one);
FINDER(find_tile_too_small);
FINDER(find_floor_for_ceiling);
FINDER(find_missing_zero_fill);
FINDER(find_unpadded_tile);
FINDER(find_uninitialised_accumulator);
FINDER(find_literal_off);
FINDER(find_count_off);
FINDER(find_residue_left_out);
FINDER(find_octave_left_out);
FINDER(find_width_assumed);
FINDER(find_modes_apart);
FINDER(find_narrow_offset);
FINDER(find_attribute_off);
FINDER(find_half_accumulation);
FINDER(find_bf16_accumulation);
FINDER(find_tf32_products);
FINDER(find_stale_input);
FINDER(find_ignored_input);
FINDER(find_dropped_launch);
FINDER(find_last_block_skipped);
FINDER(find_grid_one_short);
FINDER(find_grid_capped);
FINDER(find_only_listed_shapes);
FINDER(find_equal_dims_left_out);
FINDER(find_longest_assumed);
FINDER(find_power_of_two_left_out);
FINDER(find_barrier_count);
FINDER(find_warp_barrier);
FINDER(find_first_block_assumed);
FINDER(find_second_launch_lost);
FINDER(find_result_kept);
FINDER(find_start_value);
FINDER(find_nan_lost);
FINDER(find_narrow_block);
FINDER(find_first_warp_alone);
FINDER(find_weak_width_condition);

/* operators/asynchrony_faults.c */
FINDER(find_drop_proxy_fence);
FINDER(find_drop_mbarrier_fence);
FINDER(find_drop_mbarrier_init);
FINDER(find_drop_mbarrier_wait);
FINDER(find_drop_mbarrier_arrive);
FINDER(find_drop_expect);
FINDER(find_drop_wgmma_fence);
FINDER(find_drop_wgmma_commit);
FINDER(find_drop_wgmma_wait);
FINDER(find_drop_copy_commit);
FINDER(find_drop_copy_wait);
FINDER(find_drop_bulk_commit);
FINDER(find_drop_bulk_wait);
FINDER(find_drop_bulk_copy);
FINDER(find_drop_cluster_wait);
FINDER(find_drop_map_acquire);
FINDER(find_drop_map_release);
FINDER(find_drop_map_copy);
FINDER(find_short_expect);
FINDER(find_long_expect);
FINDER(find_wrong_parity);
FINDER(find_short_arrivals);
FINDER(find_long_arrivals);
FINDER(find_copy_wait_late);
FINDER(find_wgmma_wait_late);
FINDER(find_bulk_wait_late);
FINDER(find_untransposed_fragment);
FINDER(find_swapped_fragment);
FINDER(find_wrong_sign);
FINDER(find_wrong_major);
FINDER(find_relaxed_cluster);
FINDER(find_drop_warp_barrier);
FINDER(find_wrong_stage);

/* operators/products_faults.c */
FINDER(find_drop_low_part);
FINDER(find_sums_not_promoted);
FINDER(find_tail_not_zeroed);

#endif
