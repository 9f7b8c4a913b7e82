/* Looks for compilers, drivers, plugins and data.  Only the main thread; starts a compiler process and
 * Python. */
#include "cli/shared/installed_tools.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "base/file.h"
#include "base/private_folder.h"
#include "pipeline/pipeline.h"
#include "kernel/kernel.h"
#include "lift/parser_call.h"
#include "stage/confined/confined.h"
#include "system/process.h"
#include "task/python.h"

static void look_for_compiler(rkb_tool_report_t *report) {
   const rkb_compilers_config_t config = {.processes = 1, .cache_directory = ""};
   rkb_compilers_t *compilers = NULL;
   rkb_error_t err;
   char version[64], path[256];
   int status = rkb_compilers_open(&config, &compilers, &err);
   if (status == RKB_OK)
      status = rkb_compilers_toolkit(compilers, version, sizeof version, path, sizeof path, &err);
   report->found = status == RKB_OK;
   if (status == RKB_OK)
      snprintf(report->detail, sizeof report->detail, "%s, %s", version, path);
   else
      snprintf(report->detail, sizeof report->detail, "%s", err.message);
   rkb_compilers_close(compilers);
}

/* layers: "capabilities no-landlock seccomp".  Found when none is missing. */
static void tell_layers(const char *layers, rkb_tool_report_t *report) {
   static const char *const names[] = {"capabilities", "landlock", "seccomp"};
   char absent[32];
   rkb_text_t missing;
   rkb_text_init(&missing, sizeof report->detail);
   for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
      snprintf(absent, sizeof absent, "no-%s", names[i]);
      if (strstr(layers, absent))
         rkb_text_format(&missing, "%s%s", missing.length ? ", " : "it goes without ", names[i]);
   }
   report->found = missing.length == 0;
   snprintf(report->detail, sizeof report->detail, "%s", report->found ? layers : rkb_text_get(&missing));
   rkb_text_free(&missing);
}

/* In a container with a filter of its own that refuses further ones, the compiler cannot enter its last layer, and then reads no kernel
 * (sandbox_close in core/kernel/compiler). */
static bool compiler_stays_open(const char *layers) {
   return strstr(layers, "no-seccomp") && prctl(PR_GET_SECCOMP) != 0;
}

/* Asks a compiler process for its sandbox layers. */
static void look_for_sandbox(rkb_tool_report_t *report) {
   const rkb_compilers_config_t config = {.processes = 1, .cache_directory = ""};
   rkb_compilers_t *compilers = NULL;
   rkb_error_t err;
   char version[64], path[256];
   int status = rkb_compilers_open(&config, &compilers, &err);
   if (status == RKB_OK)
      status = rkb_compilers_toolkit(compilers, version, sizeof version, path, sizeof path, &err);
   if (status == RKB_OK)
      tell_layers(rkb_compilers_layers(compilers), report);
   else
      snprintf(report->detail, sizeof report->detail, "not known without a compiler");
   if (status == RKB_OK && compiler_stays_open(rkb_compilers_layers(compilers)))
      report->disables = "building candidates: the compiler reads no kernel while seccomp(2) is refused";
   rkb_compilers_close(compilers);
}

static void look_for_machine_sandbox(rkb_tool_report_t *report) {
   rkb_text_t layers;
   rkb_text_init(&layers, 256);
   if (rkb_confined_layers(&layers))
      tell_layers(rkb_text_get(&layers), report);
   else
      snprintf(report->detail, sizeof report->detail, "not known: no process could be made: %s",
               strerror(errno));
   rkb_text_free(&layers);
}

/* The devices that this process can open: the driver names them nvidia0, nvidia1, ... */
static unsigned count_gpus(void) {
   DIR *listing = opendir("/dev");
   unsigned count = 0;
   if (!listing)
      return 0;
   for (struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
      const char *number = strncmp(entry->d_name, "nvidia", 6) == 0 ? entry->d_name + 6 : "";
      count += number[0] != '\0' && number[strspn(number, "0123456789")] == '\0';
   }
   closedir(listing);
   return count;
}

/* The driver itself is not started: that would cost 0.1 s and memory on each device. */
static void look_for_driver(rkb_tool_report_t *report) {
   void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
   unsigned gpus = count_gpus();
   report->found = library && gpus > 0;
   if (!library)
      snprintf(report->detail, sizeof report->detail,
               "libcuda.so.1 is not on the loader's path; %u GPU%s in /dev", gpus, gpus == 1 ? "" : "s");
   else if (!report->found)
      snprintf(report->detail, sizeof report->detail,
               "libcuda.so.1 is there, but no /dev/nvidia0: no GPU is visible");
   else
      snprintf(report->detail, sizeof report->detail, "libcuda.so.1, %u GPU%s", gpus, gpus == 1 ? "" : "s");
   /* The handle stays: unloading the driver's library is not supported. */
}

static void look_for_plugins(rkb_tool_report_t *report) {
   rkb_problems_t problems;
   rkb_registry_t *registry;
   rkb_problems_init(&problems);
   registry = rkb_registry_open(NULL, NULL, &problems);
   report->found = registry && rkb_registry_count(registry) > 0 && problems.errors + problems.warnings == 0;
   snprintf(report->detail, sizeof report->detail, "%u loaded, %u refused",
            registry ? rkb_registry_count(registry) : 0, problems.errors + problems.warnings);
   rkb_registry_free(registry);
   rkb_problems_free(&problems);
}

/* Counts the files in folder `name` that end in the suffix. */
static void look_for_data(const char *name, const char *suffix, rkb_tool_report_t *report) {
   char *path = rkb_find_data(name);
   DIR *listing = path ? opendir(path) : NULL;
   struct dirent *entry;
   unsigned count = 0;
   if (listing) {
      for (entry = readdir(listing); entry; entry = readdir(listing)) {
         const size_t length = strlen(entry->d_name), end = strlen(suffix);
         count +=
            entry->d_name[0] != '.' && length > end && strcmp(entry->d_name + length - end, suffix) == 0;
      }
      closedir(listing);
   }
   report->found = count > 0;
   if (path)
      snprintf(report->detail, sizeof report->detail, "%u in %s", count, path);
   else
      snprintf(report->detail, sizeof report->detail, "no %s beside the program", name);
   free(path);
}

static void look_for_cache(rkb_tool_report_t *report) {
   unsigned char key[RKB_HASH_BYTES];
   rkb_error_t err = {0};
   char *path = NULL;
   int status = rkb_cache_path("build", &path, &err);
   if (status == RKB_OK)
      status = rkb_private_folder(path, &err);
   if (status == RKB_OK)
      status = rkb_private_key(path, key, &err);
   report->found = status == RKB_OK && access(path, W_OK) == 0;
   if (status != RKB_OK)
      snprintf(report->detail, sizeof report->detail, "%s", err.message);
   else
      snprintf(report->detail, sizeof report->detail, "%s%s", path, report->found ? "" : " cannot be written");
   free(path);
}

/* Starts the parser, because its libclang may have been removed. */
static void look_for_parser(rkb_tool_report_t *report) {
   char *path = lift_parser_path();
   const char *arguments[] = {path, "--version", NULL};
   const rkb_process_spec_t spec = {.size = sizeof spec, .arguments = arguments, .output_limit = 4096, .deadline_ns = 10000000000u};
   rkb_process_result_t *result = NULL;
   rkb_error_t err;
   report->found = path && rkb_process_run(&spec, NULL, NULL, &result, &err) == RKB_OK && result->exit_code == 0 && result->signal == 0;
   if (report->found)
      snprintf(report->detail, sizeof report->detail, "%.*s, %s", (int)strcspn(result->output, "\n"), result->output, path);
   else
      snprintf(report->detail, sizeof report->detail, "%s", path ? "rkb-parser does not start; libclang is missing" : "rkb-parser was not built");
   rkb_process_result_free(result);
   free(path);
}

static void look_for_pytorch(rkb_tool_report_t *report) {
   const char *python = rkb_python_find();
   char line[128];
   report->found = rkb_python_ask(python, "import torch; print(torch.__version__)", line, sizeof line);
   if (report->found)
      snprintf(report->detail, sizeof report->detail, "%s, %s", line, python);
   else
      snprintf(report->detail, sizeof report->detail, "%s cannot import torch", python);
}

/* Searches the same folders as the worker (core/gpu/worker/cupti_library.c). */
static void look_for_cupti(rkb_tool_report_t *report) {
   static const char *const places[] = {"libcupti.so.13",
                                        "libcupti.so.12",
                                        "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
                                        "/usr/local/cuda/lib64/libcupti.so",
                                        NULL};
   FILE *setting = fopen("/proc/driver/nvidia/params", "re");
   char line[128];
   bool closed = false;
   for (int i = 0; places[i] && !report->found; i++) {
      report->found = dlopen(places[i], RTLD_NOW | RTLD_LOCAL) != NULL;
      snprintf(report->detail, sizeof report->detail, "%s", places[i]);
   }
   while (setting && fgets(line, sizeof line, setting))
      closed = closed || strncmp(line, "RmProfilingAdminOnly: 1", 23) == 0;
   if (setting)
      fclose(setting);
   if (!report->found)
      snprintf(report->detail, sizeof report->detail, "no libcupti.so.13 or .12 on the loader's path or in /usr/local/cuda");
   else if (closed)
      strncat(report->detail, "; the driver shows counters to administrators alone, so activity records take their place",
              sizeof report->detail - strlen(report->detail) - 1);
}

/* Looks for the library that reads a GPU's energy counter; the driver contains it. */
static void look_for_nvml(rkb_tool_report_t *report) {
   static const char name[] = "libnvidia-ml.so.1";
   report->found = dlopen(name, RTLD_NOW | RTLD_LOCAL) != NULL;
   snprintf(report->detail, sizeof report->detail, "%s%s", name,
            report->found ? "" : " is not on the loader's path");
}

/* Looks for a program on PATH, and in the folders where toolkits install it. */
static void look_for_program(const char *name, rkb_tool_report_t *report) {
   const char *path = getenv("PATH");
   char tried[512];
   for (const char *at = path ? path : ""; *at && !report->found; at += strcspn(at, ":"), at += *at == ':') {
      snprintf(tried, sizeof tried, "%.*s/%s", (int)strcspn(at, ":"), at, name);
      report->found = *at == '/' && access(tried, X_OK) == 0;
   }
   if (!report->found) {
      snprintf(tried, sizeof tried, "/usr/local/cuda/bin/%s", name);
      report->found = access(tried, X_OK) == 0;
   }
   if (report->found)
      snprintf(report->detail, sizeof report->detail, "%s", tried);
   else
      snprintf(report->detail, sizeof report->detail, "no %s on PATH or in /usr/local/cuda/bin", name);
}

static const char layers_remedy[] =
   "a kernel from 5.13 on with Landlock, and a container that allows landlock(7) and seccomp(2)";

static const rkb_tool_report_t blank[RKB_TOOL_COUNT] = {
   [RKB_TOOL_COMPILER] = {.name = "CUDA compiler (NVRTC)",
                          .disables = "building candidates: rkb-run, rkb check, rkb build",
                          .remedy =
                             "./bootstrap.sh demo --yes, or set CUDA_HOME to a toolkit from 12.4 to 13.x"},
   [RKB_TOOL_SANDBOX] = {.name = "compiler's sandbox",
                         .disables = "nothing, but a candidate that takes over its compiler is held by less",
                         .remedy = layers_remedy},
   [RKB_TOOL_MACHINE_SANDBOX] =
      {.name = "machine's sandbox",
       .disables = "nothing, but a candidate that takes over the checking machine's process is held by less",
       .remedy = layers_remedy},
   [RKB_TOOL_DRIVER] = {.name = "GPU driver",
                        .disables = "stages that run on a GPU; screening works without",
                        .remedy = "install NVIDIA's driver, and give a container its devices"},
   [RKB_TOOL_PLUGINS] = {.name = "plugins",
                         .disables = "every stage whose plugin is missing or refused: see rkb plugins",
                         .remedy = "build or install rkb again, or set RKB_PLUGIN_PATH"},
   [RKB_TOOL_TASKS] = {.name = "tasks",
                       .disables = "pipelines that name a task shipped with rkb",
                       .remedy = "install rkb again, or give --task DIR"},
   [RKB_TOOL_DEVICES] = {.name = "device profiles",
                         .disables = "pipelines with target:, speed models, launch checks",
                         .remedy = "install rkb again, or give --target FILE.yaml"},
   [RKB_TOOL_CACHE] = {.name = "build cache",
                       .disables = "nothing, but every run compiles everything again",
                       .remedy = "set XDG_CACHE_HOME to a directory of your own that can be written"},
   [RKB_TOOL_PARSER] = {.name = "parser of kernels",
                        .disables = "rkb.mutator.lift, structural edits of kernels that have no schedule",
                        .remedy = "apt-get install libclang-dev, and build rkb again"},
   [RKB_TOOL_PYTORCH] =
      {.name = "PyTorch",
       .disables = "rkb task import and the tests that compare references with PyTorch; runs do not use it",
       .remedy = "apt-get install python3-torch, or set RKB_PYTHON to an interpreter that has it"},
   [RKB_TOOL_CUPTI] = {.name = "CUPTI",
                       .disables = "counters and activity records of rkb.profiler.cupti on this machine's GPUs",
                       .remedy = "install the CUDA toolkit (cuda-cupti-13-0)"},
   [RKB_TOOL_NVML] =
      {.name = "NVML",
       .disables = "rkb.profiler.energy on this machine's GPUs",
       .remedy = "install NVIDIA's driver, which brings it, and give a container the capability 'utility'"},
   [RKB_TOOL_NCU] = {.name = "Nsight Compute",
                     .disables = "rkb.profiler.ncu on this machine's GPUs",
                     .remedy = "install nsight-compute, or give the stage its program"},
   [RKB_TOOL_SANITIZER] = {.name = "compute-sanitizer",
                           .disables = "rkb.profiler.sanitizer on this machine's GPUs",
                           .remedy = "install cuda-sanitizer-13-0, or give the stage its program"},
};

void rkb_tool_look(enum rkb_tool tool, rkb_tool_report_t *report) {
   *report = blank[tool];
   switch (tool) {
   case RKB_TOOL_COMPILER:
      look_for_compiler(report);
      break;
   case RKB_TOOL_SANDBOX:
      look_for_sandbox(report);
      break;
   case RKB_TOOL_MACHINE_SANDBOX:
      look_for_machine_sandbox(report);
      break;
   case RKB_TOOL_DRIVER:
      look_for_driver(report);
      break;
   case RKB_TOOL_PLUGINS:
      look_for_plugins(report);
      break;
   case RKB_TOOL_TASKS:
      look_for_data("tasks", "", report);
      break;
   case RKB_TOOL_DEVICES:
      look_for_data("devices", ".yaml", report);
      break;
   case RKB_TOOL_CACHE:
      look_for_cache(report);
      break;
   case RKB_TOOL_PARSER:
      look_for_parser(report);
      break;
   case RKB_TOOL_CUPTI:
      look_for_cupti(report);
      break;
   case RKB_TOOL_NVML:
      look_for_nvml(report);
      break;
   case RKB_TOOL_NCU:
      look_for_program("ncu", report);
      break;
   case RKB_TOOL_SANITIZER:
      look_for_program("compute-sanitizer", report);
      break;
   default:
      look_for_pytorch(report);
      break;
   }
}
