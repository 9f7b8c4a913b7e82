/* Implements rkb_host_t, the interface through which a stage uses jobs, items, the log and extensions.  Any thread. */
#include "stage/extensions.h"
#include "stage/instance.h"
#include "stage/item.h"

static void host_log(const rkb_host_t *host, int level, const char *file, int line, const char *text) {
   const rkb_owner_t *owner = rkb_owner_of(host);
   rkb_log_write(owner->runtime->log, level, host->instance_name, file, line, text ? text : "");
}

static const void *host_get_extension(const rkb_host_t *host, const char *id) {
   return rkb_extension_find(rkb_owner_of(host)->runtime, id);
}

static void host_job_emit(const rkb_host_t *host, rkb_job_t job, rkb_item_t *item) {
   rkb_jobs_emit(rkb_owner_of(host)->runtime->jobs, job, item);
}

static bool host_job_cancelled(const rkb_host_t *host, rkb_job_t job) {
   return rkb_jobs_cancelled(rkb_owner_of(host)->runtime->jobs, job);
}

static uint64_t host_job_deadline(const rkb_host_t *host, rkb_job_t job) {
   return rkb_jobs_deadline(rkb_owner_of(host)->runtime->jobs, job);
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

void rkb_owner_init(rkb_owner_t *owner, rkb_runtime_t *runtime, const rkb_entry_t *entry,
                    rkb_instance_t *instance) {
   owner->runtime = runtime;
   owner->entry = entry;
   owner->instance = instance;
   owner->host = (rkb_host_t){.size = sizeof owner->host,
                              .abi_major = RKB_ABI_MAJOR,
                              .abi_minor = RKB_ABI_MINOR,
                              .log_level = rkb_log_level(runtime->log),
                              .instance_name = entry->node.id,
                              .log = host_log,
                              .get_extension = host_get_extension,
                              .job_emit = host_job_emit,
                              .job_cancelled = host_job_cancelled,
                              .job_deadline = host_job_deadline,
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
