/* Extension rkb.task/1: core/task for plugins. */
#include "stage/extensions.h"
#include "stage/instance.h"
#include "task/expected/expected_sample.h"
#include "task/expected/expected_store.h"
#include "task/expected/staged_values.h"
#include "task/least_time.h"
#include "task/task.h"

static rkb_task_t *task_of(const rkb_host_t *host) {
   return rkb_owner_of(host)->runtime->pipeline->task;
}

static const rkb_task_info_t *info(const rkb_host_t *host) {
   return rkb_task_info(task_of(host));
}

static const char *values_identity(const rkb_host_t *host) {
   return rkb_task_values_identity(task_of(host));
}

static const rkb_case_t *case_at(const rkb_host_t *host, uint32_t kind, uint32_t index) {
   return rkb_task_case(task_of(host), kind, index);
}

static int case_draw(const rkb_host_t *host, rkb_random_t *stream, double work, rkb_case_t **drawn,
                     rkb_error_t *err) {
   return rkb_task_case_draw(task_of(host), stream, work, drawn, err);
}

static int case_draw_equal(const rkb_host_t *host, rkb_random_t *stream, double work, bool all,
                           rkb_case_t **drawn, rkb_error_t *err) {
   return rkb_task_case_draw_equal(task_of(host), stream, work, all, drawn, err);
}

static int case_reduced(const rkb_host_t *host, const rkb_case_t *listed, rkb_random_t *stream, double work,
                        uint32_t longest, rkb_case_t **drawn, rkb_error_t *err) {
   return rkb_task_case_reduced(task_of(host), listed, stream, work, longest, drawn, err);
}

static int case_with_dim(const rkb_host_t *host, const rkb_case_t *like, rkb_random_t *stream, uint32_t dim,
                         int64_t value, double work, rkb_case_t **made, rkb_error_t *err) {
   return rkb_task_case_with_dim(task_of(host), like, stream, dim, value, work, made, err);
}

static int case_with_dims(const rkb_host_t *host, const rkb_case_t *like, rkb_random_t *stream,
                          const int64_t *dims, double work, rkb_case_t **made, rkb_error_t *err) {
   return rkb_task_case_with_dims(task_of(host), like, stream, dims, work, made, err);
}

static void dim_range(const rkb_host_t *host, uint32_t dim, int64_t *low, int64_t *high) {
   rkb_task_dim_range(task_of(host), dim, low, high);
}

static int case_corner(const rkb_host_t *host, uint32_t index, rkb_case_t **corner, rkb_error_t *err) {
   return rkb_task_case_corner(task_of(host), index, corner, err);
}

static const rkb_family_t *family_at(const rkb_host_t *host, const rkb_case_t *the_case, uint32_t index) {
   return rkb_task_family(task_of(host), the_case, index);
}

static int inputs_open(const rkb_host_t *host, const rkb_case_t *the_case, const rkb_family_t *family,
                       uint64_t seed, rkb_inputs_t **inputs, rkb_error_t *err) {
   return rkb_task_inputs_open(task_of(host), the_case, family, seed, inputs, err);
}

static int expect(const rkb_host_t *host, const rkb_inputs_t *inputs, rkb_expected_t **expected,
                  rkb_error_t *err) {
   (void)host;
   return rkb_task_expect(inputs, expected, err);
}

static int expect_points(const rkb_host_t *host, const rkb_inputs_t *inputs, uint32_t tensor,
                         const uint64_t *elements, uint64_t count, double *value, double *hard, double *stat,
                         uint8_t *flags, rkb_error_t *err) {
   (void)host;
   return rkb_task_expect_points(inputs, tensor, elements, count, value, hard, stat, flags, err);
}

static int judge(const rkb_host_t *host, const rkb_inputs_t *inputs, uint32_t tensor, const void *data,
                 const double *shadow, const rkb_points_t *points, const uint64_t *elements, bool transform,
                 rkb_judgement_t *judgement, rkb_error_t *err) {
   (void)host;
   return rkb_task_judge(inputs, tensor, data, shadow, points, elements, transform, judgement, err);
}

static int input_matters(const rkb_host_t *host, const rkb_inputs_t *inputs, uint32_t tensor, bool *matters,
                         rkb_error_t *err) {
   (void)host;
   return rkb_task_input_matters(inputs, tensor, matters, err);
}

/* The store is optional: without it, expected values are evaluated again next time. */
static rkb_store_t *store_open(const rkb_host_t *host) {
   rkb_store_t *store;
   rkb_error_t ignored;
   return rkb_store_open(rkb_task_values_identity(task_of(host)), &store, &ignored) == RKB_OK ? store : NULL;
}

static uint32_t family_count(const rkb_host_t *host, const rkb_case_t *the_case, uint32_t check,
                             uint32_t bench) {
   return rkb_sample_families(task_of(host), the_case, check, bench);
}

static uint64_t pool_seed(const rkb_store_t *store, const rkb_case_t *the_case, uint64_t index) {
   return rkb_store_seed(store, the_case->name, index);
}

static int samples_open(const rkb_host_t *host, const rkb_store_t *store, const rkb_wanted_t *list,
                        uint32_t count, uint64_t points, uint64_t budget, rkb_error_t *err) {
   const rkb_sampling_t sampling = {.task = task_of(host),
                                    .store = store,
                                    .workers = rkb_owner_of(host)->runtime->workers,
                                    .points = points,
                                    .budget_ns = budget};
   return rkb_samples_open(&sampling, list, count, err);
}

static double least_seconds(const rkb_host_t *host, const rkb_case_t *the_case) {
   const rkb_peaks_t peaks = rkb_peaks_of(rkb_owner_of(host)->runtime->pipeline->device);
   bool memory_bound;
   return rkb_least_time(the_case->operations, the_case->bytes, &peaks, info(host)->precision, &memory_bound);
}

const rkb_task_api_t RKB_TASK_API = {.size = sizeof RKB_TASK_API,
                                     .info = info,
                                     .case_at = case_at,
                                     .case_draw = case_draw,
                                     .case_free = rkb_task_case_free,
                                     .family_at = family_at,
                                     .inputs_open = inputs_open,
                                     .inputs_free = rkb_task_inputs_free,
                                     .inputs_limit = rkb_task_inputs_limit,
                                     .inputs_fill = rkb_task_inputs_fill,
                                     .expect = expect,
                                     .expected_points = rkb_task_expected_points,
                                     .expected_free = rkb_task_expected_free,
                                     .expect_points = expect_points,
                                     .judge = judge,
                                     .input_matters = input_matters,
                                     .values_identity = values_identity,
                                     .case_corner = case_corner,
                                     .store_open = store_open,
                                     .store_close = rkb_store_close,
                                     .family_count = family_count,
                                     .pool_size = rkb_sample_pool,
                                     .pool_seed = pool_seed,
                                     .samples_open = samples_open,
                                     .sample_close = rkb_sample_close,
                                     .staged_find = rkb_staged_find,
                                     .staged_keep = rkb_staged_keep,
                                     .least_seconds = least_seconds,
                                     .case_draw_equal = case_draw_equal,
                                     .case_reduced = case_reduced,
                                     .case_with_dim = case_with_dim,
                                     .case_with_dims = case_with_dims,
                                     .dim_range = dim_range,
                                     .inputs_plant = rkb_task_inputs_plant,
                                     .inputs_note = rkb_task_inputs_note,
                                     .inputs_noted = rkb_task_inputs_noted};
