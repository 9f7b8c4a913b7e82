/* Builds what the bench cases of the pipeline's task launch, and no more.  A kernel has variants for shapes that no bench case has; most of a compile is
 * for these, and for the assembler.  Owns nothing; any worker. */
#include "stage/launched_build.h"

#include <stdlib.h>
#include "base/memory.h"
#include "stage/named_case.h"
#include "task/task.h"

int rkb_bench_build(const rkb_runtime_t *runtime, const rkb_source_t *source, const char *tune_json,
                    bool (*cancelled)(void *), void *argument, rkb_build_t **build, rkb_finding_t *finding,
                    rkb_error_t *err) {
   const rkb_pipeline_t *pipeline = runtime->pipeline;
   const rkb_case_t *the_case;
   int status = RKB_OK;
   *build = NULL;
   if (!source->manifest) /* without launches to choose from, the whole build says what is wrong */
      return rkb_build_source(runtime->compilers, pipeline->device, source, tune_json, 0, cancelled, argument,
                              build, NULL, finding, err);
   bool *launched = rkb_allocate(source->manifest->launch_count + 1, sizeof *launched);
   for (uint32_t i = 0; status == RKB_OK && !finding->reason[0] &&
                        (the_case = rkb_task_case(pipeline->task, RKB_CASE_BENCH, i)) != NULL;
        i++) {
      named_case_t at = {.task = pipeline->task, .the_case = the_case};
      status = rkb_plan_mark_launched(source->manifest, tune_json, pipeline->device, the_case,
                                      named_case_lookup, &at, launched, finding, err);
   }
   if (status == RKB_OK && !finding->reason[0])
      status = rkb_build_launched(runtime->compilers, pipeline->device, source, tune_json, launched,
                                  cancelled, argument, build, finding, err);
   free(launched);
   return status;
}
