/* rkb/plugin.h - what every plugin includes: status, errors, options, stages, items, the host.
 *
 * A plugin is a shared object that exports one constant, rkb_plugin_entry.  The constant lists the
 * stages (and strategies, rkb/strategy.h) that the object provides; the core reads it, lists them
 * and checks a pipeline's wiring and options against it without running a line of the plugin's code.
 *
 * Threads.  Every function pointer below carries a tag that says where it is called from:
 *
 *   [loop]    the one thread that runs the event loop.  Must return promptly; never block.
 *   [worker]  a thread of the core's worker pool.  May block.  Calls for one stage instance can run
 *             at the same time on several workers unless the stage sets RKB_STAGE_SERIAL.
 *   [any]     any thread, including ones the plugin started.
 *
 * Memory.  A pointer handed to you is borrowed: valid until the call returns, unless the comment
 * says "until destroy" or "owned".  A function named *_new or *_ref returns something you own and
 * release with the matching *_unref.  Nothing allocated on one side is freed by the other.
 *
 * Growth.  A program loads a plugin of its own major whose minor is no higher than the program's.
 * Within a major, structures that start with their size gain members at the end and change in no
 * other way; structures without a size (rkb_error_t, rkb_option_t, rkb_prompt_t, rkb_table_list_t,
 * rkb_operator_t) do not change.  The core never reads past the size a plugin was compiled with, and a plugin
 * checks RKB_HAS before it uses a host member newer than the minor it asks for.  Larger features
 * arrive as extensions, requested by name ("rkb.kernel/1"), not as new members here; one that no
 * shipped plugin uses yet is a draft, under rkb/draft/.
 */
#ifndef RKB_PLUGIN_H
#define RKB_PLUGIN_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKB_ABI_MAJOR 1
#define RKB_ABI_MINOR 1
/* The oldest minor whose programs may load the plugin.  A plugin that is to run in older programs defines it before it includes
 * this header, and then checks RKB_HAS before it uses a host member that is newer. */
#ifndef RKB_ABI_MINIMUM
#define RKB_ABI_MINIMUM RKB_ABI_MINOR
#endif

#define RKB_EXPORT __attribute__((visibility("default")))
#define RKB_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define RKB_HAS(ptr, member) ((ptr)->size >= offsetof(__typeof__(*(ptr)), member) + sizeof((ptr)->member))

/* Status -------------------------------------------------------------------------------------
 *
 * 0 is success, negative is failure.  A status says that the stage could or could not do its work;
 * it never says that a candidate kernel is wrong or slow.  Verdicts are data: emit them.
 */
#define RKB_STATUS_MAP(XX)                                                                                   \
   XX(OK, 0, "ok")                                                                                           \
   XX(ERR_INVALID, -1, "invalid argument or configuration")                                                  \
   XX(ERR_NOMEM, -2, "out of memory")                                                                        \
   XX(ERR_CANCELLED, -3, "cancelled")                                                                        \
   XX(ERR_TIMEOUT, -4, "deadline passed")                                                                    \
   XX(ERR_UNAVAILABLE, -5, "a service, tool or device is missing; may be retried")                           \
   XX(ERR_IO, -6, "input or output failed")                                                                  \
   XX(ERR_CONTRACT, -7, "the plugin broke the interface contract")                                           \
   XX(ERR_INTERNAL, -8, "internal error")                                                                    \
   XX(ERR_LIMIT, -9, "a stated limit was reached")

enum rkb_status {
#define RKB_X(name, value, text) RKB_##name = value,
   RKB_STATUS_MAP(RKB_X)
#undef RKB_X
};

/* Filled by the callee on failure; the caller owns the storage, so there is nothing to free.
 * The one structure that will never grow: 512 bytes, written from both sides. */
typedef struct rkb_error {
   int32_t status;    /* enum rkb_status */
   char option[60];   /* offending option, or ""; the core adds file, line and column */
   char message[448]; /* one sentence, no trailing newline */
} rkb_error_t;

typedef struct rkb_host rkb_host_t;
typedef struct rkb_item rkb_item_t; /* immutable once emitted; reference counted */

/* One input item on its way through one stage.  A number (slot and generation), never an address,
 * so that a late or a second completion is always recognised.  0 is no job. */
typedef uint64_t rkb_job_t;

enum rkb_log_level { RKB_LOG_TRACE, RKB_LOG_DEBUG, RKB_LOG_INFO, RKB_LOG_WARN, RKB_LOG_ERROR };

/* Options ------------------------------------------------------------------------------------
 *
 * The core validates a stage's YAML mapping against this table, reports every problem with its
 * file, line and column, and writes the values into a zeroed config struct at the given offsets.
 * Text written there is valid until destroy.
 */
enum rkb_option_type {
   RKB_OPT_BOOL,     /* bool */
   RKB_OPT_INT,      /* int64_t */
   RKB_OPT_REAL,     /* double */
   RKB_OPT_STRING,   /* const char * */
   RKB_OPT_PATH,     /* const char *, made absolute against the pipeline file */
   RKB_OPT_DURATION, /* uint64_t nanoseconds; written "250ms", "30s", "5m" */
   RKB_OPT_BYTES,    /* uint64_t; written "64KiB" */
   RKB_OPT_ENUM,     /* const char *, one of choices */
   RKB_OPT_STRINGS,  /* const char *const *, NULL-terminated */
   RKB_OPT_PROMPT,   /* rkb_prompt_t: a file, made absolute, read and hashed when the pipeline loads */
   RKB_OPT_MODEL,    /* const char *, a name under the pipeline's "models:" */
   RKB_OPT_TABLE,    /* one nested struct, laid out by members / member_count / member_size */
   RKB_OPT_TABLES    /* rkb_table_list_t: an array of such structs */
};

enum rkb_option_flags {
   RKB_OPT_REQUIRED = 1u << 0,
   RKB_OPT_SECRET = 1u << 1, /* RKB_OPT_STRING given as {env: NAME} or {file: PATH}; never logged or stored */
   RKB_OPT_DEPRECATED = 1u << 2 /* accepted with a warning; help says what to use instead */
};

typedef struct rkb_prompt {
   const char *path; /* absolute */
   const char *text; /* the whole file, NUL-terminated */
   const char *hash; /* 64 hex digits of SHA-256 over the text */
} rkb_prompt_t;

typedef struct rkb_table_list {
   const void *rows; /* count structs of member_size bytes each */
   uint64_t count;
} rkb_table_list_t;

typedef struct rkb_option {
   const char *name;     /* lower_snake_case, as written in YAML */
   uint32_t type;        /* enum rkb_option_type */
   uint32_t flags;       /* enum rkb_option_flags */
   size_t offset;        /* into the config struct, or into the row for a table's members */
   const char *fallback; /* default in YAML spelling, or NULL */
   const char *help;     /* one sentence; shown by "rkb help <stage>" */
   double min, max;      /* inclusive; ignored when equal */
   /* NULL-terminated; of RKB_OPT_ENUM, and the slots that a stage fills of RKB_OPT_PROMPT */
   const char *const *choices;
   /* RKB_OPT_TABLE and RKB_OPT_TABLES; nesting is at most 3 deep. */
   const struct rkb_option *members;
   uint32_t member_count;
   uint32_t member_size; /* sizeof the nested struct */
} rkb_option_t;

/* Stage --------------------------------------------------------------------------------------*/

enum rkb_kind { RKB_TRANSLATOR = 1, RKB_VERIFIER, RKB_MUTATOR, RKB_PROFILER, RKB_STRATEGY };

enum rkb_stage_flags {
   RKB_STAGE_SERIAL = 1u << 0,        /* at most one job at a time */
   RKB_STAGE_EXCLUSIVE_GPU = 1u << 1, /* hold a device lease while a job runs */
   RKB_STAGE_NEEDS_BUILD = 1u << 2,   /* the core builds the candidate before the first such stage */
   RKB_STAGE_EXECUTES = 1u << 3,      /* a verifier that runs the candidate, on a CPU or a device */
   RKB_STAGE_DETERMINISTIC = 1u << 4, /* same seed, request and input: same items, times apart */
   RKB_STAGE_WAITS = 1u << 5 /* run mostly waits, for a model say: on a thread that is no core's worker */
};

typedef struct rkb_stage {
   uint32_t size;
   uint32_t kind;  /* enum rkb_kind, RKB_TRANSLATOR to RKB_PROFILER */
   uint32_t flags; /* enum rkb_stage_flags */
   uint32_t reserved;
   const char *id; /* unique, "<owner>.<kind>.<name>", e.g. "rkb.verifier.machine" */
   const char *summary;
   const char *const *accepts;  /* item types taken, NULL-terminated */
   const char *const *emits;    /* item types produced, NULL-terminated */
   const char *const *measures; /* verifiers and profilers: names of the measurements emitted, or NULL */

   const rkb_option_t *options;
   uint32_t option_count;
   uint32_t option_size; /* sizeof(rkb_option_t) at compile time: the table's stride */
   size_t config_size;

   /* Makes an instance.  config and host stay valid until destroy returns.  Cheap: no device, no
    * I/O that can take long.  On failure leaves *self alone.  [loop] */
   int (*create)(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err);

   /* Does one job and returns how that went.  Long work polls job_cancelled and ends with RKB_ERR_CANCELLED.  [worker] */
   int (*run)(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err);

   void (*destroy)(void *self); /* [loop] */

   /* Since 1.1.  Extensions that the stage cannot do without, NULL-terminated, or NULL: create is called only where all are
    * offered, and get_extension gives each of them.  Where one is not, the core says which, to whom, and what to do. */
   const char *const *needs;
} rkb_stage_t;

/* Plugin -------------------------------------------------------------------------------------*/

#define RKB_PLUGIN_MAGIC 0x31424b52u /* "RKB1" */

struct rkb_strategy; /* rkb/strategy.h */

/* The first four members keep their place for ever; they are what makes the rest readable. */
typedef struct rkb_plugin {
   uint32_t magic;
   uint16_t abi_major;
   uint16_t abi_minor; /* the least it needs of the program */
   uint32_t size;
   uint32_t flags; /* 0 */
   const char *name;
   const char *version;
   const rkb_stage_t *const *stages;             /* NULL-terminated, or NULL */
   const struct rkb_strategy *const *strategies; /* NULL-terminated, or NULL */
} rkb_plugin_t;

#define RKB_PLUGIN_HEAD RKB_PLUGIN_MAGIC, RKB_ABI_MAJOR, RKB_ABI_MINIMUM, sizeof(rkb_plugin_t), 0

extern RKB_EXPORT const rkb_plugin_t rkb_plugin_entry;

/* Host ---------------------------------------------------------------------------------------*/

/* One per stage instance, so that logs are attributed without the stage saying who it
 * is.  Valid from create until destroy returns. */
struct rkb_host {
   uint32_t size;
   uint16_t abi_major;
   uint16_t abi_minor;
   int32_t log_level; /* enum rkb_log_level; lower levels are dropped */
   uint32_t reserved;
   const char *instance_name; /* the stage's id in the pipeline file, e.g. "machine" */

   void (*log)(const rkb_host_t *host, int level, const char *file, int line, const char *text); /* [any] */

   /* An extension's interface, valid until destroy, or NULL; never NULL for one that the stage lists
    * in needs.  Ask in create or later.  [any] */
   const void *(*get_extension)(const rkb_host_t *host, const char *id);

   /* Jobs.  Items emitted are delivered together, when the job completes with RKB_OK, and dropped
    * otherwise.  job_deadline is in nanoseconds of CLOCK_MONOTONIC, 0 for none.  [any] */
   void (*job_emit)(const rkb_host_t *host, rkb_job_t job, rkb_item_t *item /* owned */);
   bool (*job_cancelled)(const rkb_host_t *host, rkb_job_t job);
   uint64_t (*job_deadline)(const rkb_host_t *host, rkb_job_t job);

   /* Items: a type name and a flat set of named values; rkb/items.h lists types and keys.  Setters
    * are for items not yet emitted; setting a key again replaces its value.  Text, JSON and blobs
    * are copied in; what a getter returns lives as long as the item.  Setters return RKB_OK,
    * RKB_ERR_INVALID (JSON that does not parse) or RKB_ERR_LIMIT (over 4 MiB a value).  Getters return false or
    * NULL when the key is absent or has another kind.  [any] */
   rkb_item_t *(*item_new)(const rkb_host_t *host, const char *type);
   rkb_item_t *(*item_ref)(const rkb_host_t *host, const rkb_item_t *item);
   void (*item_unref)(const rkb_host_t *host, rkb_item_t *item);
   const char *(*item_type)(const rkb_host_t *host, const rkb_item_t *item);
   int (*item_set_int)(const rkb_host_t *host, rkb_item_t *item, const char *key, int64_t value);
   bool (*item_int)(const rkb_host_t *host, const rkb_item_t *item, const char *key, int64_t *value);
   int (*item_set_real)(const rkb_host_t *host, rkb_item_t *item, const char *key, double value);
   bool (*item_real)(const rkb_host_t *host, const rkb_item_t *item, const char *key, double *value);
   int (*item_set_text)(const rkb_host_t *host, rkb_item_t *item, const char *key, const char *text);
   const char *(*item_text)(const rkb_host_t *host, const rkb_item_t *item, const char *key);
   int (*item_set_json)(const rkb_host_t *host, rkb_item_t *item, const char *key, const char *json);
   const char *(*item_json)(const rkb_host_t *host, const rkb_item_t *item, const char *key);
   int (*item_set_blob)(const rkb_host_t *host, rkb_item_t *item, const char *key, const void *data,
                        size_t bytes);
   const void *(*item_blob)(const rkb_host_t *host, const rkb_item_t *item, const char *key, size_t *bytes);

   /* References to other items by role ("parent", "request"); several may share a role and keep
    * the order they were added in.  The item keeps its own reference to each. */
   int (*item_add_reference)(const rkb_host_t *host, rkb_item_t *item, const char *role,
                             const rkb_item_t *other);
   uint32_t (*item_reference_count)(const rkb_host_t *host, const rkb_item_t *item, const char *role);
   const rkb_item_t *(*item_reference)(const rkb_host_t *host, const rkb_item_t *item, const char *role,
                                       uint32_t index);
};

/* Conveniences: compiled into the plugin, no part of the ABI ---------------------------------*/

static inline RKB_PRINTF(3, 4) int rkb_fail(rkb_error_t *err, int status, const char *fmt, ...) {
   if (err) {
      va_list ap;
      va_start(ap, fmt);
      err->status = status;
      err->option[0] = '\0';
      vsnprintf(err->message, sizeof err->message, fmt, ap);
      va_end(ap);
   }
   return status;
}

static inline RKB_PRINTF(3, 4) int rkb_fail_option(rkb_error_t *err, const char *option, const char *fmt,
                                                   ...) {
   if (err) {
      va_list ap;
      va_start(ap, fmt);
      err->status = RKB_ERR_INVALID;
      snprintf(err->option, sizeof err->option, "%s", option);
      vsnprintf(err->message, sizeof err->message, fmt, ap);
      va_end(ap);
   }
   return RKB_ERR_INVALID;
}

static inline RKB_PRINTF(5, 6) void rkb_logf(const rkb_host_t *host, int level, const char *file, int line,
                                             const char *fmt, ...) {
   char text[1024];
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(text, sizeof text, fmt, ap);
   va_end(ap);
   host->log(host, level, file, line, text);
}

#define RKB_LOG(host, level, ...)                                                                            \
   ((level) < (host)->log_level ? (void)0 : rkb_logf((host), (level), __FILE__, __LINE__, __VA_ARGS__))
#define rkb_info(host, ...) RKB_LOG(host, RKB_LOG_INFO, __VA_ARGS__)
#define rkb_warn(host, ...) RKB_LOG(host, RKB_LOG_WARN, __VA_ARGS__)

/* The three members that describe an option table, for a stage's initialiser: by name in C, by
 * position in C++ (where the members before it are given by position too). */
#define RKB_OPTIONS(table)                                                                                   \
   .options = (table), .option_count = (uint32_t)(sizeof(table) / sizeof((table)[0])),                       \
   .option_size = sizeof((table)[0])
#define RKB_OPTIONS_INIT(table)                                                                              \
   (table), (uint32_t)(sizeof(table) / sizeof((table)[0])), (uint32_t)sizeof((table)[0])

#ifdef __cplusplus
}
#endif
#endif
