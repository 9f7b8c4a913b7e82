/* The task and the device as a prompt shows them (context.h). */
#include <stdlib.h>
#include <string.h>
#include "context.h"

#define MOST_FILE (64u << 10)

/* Reads a text file of the task's directory; malloc'd, or NULL. */
static char *read_file(const char *directory, const char *name) {
   char path[4096], *text = NULL;
   snprintf(path, sizeof path, "%s/%s", directory, name);
   FILE *file = fopen(path, "rb");
   if (!file)
      return NULL;
   text = malloc(MOST_FILE + 1);
   size_t bytes = text ? fread(text, 1, MOST_FILE, file) : 0;
   fclose(file);
   if (text)
      text[bytes] = '\0';
   return text;
}

static const char *dtype_name(uint32_t dtype) {
   static const char *const names[] = {"",      "float16", "bfloat16", "float32",       "float64",    "int32",
                                       "int64", "uint8",   "int8",     "float8_e4m3fn", "float8_e5m2"};
   return dtype < sizeof names / sizeof names[0] ? names[dtype] : "";
}

static const char *role_name(uint32_t role) {
   return role == RKB_IN ? "in" : role == RKB_OUT ? "out" : "in and out";
}

static void add_tensor(char *out, size_t size, const rkb_tensor_t *tensor) {
   size_t used = strlen(out);
   snprintf(out + used, size - used, "\n  %s: %s, %s, shape [", tensor->name, role_name(tensor->role),
            dtype_name(tensor->dtype));
   for (uint32_t i = 0; i < tensor->rank; i++) {
      used = strlen(out);
      snprintf(out + used, size - used, "%s%lld", i ? ", " : "", (long long)tensor->shape[i]);
   }
   used = strlen(out);
   snprintf(out + used, size - used, "]");
}

static void add_case(context_t *context, const rkb_case_t *the_case, int32_t priority) {
   char text[8192];
   snprintf(text, sizeof text, "Case %s:", the_case->name);
   for (uint32_t i = 0; i < the_case->dim_count; i++) {
      size_t used = strlen(text);
      snprintf(text + used, sizeof text - used, " %s = %lld", the_case->dims[i].name,
               (long long)the_case->dims[i].value);
   }
   for (uint32_t i = 0; i < the_case->attribute_count; i++) {
      size_t used = strlen(text);
      snprintf(text + used, sizeof text - used, " %s = %g", the_case->attributes[i].name,
               the_case->attributes[i].value);
   }
   for (uint32_t i = 0; i < the_case->tensor_count; i++)
      add_tensor(text, sizeof text, &the_case->tensors[i]);
   size_t used = strlen(text);
   snprintf(text + used, sizeof text - used, "\n  arithmetic: %.4g operations, least traffic: %.4g bytes",
            the_case->operations, the_case->bytes);
   context_add(context, "task", context_format(context, "%s", text), NULL, priority, false);
}

void context_add_task(context_t *context) {
   const rkb_task_api_t *task = context->services->task;
   if (!task)
      return;
   const rkb_task_info_t *info = task->info(context->host);
   const rkb_case_t *the_case;
   context_add(context, "task",
               context_format(context, "Task %s, direction %s, precision class %s. %s", info->name,
                              info->direction, info->precision, info->summary),
               NULL, 100, false);
   context_add(context, "task", info->reference, "reference.py", 90, true);
   context_add(context, "task", context_keep(context, read_file(info->directory, "task.yaml")), "task.yaml",
               80, true);
   for (uint32_t i = 0; i < 4 && (the_case = task->case_at(context->host, RKB_CASE_BENCH, i)); i++)
      add_case(context, the_case, 70 - (int32_t)i);
   for (uint32_t i = 0; i < 6 && (the_case = task->case_at(context->host, RKB_CASE_CHECK, i)); i++)
      add_case(context, the_case, 50 - (int32_t)i);
}

/* Returns the rates of dense products that the profile has. */
static const char *tensor_rates(context_t *context, const rkb_device_t *device) {
   const struct {
      const char *type;
      double rate;
   } rates[] = {{"tf32", device->tensor_tf32},
                {"fp16", device->tensor_fp16},
                {"bf16", device->tensor_bf16},
                {"fp8", device->tensor_fp8},
                {"int8", device->tensor_int8}};
   char text[256] = "";
   for (size_t n = 0; n < sizeof rates / sizeof *rates; n++) {
      const size_t used = strlen(text);
      if (rates[n].rate > 0)
         snprintf(text + used, sizeof text - used, "%s%s %.0f", used ? ", " : "", rates[n].type,
                  rates[n].rate * 1e-12);
   }
   return text[0] ? context_format(context, " Tensor cores, dense, in 10^12 operations a second: %s.", text)
                  : "";
}

/* Returns what a target of this architecture can copy with: sm_80 and later, sm_90 and later, and sm_90a
 * alone. */
static const char *copy_mechanisms(context_t *context, const rkb_device_t *device) {
   int capability = 0;
   const char *architecture = device->architecture;
   if (strncmp(architecture, "sm_", 3) == 0)
      capability = atoi(architecture + 3);
   if (capability < 80)
      return "";
   const bool hopper = capability == 90 && architecture[strlen(architecture) - 1] == 'a';
   const char *share = device->tensor_mma_share > 0 && device->tensor_mma_share < 1
                          ? context_format(context, " mma.sync reaches %.0f %% of these rates.",
                                           100 * device->tensor_mma_share)
                          : "";
   const char *later =
      capability < 90
         ? ""
         : context_format(
              context,
              " Bulk copies and tensor copies (cp.async.bulk, cp.async.bulk.tensor with `maps:` of the "
              "manifest) complete at mbarriers; clusters of up to %lld blocks share memory and multicast.",
              (long long)device->max_cluster);
   return context_format(
      context, "%s Asynchronous copies of single threads: cp.async. Operands: ldmatrix and mma.sync.%s%s",
      share, later,
      hopper ? " Warpgroups multiply from shared memory: wgmma, with setmaxnreg for roles." : "");
}

void context_add_device(context_t *context) {
   const rkb_device_t *device =
      context->services->kernel ? context->services->kernel->device(context->host) : NULL;
   if (!device)
      return;
   context_add(
      context, "device",
      context_format(
         context,
         "%s (%s): %lld multiprocessors at %.2f GHz; memory %.2f TB/s (a plain copy reaches %.2f), "
         "second-level "
         "cache %.0f MiB; a multiprocessor has %lld KiB of shared memory (a block at most %lld KiB), %lld "
         "registers (a thread at most %lld), up to %lld threads and %lld blocks; %g float32 operations a "
         "clock "
         "each. An empty launch takes %.2f us.%s%s",
         device->title, device->architecture, (long long)device->multiprocessors, device->clock_hz * 1e-9,
         device->memory_bandwidth * 1e-12, device->memory_sustained * 1e-12, device->l2_bytes / 1048576.0,
         (long long)device->shared_per_multiprocessor / 1024,
         (long long)device->shared_per_block_optin / 1024, (long long)device->registers_per_multiprocessor,
         (long long)device->registers_per_thread, (long long)device->threads_per_multiprocessor,
         (long long)device->blocks_per_multiprocessor, device->f32_per_clock, device->launch_floor_s * 1e6,
         tensor_rates(context, device), copy_mechanisms(context, device)),
      NULL, 0, false);
}
