/* Extension rkb.task/1: core/task for plugins. */
#include "stage/extensions.h"
#include "stage/instance.h"
#include "task/task.h"

static rkb_task_t *task_of(const rkb_host_t *host) {
   return rkb_owner_of(host)->core->pipeline->task;
}

static const rkb_task_info_t *info(const rkb_host_t *host) {
   return rkb_task_info(task_of(host));
}

static const char *values_identity(const rkb_host_t *host) {
   return rkb_task_values_identity(task_of(host));
}

static int values_seal(const rkb_host_t *host, const uint8_t key[32], const char *name, const void *data,
                       uint64_t bytes, uint8_t seal[32], rkb_error_t *err) {
   return rkb_values_seal(rkb_task_values_identity(task_of(host)), key, name, data, bytes, seal, err);
}

static const rkb_case_t *case_at(const rkb_host_t *host, uint32_t kind, uint32_t index) {
   return rkb_task_case(task_of(host), kind, index);
}

static int case_draw(const rkb_host_t *host, rkb_random_t *stream, double work, rkb_case_t **drawn,
                     rkb_error_t *err) {
   return rkb_task_case_draw(task_of(host), stream, work, drawn, err);
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
                                     .values_seal = values_seal};
