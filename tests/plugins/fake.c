/* The host behind tests of single plugins.  One thread. */
#include "fake.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "stage/item.h"
#include "kernel/kernel.h"

static fake_t *fake_of(const rkb_host_t *host) {
   return (fake_t *)host;
}

/* Host ----------------------------------------------------------------------------------------- */

static void fake_log(const rkb_host_t *host, int level, const char *file, int line, const char *text) {
   fake_t *fake = fake_of(host);
   const size_t held = strlen(fake->logged);
   (void)level, (void)file, (void)line;
   snprintf(fake->logged + held, sizeof fake->logged - held, "%s\n", text);
}

static void fake_emit(const rkb_host_t *host, rkb_job_t job, rkb_item_t *item) {
   fake_t *fake = fake_of(host);
   (void)job;
   assert_true(fake->emitted_count < FAKE_EMITTED);
   fake->emitted[fake->emitted_count++] = item;
}

static bool fake_cancelled(const rkb_host_t *host, rkb_job_t job) {
   (void)host, (void)job;
   return false;
}

#define OF_ITEM(type, name, parameters, call)                                                                \
   static type fake_##name parameters {                                                                      \
      (void)host;                                                                                            \
      return call;                                                                                           \
   }
OF_ITEM(rkb_item_t *, item_new, (const rkb_host_t *host, const char *type), rkb_item_new(type))
OF_ITEM(rkb_item_t *, item_ref, (const rkb_host_t *host, const rkb_item_t *item), rkb_item_ref(item))
OF_ITEM(void, item_unref, (const rkb_host_t *host, rkb_item_t *item), rkb_item_unref(item))
OF_ITEM(int, set_int, (const rkb_host_t *host, rkb_item_t *item, const char *key, int64_t value),
        rkb_item_set_int(item, key, value))
OF_ITEM(bool, get_int, (const rkb_host_t *host, const rkb_item_t *item, const char *key, int64_t *value),
        rkb_item_int(item, key, value))
OF_ITEM(int, set_text, (const rkb_host_t *host, rkb_item_t *item, const char *key, const char *text),
        rkb_item_set_text(item, key, text))
OF_ITEM(const char *, get_text, (const rkb_host_t *host, const rkb_item_t *item, const char *key),
        rkb_item_text(item, key))
OF_ITEM(int, set_json, (const rkb_host_t *host, rkb_item_t *item, const char *key, const char *json),
        rkb_item_set_json(item, key, json))
OF_ITEM(const char *, get_json, (const rkb_host_t *host, const rkb_item_t *item, const char *key),
        rkb_item_json(item, key))
OF_ITEM(int, add_reference,
        (const rkb_host_t *host, rkb_item_t *item, const char *role, const rkb_item_t *other),
        rkb_item_add_reference(item, role, other))
OF_ITEM(uint32_t, reference_count, (const rkb_host_t *host, const rkb_item_t *item, const char *role),
        rkb_item_reference_count(item, role))
OF_ITEM(const rkb_item_t *, reference,
        (const rkb_host_t *host, const rkb_item_t *item, const char *role, uint32_t index),
        rkb_item_reference(item, role, index))

/* Extensions ------------------------------------------------------------------------------------- */

static rkb_random_t stream_for_job(const rkb_host_t *host, rkb_job_t job, uint32_t child) {
   fake_t *fake = fake_of(host);
   (void)job;
   return rkb_random_stream(fake->seed, "under-test", fake->number, child);
}

static const rkb_random_api_t RANDOM = {.size = sizeof RANDOM,
                                        .for_job = stream_for_job,
                                        .next = rkb_random_next,
                                        .below = rkb_random_below,
                                        .real = rkb_random_real,
                                        .normal = rkb_random_normal};

static int parse_manifest(const rkb_host_t *host, const char *source, rkb_manifest_t **manifest,
                          rkb_finding_t *finding, rkb_error_t *err) {
   (void)host, (void)err;
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   *manifest = rkb_manifest_parse("test.cu", source, strlen(source), &problems);
   if (!*manifest)
      snprintf(finding->reason, sizeof finding->reason, "plan.manifest");
   rkb_problems_free(&problems);
   return RKB_OK;
}

static const rkb_kernel_api_t KERNEL = {.size = sizeof KERNEL,
                                        .tokens = rkb_tokens_new,
                                        .tokens_at = rkb_tokens_at,
                                        .tokens_free = rkb_tokens_free,
                                        .manifest = parse_manifest,
                                        .manifest_free = rkb_manifest_free};

static int query_rows(const rkb_host_t *host, rkb_job_t job, const rkb_archive_query_t *query,
                      rkb_archive_rows_t **rows, rkb_error_t *err) {
   fake_t *fake = fake_of(host);
   (void)job, (void)err;
   fake->found_count = 0;
   for (uint32_t i = 0; i < fake->row_count; i++)
      if (!query->source_hash || strcmp(fake->rows[i].source_hash, query->source_hash) == 0)
         fake->found[fake->found_count++] = i;
   *rows = (rkb_archive_rows_t *)fake;
   return RKB_OK;
}

static uint32_t rows_count(const rkb_archive_rows_t *rows) {
   return ((const fake_t *)rows)->found_count;
}

static const rkb_archive_row_t *rows_at(const rkb_archive_rows_t *rows, uint32_t index) {
   const fake_t *fake = (const fake_t *)rows;
   return &fake->rows[fake->found[index]];
}

static void rows_free(rkb_archive_rows_t *rows) {
   (void)rows;
}

static const rkb_archive_api_t ARCHIVE = {.size = sizeof ARCHIVE,
                                          .query = query_rows,
                                          .rows_count = rows_count,
                                          .rows_at = rows_at,
                                          .rows_free = rows_free};

static const rkb_task_info_t *task_info(const rkb_host_t *host) {
   return &fake_of(host)->task;
}

static const rkb_case_t *task_case(const rkb_host_t *host, uint32_t kind, uint32_t index) {
   (void)kind;
   return index == 0 ? &fake_of(host)->a_case : NULL;
}

static const rkb_task_api_t TASK = {.size = sizeof TASK, .info = task_info, .case_at = task_case};

static const void *get_extension(const rkb_host_t *host, const char *id) {
   (void)host;
   if (strcmp(id, RKB_EXT_RANDOM) == 0)
      return &RANDOM;
   if (strcmp(id, RKB_EXT_KERNEL) == 0)
      return &KERNEL;
   if (strcmp(id, RKB_EXT_ARCHIVE) == 0)
      return &ARCHIVE;
   return strcmp(id, RKB_EXT_TASK) == 0 ? &TASK : NULL;
}

/* Options ------------------------------------------------------------------------------------------ */

static const char *setting(const rkb_option_t *option, const char *const *settings) {
   size_t length = strlen(option->name);
   for (uint32_t i = 0; settings && settings[i]; i++)
      if (strncmp(settings[i], option->name, length) == 0 && settings[i][length] == '=')
         return settings[i] + length + 1;
   return option->fallback;
}

/* strings: room behind the config for a list of one text. */
static void fill_option(char *config, const rkb_option_t *option, const char *text, const char **strings) {
   void *at = config + option->offset;
   if (!text)
      return;
   switch (option->type) {
   case RKB_OPT_BOOL:
      *(bool *)at = strcmp(text, "true") == 0;
      break;
   case RKB_OPT_INT:
      *(int64_t *)at = strtoll(text, NULL, 10);
      break;
   case RKB_OPT_REAL:
      *(double *)at = strtod(text, NULL);
      break;
   case RKB_OPT_STRING:
   case RKB_OPT_PATH:
   case RKB_OPT_ENUM:
      *(const char **)at = text;
      break;
   case RKB_OPT_STRINGS:
      strings[0] = text;
      *(const char *const **)at = strings;
      break;
   default:
      fail_msg("the test host cannot fill option %s", option->name);
   }
}

static void *make_config(size_t size, const rkb_option_t *options, uint32_t count,
                         const char *const *settings) {
   const size_t strings = (size + sizeof(char *) - 1) / sizeof(char *); /* where the lists begin, in pointers */
   const char **config = calloc(strings + 2 * count + 1, sizeof *config);
   assert_non_null(config);
   for (uint32_t i = 0; i < count; i++)
      fill_option((char *)config, &options[i], setting(&options[i], settings), config + strings + (size_t)2 * i);
   return config;
}

/* Life --------------------------------------------------------------------------------------------- */

void fake_open(fake_t *fake, const char *plugin) {
   char path[1024];
   *fake = (fake_t){.host = {.size = sizeof fake->host,
                             .abi_major = RKB_ABI_MAJOR,
                             .abi_minor = RKB_ABI_MINOR,
                             .log_level = RKB_LOG_WARN,
                             .instance_name = "under-test",
                             .log = fake_log,
                             .get_extension = get_extension,
                             .job_emit = fake_emit,
                             .job_cancelled = fake_cancelled,
                             .item_new = fake_item_new,
                             .item_ref = fake_item_ref,
                             .item_unref = fake_item_unref,
                             .item_set_int = fake_set_int,
                             .item_int = fake_get_int,
                             .item_set_text = fake_set_text,
                             .item_text = fake_get_text,
                             .item_set_json = fake_set_json,
                             .item_json = fake_get_json,
                             .item_add_reference = fake_add_reference,
                             .item_reference_count = fake_reference_count,
                             .item_reference = fake_reference}};
   fake->task = (rkb_task_info_t){.name = "task",
                                  .direction = "forward",
                                  .summary = "",
                                  .precision = "fp32",
                                  .directory = RKB_SOURCE_DIR "/tasks/llama_rmsnorm",
                                  .reference = ""};
   fake->a_case = (rkb_case_t){.name = "check/one", .kind = RKB_CASE_CHECK, .tensors = fake->tensors};
   snprintf(path, sizeof path, "%s/plugins/%s.so", RKB_BINARY_DIR, plugin);
   fake->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
   if (!fake->object)
      fail_msg("%s", dlerror());
   const rkb_plugin_t *entry = dlsym(fake->object, "rkb_plugin_entry");
   assert_non_null(entry);
   fake->stage = entry->stages ? entry->stages[0] : NULL;
   fake->strategy = entry->strategies ? entry->strategies[0] : NULL;
}

void fake_start(fake_t *fake, const char *const *settings) {
   const rkb_stage_t *stage = fake->stage;
   fake->config = make_config(stage->config_size, stage->options, stage->option_count, settings);
   int status = stage->create(&fake->host, fake->config, &fake->self, &fake->error);
   if (status != RKB_OK)
      fail_msg("%s", fake->error.message);
}

void fake_start_strategy(fake_t *fake, const char *const *settings, const rkb_setup_t *setup) {
   const rkb_strategy_t *strategy = fake->strategy;
   fake->config = make_config(strategy->config_size, strategy->options, strategy->option_count, settings);
   rkb_random_t stream = rkb_random_stream(fake->seed, "strategy", 0, 0);
   int status = strategy->create(&fake->host, fake->config, setup, stream, &fake->self, &fake->error);
   if (status != RKB_OK)
      fail_msg("%s", fake->error.message);
}

static void drop_emitted(fake_t *fake) {
   for (uint32_t i = 0; i < fake->emitted_count; i++)
      rkb_item_unref(fake->emitted[i]);
   fake->emitted_count = 0;
}

void fake_close(fake_t *fake) {
   drop_emitted(fake);
   if (fake->self && fake->stage)
      fake->stage->destroy(fake->self);
   if (fake->self && fake->strategy)
      fake->strategy->destroy(fake->self);
   free(fake->config);
}

rkb_item_t *fake_candidate(fake_t *fake, int64_t number, const char *source, const char *tune) {
   (void)fake;
   rkb_item_t *item = rkb_item_new(RKB_ITEM_CANDIDATE);
   assert_non_null(item);
   rkb_item_set_int(item, "number", number);
   rkb_item_set_text(item, "source", source);
   assert_int_equal(rkb_item_set_json(item, "tune", tune), RKB_OK);
   return item;
}

rkb_item_t *fake_request(fake_t *fake, const char *section, int64_t number, const char *hints,
                         rkb_item_t *const *parents, uint32_t parent_count) {
   rkb_item_t *item = rkb_item_new(RKB_ITEM_REQUEST);
   assert_non_null(item);
   fake->number = number;
   rkb_item_set_int(item, "number", number);
   rkb_item_set_text(item, "section", section);
   if (hints)
      assert_int_equal(rkb_item_set_json(item, "hints", hints), RKB_OK);
   for (uint32_t i = 0; i < parent_count; i++)
      rkb_item_add_reference(item, "parent", parents[i]);
   return item;
}

void fake_drop(rkb_item_t *item) {
   rkb_item_unref(item);
}

int fake_run(fake_t *fake, const rkb_item_t *in) {
   drop_emitted(fake);
   fake->error = (rkb_error_t){0};
   return fake->stage->run(fake->self, 1, in, &fake->error);
}

int fake_run_parent(fake_t *fake, int64_t number, const char *hints, const char *source, const char *tune) {
   rkb_item_t *parent = fake_candidate(fake, 1, source, tune);
   rkb_item_t *request = fake_request(fake, "search", number, hints, &parent, 1);
   int status = fake_run(fake, request);
   fake_drop(request);
   fake_drop(parent);
   return status;
}

const char *fake_text(const fake_t *fake, uint32_t emitted, const char *key) {
   assert_true(emitted < fake->emitted_count);
   return rkb_item_text(fake->emitted[emitted], key);
}

const char *fake_json(const fake_t *fake, uint32_t emitted, const char *key) {
   assert_true(emitted < fake->emitted_count);
   return rkb_item_json(fake->emitted[emitted], key);
}

char *fake_read(const char *path) {
   char whole[1024];
   snprintf(whole, sizeof whole, "%s/%s", RKB_SOURCE_DIR, path);
   FILE *file = fopen(whole, "rb");
   if (!file)
      fail_msg("cannot read %s", whole);
   char *data = calloc(1, 300 * 1024);
   assert_non_null(data);
   size_t bytes = fread(data, 1, 300 * 1024 - 1, file);
   assert_true(bytes > 0);
   fclose(file);
   return data;
}
