/* What a stage sees of the program: rkb_host_t over jobs, items, log and extensions.  Called from any thread. */
#include <stdlib.h>
#include <string.h>
#include "stage/extensions.h"
#include "stage/instance.h"
#include "stage/item.h"

static void host_log(const rkb_host_t *host, int level, const char *file, int line, const char *text) {
   const rkb_owner_t *owner = rkb_owner_of(host);
   rkb_log_write(owner->core->log, level, host->instance_name, file, line, text ? text : "");
}

static void host_metric(const rkb_host_t *host, const char *name, double value) {
   const rkb_owner_t *owner = rkb_owner_of(host);
   rkb_log_printf(owner->core->log, RKB_LOG_DEBUG, host->instance_name, "%s = %.9g", name, value);
}

/* Counted, so that no instance is destroyed while a call of it is on its way. */
typedef struct posted {
   rkb_owner_t *owner;
   void (*fn)(void *arg);
   void *arg;
} posted_t;

static void run_posted(void *argument) {
   posted_t *posted = argument;
   rkb_owner_t *owner = posted->owner;
   posted->fn(posted->arg);
   free(posted);
   atomic_fetch_sub(&owner->posted, 1);
}

static void host_post(const rkb_host_t *host, void (*fn)(void *arg), void *arg) {
   rkb_owner_t *owner = rkb_owner_of(host);
   posted_t *posted = malloc(sizeof *posted);
   if (!posted)
      abort(); /* post has no way to fail, and a lost call may be one that a job waits for */
   *posted = (posted_t){.owner = owner, .fn = fn, .arg = arg};
   atomic_fetch_add(&owner->posted, 1);
   if (rkb_loop_post(owner->core->loop, run_posted, posted) == RKB_OK)
      return;
   atomic_fetch_sub(&owner->posted, 1);
   free(posted);
   rkb_log_printf(owner->core->log, RKB_LOG_ERROR, host->instance_name,
                  "a post was lost: too many are waiting");
}

static const void *host_get_extension(const rkb_host_t *host, const char *id) {
   const rkb_core_t *core = rkb_owner_of(host)->core;
   if (strcmp(id, RKB_EXT_RANDOM) == 0)
      return &RKB_RANDOM_API;
   if (strcmp(id, RKB_EXT_PROCESS) == 0)
      return &RKB_PROCESS_API;
   if (strcmp(id, RKB_EXT_ARCHIVE) == 0)
      return core->archive ? &RKB_ARCHIVE_API : NULL;
   if (strcmp(id, RKB_EXT_TASK) == 0)
      return core->pipeline->task ? &RKB_TASK_API : NULL;
   if (strcmp(id, RKB_EXT_KERNEL) == 0)
      return core->pipeline->device ? &RKB_KERNEL_API : NULL;
   if (strcmp(id, RKB_EXT_DEVICE) == 0)
      return core->devices ? &RKB_DEVICE_API : NULL;
   if (strcmp(id, RKB_EXT_HTTP) == 0)
      return core->http ? &RKB_HTTP_API : NULL;
   if (strcmp(id, RKB_EXT_LLM) == 0)
      return core->llm ? &RKB_LLM_API : NULL;
   if (strcmp(id, RKB_EXT_PROMPT) == 0)
      return &RKB_PROMPT_API;
   if (strcmp(id, RKB_EXT_WORKERS) == 0)
      return &RKB_WORKERS_API;
   return NULL;
}

static void host_job_emit(const rkb_host_t *host, rkb_job_t job, rkb_item_t *item) {
   rkb_jobs_emit(rkb_owner_of(host)->core->jobs, job, item);
}

static void broke(const rkb_host_t *host, const char *how) {
   const rkb_owner_t *owner = rkb_owner_of(host);
   rkb_log_printf(owner->core->log, RKB_LOG_WARN, host->instance_name, "%s broke the contract: %s",
                  owner->entry->node.use, how);
}

static void host_job_complete(const rkb_host_t *host, rkb_job_t job, int status, const rkb_error_t *err) {
   const rkb_owner_t *owner = rkb_owner_of(host);
   if (!owner->instance || owner->instance->stage->run) {
      broke(host, "it called job_complete, which is for stages with submit");
      return;
   }
   enum rkb_job_answer answer = rkb_jobs_complete(owner->core->jobs, job, owner->instance, status, err);
   if (answer == RKB_JOB_TWICE)
      broke(host, "it completed a job twice; the second time is ignored");
   else if (answer == RKB_JOB_LATE)
      broke(host, "it completed a job that had ended already; that is ignored");
}

static bool host_job_cancelled(const rkb_host_t *host, rkb_job_t job) {
   return rkb_jobs_cancelled(rkb_owner_of(host)->core->jobs, job);
}

static uint64_t host_job_deadline(const rkb_host_t *host, rkb_job_t job) {
   return rkb_jobs_deadline(rkb_owner_of(host)->core->jobs, job);
}

static void mark_stopped(void *argument) {
   ((rkb_instance_t *)argument)->stopped = true;
}

static void host_stage_stopped(const rkb_host_t *host) {
   const rkb_owner_t *owner = rkb_owner_of(host);
   if (owner->instance)
      rkb_loop_post(owner->core->loop, mark_stopped, owner->instance);
}

static rkb_item_t *host_item_new(const rkb_host_t *host, const char *type) {
   (void)host;
   return rkb_item_new(type);
}

static rkb_item_t *host_item_ref(const rkb_host_t *host, const rkb_item_t *item) {
   (void)host;
   return rkb_item_ref(item);
}

static void host_item_unref(const rkb_host_t *host, rkb_item_t *item) {
   (void)host;
   rkb_item_unref(item);
}

static const char *host_item_type(const rkb_host_t *host, const rkb_item_t *item) {
   (void)host;
   return rkb_item_type(item);
}

static int host_item_set_int(const rkb_host_t *host, rkb_item_t *item, const char *key, int64_t value) {
   (void)host;
   return rkb_item_set_int(item, key, value);
}

static bool host_item_int(const rkb_host_t *host, const rkb_item_t *item, const char *key, int64_t *value) {
   (void)host;
   return rkb_item_int(item, key, value);
}

static int host_item_set_real(const rkb_host_t *host, rkb_item_t *item, const char *key, double value) {
   (void)host;
   return rkb_item_set_real(item, key, value);
}

static bool host_item_real(const rkb_host_t *host, const rkb_item_t *item, const char *key, double *value) {
   (void)host;
   return rkb_item_real(item, key, value);
}

static int host_item_set_text(const rkb_host_t *host, rkb_item_t *item, const char *key, const char *text) {
   (void)host;
   return text ? rkb_item_set_text(item, key, text) : RKB_ERR_INVALID;
}

static const char *host_item_text(const rkb_host_t *host, const rkb_item_t *item, const char *key) {
   (void)host;
   return rkb_item_text(item, key);
}

static int host_item_set_json(const rkb_host_t *host, rkb_item_t *item, const char *key, const char *json) {
   (void)host;
   return json ? rkb_item_set_json(item, key, json) : RKB_ERR_INVALID;
}

static const char *host_item_json(const rkb_host_t *host, const rkb_item_t *item, const char *key) {
   (void)host;
   return rkb_item_json(item, key);
}

static int host_item_set_blob(const rkb_host_t *host, rkb_item_t *item, const char *key, const void *data,
                              size_t bytes) {
   (void)host;
   return rkb_item_set_blob(item, key, data, bytes);
}

static const void *host_item_blob(const rkb_host_t *host, const rkb_item_t *item, const char *key,
                                  size_t *bytes) {
   (void)host;
   return rkb_item_blob(item, key, bytes);
}

static int host_item_add_reference(const rkb_host_t *host, rkb_item_t *item, const char *role,
                                   const rkb_item_t *other) {
   (void)host;
   return other ? rkb_item_add_reference(item, role, other) : RKB_ERR_INVALID;
}

static uint32_t host_item_reference_count(const rkb_host_t *host, const rkb_item_t *item, const char *role) {
   (void)host;
   return rkb_item_reference_count(item, role);
}

static const rkb_item_t *host_item_reference(const rkb_host_t *host, const rkb_item_t *item, const char *role,
                                             uint32_t index) {
   (void)host;
   return rkb_item_reference(item, role, index);
}

void rkb_owner_init(rkb_owner_t *owner, rkb_core_t *core, const rkb_entry_t *entry,
                    rkb_instance_t *instance) {
   owner->core = core;
   owner->entry = entry;
   owner->instance = instance;
   owner->host = (rkb_host_t){.size = sizeof owner->host,
                              .abi_major = RKB_ABI_MAJOR,
                              .abi_minor = RKB_ABI_MINOR,
                              .log_level = rkb_log_level(core->log),
                              .instance_name = entry->node.id,
                              .log = host_log,
                              .metric = host_metric,
                              .post = host_post,
                              .get_extension = host_get_extension,
                              .job_emit = host_job_emit,
                              .job_complete = host_job_complete,
                              .job_cancelled = host_job_cancelled,
                              .job_deadline = host_job_deadline,
                              .stage_stopped = host_stage_stopped,
                              .item_new = host_item_new,
                              .item_ref = host_item_ref,
                              .item_unref = host_item_unref,
                              .item_type = host_item_type,
                              .item_set_int = host_item_set_int,
                              .item_int = host_item_int,
                              .item_set_real = host_item_set_real,
                              .item_real = host_item_real,
                              .item_set_text = host_item_set_text,
                              .item_text = host_item_text,
                              .item_set_json = host_item_set_json,
                              .item_json = host_item_json,
                              .item_set_blob = host_item_set_blob,
                              .item_blob = host_item_blob,
                              .item_add_reference = host_item_add_reference,
                              .item_reference_count = host_item_reference_count,
                              .item_reference = host_item_reference};
}
