/* Makes plans, modules, values and instances of the cases that a profiler runs.  Owns them while visit runs. */
#include "profiled_plan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "device_values/value_staging.h"

int profiler_new(const rkb_host_t *host, const void *config, size_t size, void **self, rkb_error_t *err) {
   const rkb_device_api_t *device = host->get_extension(host, RKB_EXT_DEVICE);
   if (!RKB_HAS(device, report))
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "this program is too old: its %s observes no plans", RKB_EXT_DEVICE);
   profiler_t *p = calloc(1, size);
   if (!p)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", size);
   *p = (profiler_t){host,
                     host->get_extension(host, RKB_EXT_TASK),
                     host->get_extension(host, RKB_EXT_KERNEL),
                     device,
                     host->get_extension(host, RKB_EXT_RANDOM),
                     host->get_extension(host, RKB_EXT_WORKERS),
                     config};
   *self = p;
   return RKB_OK;
}

void profiler_free(void *self) {
   free(self);
}

int profiler_build(const profiler_t *p, rkb_job_t job, const rkb_item_t *in, rkb_build_t **build, rkb_error_t *err) {
   rkb_finding_t finding = {0};
   int status = p->kernel->build(p->host, job, in, 0, build, &finding, err);
   return status != RKB_OK || *build ? status
                                     : rkb_fail(err, RKB_ERR_INTERNAL, "the candidate has no build: %s", finding.message);
}

/* Stages values of the first family, drawn for this job; nothing keeps them. */
static int stage_values(const profiler_t *p, const profiled_plan_t *plan, rkb_random_t *stream, rkb_error_t *err) {
   rkb_inputs_t *inputs = NULL;
   sums_t sums = {0};
   const rkb_family_t *family = p->task->family_at(p->host, plan->the_case, 0);
   const uint64_t seed = p->random->next(stream) >> 1;
   int status = p->task->inputs_open(p->host, plan->the_case, family, seed, &inputs, err);
   if (status == RKB_OK && !sums_open(plan->the_case->tensor_count, &sums))
      status = rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   if (status == RKB_OK) {
      const staging_t set = {.host = p->host,
                             .task = p->task,
                             .device = p->device,
                             .workers = p->workers,
                             .session = plan->session,
                             .the_case = plan->the_case,
                             .inputs = inputs,
                             .family = family,
                             .seed = seed,
                             .sums = &sums};
      status = staging_send(&set, 1, err);
   }
   sums_close(&sums);
   if (inputs)
      p->task->inputs_free(inputs);
   return status;
}

static int refused(const rkb_finding_t *finding, rkb_error_t *err) {
   return finding->reason[0] ? rkb_fail(err, RKB_ERR_INTERNAL, "%s", finding->message) : RKB_OK;
}

static int visit_case(const profiler_t *p, const profiled_plan_t *plan, uint32_t placement, rkb_random_t *stream,
                      int (*visit)(void *, const profiled_plan_t *, rkb_error_t *), void *context, rkb_error_t *err) {
   rkb_finding_t finding = {0};
   rkb_error_t ignored;
   int status = stage_values(p, plan, stream, err);
   if (status == RKB_OK)
      status = p->device->instance(plan->session, 0, 0, placement, plan->plan, &finding, err);
   if (status == RKB_OK)
      status = refused(&finding, err);
   if (status == RKB_OK) {
      status = visit(context, plan, err);
      p->device->drop_instance(plan->session, 0, &ignored);
   }
   p->device->drop_set(plan->session, 0, &ignored);
   return status;
}

int profile_cases(const profiler_t *p, const profiled_cases_t *c,
                  int (*visit)(void *, const profiled_plan_t *, rkb_error_t *), void *context, uint32_t *visited,
                  rkb_error_t *err) {
   rkb_random_t stream = p->random->for_job(p->host, c->job, c->first);
   rkb_finding_t finding = {0};
   const rkb_case_t *the_case;
   *visited = 0;
   int status = p->device->module(c->session, 0, c->build->cubin, c->build->cubin_bytes, &finding, err);
   if (status == RKB_OK)
      status = refused(&finding, err);
   while (status == RKB_OK && *visited < c->most &&
          (the_case = p->task->case_at(p->host, c->kind, c->first + *visited)) != NULL) {
      rkb_plan_t *plan = NULL;
      status = p->kernel->plan(p->host, c->job, c->in, c->build, the_case, &plan, &finding, err);
      const profiled_plan_t profiled = {c->session, c->build, plan, the_case};
      if (status == RKB_OK)
         status = plan ? visit_case(p, &profiled, c->placement, &stream, visit, context, err)
                       : rkb_fail(err, RKB_ERR_INTERNAL, "case %s has no plan: %s", the_case->name, finding.message);
      p->kernel->plan_free(plan);
      ++*visited;
   }
   return status == PROFILED_ENOUGH ? RKB_OK : status;
}

/* Finds the first folder of a list, separated by ':', that has an executable of that name. */
static bool find_in(const char *folders, const char *name, char *out, size_t size) {
   for (const char *at = folders; at && *at; at += strcspn(at, ":"), at += *at == ':') {
      const int length = (int)strcspn(at, ":");
      if (length > 0 && *at == '/' && snprintf(out, size, "%.*s/%s", length, at, name) < (int)size && access(out, X_OK) == 0)
         return true;
   }
   return false;
}

void find_tool(const char *option, const char *name, char *out, size_t size) {
   if (option && option[0])
      snprintf(out, size, "%s", option);
   else if (!find_in(getenv("PATH"), name, out, size) && !find_in("/usr/local/cuda/bin:/opt/cuda/bin", name, out, size))
      snprintf(out, size, "%s", name);
}
