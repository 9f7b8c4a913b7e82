/* The interfaces that host->get_extension hands out, one file each (extension_*.c); all are constant tables. */
#ifndef RKB_STAGE_EXTENSIONS_H
#define RKB_STAGE_EXTENSIONS_H

#include <rkb/draft/asynchronous.h>
#include <rkb/draft/http.h>
#include <rkb/draft/process.h>
#include <rkb/ext/archive.h>
#include <rkb/ext/confined.h>
#include <rkb/ext/conversation.h>
#include <rkb/ext/device.h>
#include <rkb/ext/intermediates.h>
#include <rkb/ext/kernel.h>
#include <rkb/ext/library.h>
#include <rkb/ext/lift.h>
#include <rkb/ext/llm.h>
#include <rkb/ext/prompt.h>
#include <rkb/ext/random.h>
#include <rkb/ext/schedule.h>
#include <rkb/ext/survey.h>
#include <rkb/ext/task.h>
#include <rkb/ext/workers.h>
#include "stage/versioned_structure.h"
#include "stage/runtime.h"

extern const rkb_random_api_t RKB_RANDOM_API;
extern const rkb_archive_api_t RKB_ARCHIVE_API;
extern const rkb_process_api_t RKB_PROCESS_API;
extern const rkb_task_api_t RKB_TASK_API;
extern const rkb_intermediates_api_t RKB_INTERMEDIATES_API;
extern const rkb_kernel_api_t RKB_KERNEL_API;
extern const rkb_survey_api_t RKB_SURVEY_API;
extern const rkb_device_api_t RKB_DEVICE_API;
extern const rkb_http_api_t RKB_HTTP_API;
extern const rkb_library_api_t RKB_LIBRARY_API;
extern const rkb_llm_api_t RKB_LLM_API;
extern const rkb_prompt_api_t RKB_PROMPT_API;
extern const rkb_schedule_api_t RKB_SCHEDULE_API;
extern const rkb_lift_api_t RKB_LIFT_API;
extern const rkb_workers_api_t RKB_WORKERS_API;
extern const rkb_confined_api_t RKB_CONFINED_API;
extern const rkb_conversation_api_t RKB_CONVERSATION_API;
extern const rkb_asynchronous_api_t RKB_ASYNCHRONOUS_API;

/* The extension's table, or NULL where it is not offered.  [any] */
const void *rkb_extension_find(const rkb_runtime_t *runtime, const char *id);

/* Returns RKB_ERR_UNAVAILABLE when an extension in `needs` is not offered; the message names the extension and `use`, the id of
 * the stage or strategy. */
int rkb_extensions_check(const rkb_runtime_t *runtime, const char *use, const char *const *needs, rkb_error_t *err);

/* Kills the child processes that a job started asynchronously.  Blocking calls notice the cancellation themselves.   [loop] */
void rkb_process_cancel_job(rkb_runtime_t *runtime, rkb_job_t job);
/* Ends the HTTP transfers that a job started.  [loop] */
void rkb_http_cancel_job(rkb_runtime_t *runtime, rkb_job_t job);

/* The number that keys a request's random streams: search 0, 1, ...; propose -1, -2, ... */
static inline int64_t rkb_request_key(uint32_t section, int64_t number) {
   return section == RKB_SECTION_PROPOSE ? -1 - number : number;
}

/* The place of a request's work among waiting tasks (system/workers.h): the earlier request goes first.  So the candidates that the
 * strategy waits for are finished before later ones are begun, however wide the window is. */
static inline uint64_t rkb_request_rank(uint32_t section, int64_t number) {
   return (section == RKB_SECTION_PROPOSE ? 1ull : 1ull << 62) + (uint64_t)number;
}

#endif
