/* Reads a kernel's directives, compiles it, and runs it through the machine (machine_harness.h).  One thread. */
#include "machine_harness.h"

#include "machine/ptx/module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *harness_read_file(const char *path) {
   FILE *file = fopen(path, "rb");
   if (!file)
      return NULL;
   fseek(file, 0, SEEK_END);
   long length = ftell(file);
   rewind(file);
   char *text = calloc((size_t)length + 1, 1);
   if (text && fread(text, 1, (size_t)length, file) != (size_t)length) {
      free(text);
      text = NULL;
   }
   fclose(file);
   return text;
}

/* NVRTC, bound by hand so that nothing here needs the toolkit to be built. */
typedef void *program_t;
static const char *const libraries[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                        "/usr/local/cuda/lib64/libnvrtc.so", NULL};

static void *find_nvrtc(void) {
   for (int n = 0; libraries[n]; n++) {
      void *library = dlopen(libraries[n], RTLD_NOW | RTLD_LOCAL);
      if (library)
         return library;
   }
   return NULL;
}

static char *compile_anew(const char *source, const char *define, char *message, size_t message_size) {
   void *library = find_nvrtc();
   if (!library) {
      snprintf(message, message_size, "NVRTC is not installed");
      return NULL;
   }
   int (*create)(program_t *, const char *, const char *, int, const char *const *, const char *const *);
   int (*compile)(program_t, int, const char *const *);
   int (*ptx_size)(program_t, size_t *), (*ptx)(program_t, char *), (*log_size)(program_t, size_t *),
      (*log)(program_t, char *);
   int (*destroy)(program_t *);
#define BIND(function, name) *(void **)&function = dlsym(library, name)
   BIND(create, "nvrtcCreateProgram");
   BIND(compile, "nvrtcCompileProgram");
   BIND(ptx_size, "nvrtcGetPTXSize");
   BIND(ptx, "nvrtcGetPTX");
   BIND(log_size, "nvrtcGetProgramLogSize");
   BIND(log, "nvrtcGetProgramLog");
   BIND(destroy, "nvrtcDestroyProgram");
#undef BIND
   program_t program;
   char *text = NULL;
   size_t size = 0;
   if (!create || create(&program, source, "kernel.cu", 0, NULL, NULL) != 0) {
      snprintf(message, message_size, "NVRTC does not start");
      return NULL;
   }
   const char *options[7] = {"--gpu-architecture=compute_90a",
                             "--std=c++17",
                             "-lineinfo",
                             "-I/usr/local/cuda/include",
                             "-I/usr/local/cuda/include/cccl",
                             "-I" RKB_SOURCE_DIR "/tests/machine/idioms"};
   int count = 6;
   if (define)
      options[count++] = define;
   if (compile(program, count, options) == 0 && ptx_size(program, &size) == 0) {
      text = calloc(size + 1, 1);
      if (text && ptx(program, text) != 0) {
         free(text);
         text = NULL;
      }
   } else if (log_size(program, &size) == 0) {
      char *lines = calloc(size + 1, 1);
      if (lines && log(program, lines) == 0)
         snprintf(message, message_size, "%s", lines);
      free(lines);
   }
   destroy(&program);
   return text;
}

/* Where the PTX of a source lies that another build's tests compiled before: in the folder that RKB_TEST_PTX names.  bootstrap.sh names one, and
 * empties it first, so that the tests with the sanitizers need not compile what the release suite did, which takes them twice as long.  A file
 * has the define, the source, and after a 0 the PTX; its name is FNV-1a of the first two. */
static bool kept_path(const char *question, char *path, size_t path_size) {
   const char *folder = getenv("RKB_TEST_PTX");
   uint64_t hash = UINT64_C(0xcbf29ce484222325);
   for (const char *at = question; *at; at++)
      hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
   return folder &&
          (size_t)snprintf(path, path_size, "%s/%016llx", folder, (unsigned long long)hash) < path_size - 16;
}

static void keep_ptx(const char *path, const char *question, const char *ptx) {
   char unfinished[1024];
   snprintf(unfinished, sizeof unfinished, "%s.%d", path, (int)getpid());
   FILE *file = fopen(unfinished, "wb");
   if (!file)
      return;
   bool whole = fwrite(question, strlen(question) + 1, 1, file) == 1;
   whole &= fwrite(ptx, strlen(ptx), 1, file) == 1;
   whole &= fclose(file) == 0;
   if (!whole || rename(unfinished, path) != 0)
      remove(unfinished);
}

char *harness_compile(const char *source, const char *define, char *message, size_t message_size) {
   char path[1000], *ptx = NULL, *question = NULL;
   if (asprintf(&question, "%s\n%s", define ? define : "", source) < 0)
      return NULL;
   const bool keeps = kept_path(question, path, sizeof path);
   char *kept = keeps ? harness_read_file(path) : NULL;
   if (kept && strcmp(kept, question) == 0)
      ptx = strdup(kept + strlen(kept) + 1);
   else
      ptx = compile_anew(source, define, message, message_size);
   if (ptx && keeps && !kept)
      keep_ptx(path, question, ptx);
   free(kept);
   free(question);
   return ptx;
}

static const char *keep_name(harness_t *harness, const char *name) {
   char *copy = harness->names[harness->name_count++ % (4 * HARNESS_MOST)];
   snprintf(copy, sizeof harness->names[0], "%s", name);
   return copy;
}

static bool read_buffer(harness_t *harness, const char *line) {
   static const struct {
      const char *name;
      uint32_t dtype, bytes;
   } types[] = {{"f32", RKB_F32, 4}, {"f64", RKB_F64, 8}, {"i32", RKB_I32, 4},  {"i64", RKB_I64, 8},
                {"u8", RKB_U8, 1},   {"f16", RKB_F16, 2}, {"bf16", RKB_BF16, 2}};
   char name[64], role[16], type[8], init[16] = "";
   unsigned long long elements;
   if (sscanf(line, "%63s %15s %7s %llu %15s", name, role, type, &elements, init) < 4 ||
       harness->plan.buffer_count == HARNESS_MOST)
      return false;
   uint32_t n = harness->plan.buffer_count++;
   rkb_plan_buffer_t *buffer = &harness->buffers[n];
   *buffer = (rkb_plan_buffer_t){
      .name = keep_name(harness, name), .alignment = 256, .elements = elements, .tensor = n};
   buffer->role = strcmp(role, "in") == 0      ? RKB_IN
                  : strcmp(role, "out") == 0   ? RKB_OUT
                  : strcmp(role, "inout") == 0 ? RKB_INOUT
                                               : 0;
   for (size_t k = 0; k < sizeof types / sizeof types[0]; k++)
      if (strcmp(type, types[k].name) == 0) {
         buffer->dtype = types[k].dtype;
         buffer->bytes = elements * types[k].bytes;
      }
   if (strcmp(init, "zero") == 0)
      buffer->fill = RKB_FILL_VALUE;
   snprintf(harness->init[n], sizeof harness->init[n], "%s", init);
   harness->data[n].data = aligned_alloc(256, (buffer->bytes + 511) & ~(size_t)255);
   return buffer->bytes != 0 && harness->data[n].data;
}

static uint32_t read_numbers(const char *text, uint64_t *out, uint32_t most) {
   uint32_t count = 0;
   for (; *text && count < most; text += strcspn(text, ","), text += *text == ',')
      out[count++] = (uint64_t)strtoll(text, NULL, 0);
   return count;
}

static bool read_map(harness_t *harness, const char *line) {
   static const char *const types[] = {"u8", "u16", "u32", "i32", "u64", "i64", "f16", "f32", "f64", "bf16"};
   if (harness->plan.map_count == HARNESS_MOST)
      return false;
   rkb_plan_map_t *map = &harness->maps[harness->plan.map_count++];
   char copy[512], *next = NULL;
   uint64_t numbers[RKB_MAP_MOST_RANK];
   uint32_t at = 0;
   *map = (rkb_plan_map_t){.buffer = UINT32_MAX, .type = UINT32_MAX, .element_strides = {1, 1, 1, 1, 1}};
   snprintf(copy, sizeof copy, "%s", line);
   for (char *word = strtok_r(copy, " \t", &next); word; word = strtok_r(NULL, " \t", &next), at++) {
      const char *value = strchr(word, '=');
      const uint32_t count = value ? read_numbers(value + 1, numbers, RKB_MAP_MOST_RANK) : 0;
      if (at == 0)
         map->name = keep_name(harness, word);
      for (uint32_t n = 0; at == 1 && n < harness->plan.buffer_count; n++)
         map->buffer = strcmp(harness->buffers[n].name, word) == 0 ? n : map->buffer;
      for (uint32_t n = 0; at == 2 && n < sizeof types / sizeof *types; n++)
         map->type = strcmp(types[n], word) == 0 ? n : map->type;
      for (uint32_t n = 0; n < count; n++)
         if (strncmp(word, "dims=", 5) == 0)
            map->dims[n] = numbers[n];
         else if (strncmp(word, "strides=", 8) == 0 && n < RKB_MAP_MOST_RANK - 1)
            map->strides[n] = numbers[n];
         else if (strncmp(word, "box=", 4) == 0)
            map->box[n] = (uint32_t)numbers[n];
         else if (strncmp(word, "steps=", 6) == 0)
            map->element_strides[n] = (uint32_t)numbers[n];
         else if (strncmp(word, "lower=", 6) == 0 && n < RKB_MAP_MOST_RANK - 2)
            map->lower[n] = (int32_t)numbers[n];
         else if (strncmp(word, "upper=", 6) == 0 && n < RKB_MAP_MOST_RANK - 2)
            map->upper[n] = (int32_t)numbers[n];
      if (strncmp(word, "dims=", 5) == 0)
         map->rank = count;
      else if (strncmp(word, "channels=", 9) == 0)
         map->channels = (uint32_t)numbers[0];
      else if (strncmp(word, "pixels=", 7) == 0) {
         map->pixels = (uint32_t)numbers[0];
         map->im2col = 1;
      } else if (strncmp(word, "swizzle=", 8) == 0)
         map->swizzle = numbers[0] == 128 ? 3 : (uint32_t)numbers[0] / 32;
      else if (strncmp(word, "interleave=", 11) == 0)
         map->interleave = (uint32_t)numbers[0] / 16;
      else if (strcmp(word, "fill=nan") == 0)
         map->fill = RKB_MAP_FILL_NAN;
   }
   return map->buffer != UINT32_MAX && map->type != UINT32_MAX && map->rank;
}

static bool read_argument(harness_t *harness, const ptx_variable_t *parameter, const char *text,
                          rkb_plan_argument_t *argument) {
   *argument = (rkb_plan_argument_t){
      .buffer = UINT32_MAX, .offset = (uint32_t)parameter->offset, .bytes = (uint32_t)parameter->bytes};
   for (uint32_t n = 0; n < harness->plan.map_count; n++)
      if (strcmp(harness->maps[n].name, text) == 0) {
         argument->map = n + 1;
         argument->buffer = harness->maps[n].buffer;
      }
   for (uint32_t n = 0; n < harness->plan.buffer_count; n++)
      if (strcmp(harness->buffers[n].name, text) == 0)
         argument->buffer = n;
   if (argument->buffer != UINT32_MAX)
      return true;
   if (strchr(text, '.')) {
      double wide = atof(text);
      float narrow = (float)wide;
      if (parameter->bytes == 8)
         memcpy(&argument->value, &wide, sizeof wide);
      else
         memcpy(&argument->value, &narrow, sizeof narrow);
   } else {
      argument->value = (uint64_t)atoll(text);
   }
   return true;
}

static bool read_launch(harness_t *harness, const char *line) {
   if (harness->plan.launch_count == HARNESS_MOST)
      return false;
   uint32_t n = harness->plan.launch_count++;
   rkb_plan_launch_t *launch = &harness->launches[n];
   *launch = (rkb_plan_launch_t){
      .grid = {1, 1, 1}, .block = {1, 1, 1}, .cluster = {1, 1, 1}, .arguments = harness->arguments[n]};
   char copy[512], *next = NULL;
   snprintf(copy, sizeof copy, "%s", line);
   const ptx_function_t *function = NULL;
   for (char *word = strtok_r(copy, " \t", &next); word; word = strtok_r(NULL, " \t", &next)) {
      if (strncmp(word, "grid=", 5) == 0) {
         sscanf(word + 5, "%u,%u,%u", &launch->grid[0], &launch->grid[1], &launch->grid[2]);
      } else if (strncmp(word, "block=", 6) == 0) {
         sscanf(word + 6, "%u,%u,%u", &launch->block[0], &launch->block[1], &launch->block[2]);
      } else if (strncmp(word, "cluster=", 8) == 0) {
         sscanf(word + 8, "%u,%u,%u", &launch->cluster[0], &launch->cluster[1], &launch->cluster[2]);
      } else if (strcmp(word, "cooperative") == 0) {
         launch->cooperative = 1;
      } else if (strcmp(word, "dependent") == 0) {
         launch->dependent = 1;
      } else if (strncmp(word, "shared=", 7) == 0) {
         launch->dynamic_shared = (uint32_t)atoi(word + 7);
      } else if (strncmp(word, "args=", 5) == 0 && function) {
         char *rest = NULL;
         for (char *text = strtok_r(word + 5, ",", &rest); text; text = strtok_r(NULL, ",", &rest)) {
            if (launch->argument_count >= function->parameter_count)
               return false;
            const ptx_variable_t *parameter =
               &harness->module->variables[function->parameters[launch->argument_count]];
            read_argument(harness, parameter, text, &harness->arguments[n][launch->argument_count++]);
         }
      } else {
         launch->entry = launch->expression = keep_name(harness, word);
         for (uint32_t k = 0; k < harness->module->function_count; k++)
            if (strcmp(harness->module->functions[k].name, word) == 0)
               function = &harness->module->functions[k];
      }
   }
   return function && launch->argument_count == function->parameter_count;
}

bool harness_open(harness_t *harness, const char *source, const char *ptx, char *message,
                  size_t message_size) {
   memset(harness, 0, sizeof *harness);
   harness->runs = 1;
   harness->module = rkb_machine_module_read(ptx, strlen(ptx));
   harness->plan = (rkb_plan_t){
      .version = 1, .buffers = harness->buffers, .launches = harness->launches, .maps = harness->maps};
   uint32_t at;
   const char *problem = rkb_machine_module_error(harness->module, &at);
   if (problem) {
      snprintf(message, message_size, "PTX line %u: %s", at, problem);
      return false;
   }
   for (const char *line = source; line && strncmp(line, "// ", 3) == 0;
        line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
      char copy[512];
      snprintf(copy, sizeof copy, "%.*s", (int)strcspn(line, "\n"), line);
      bool good = true;
      if (strncmp(copy, "// buffer: ", 11) == 0)
         good = read_buffer(harness, copy + 11);
      else if (strncmp(copy, "// map: ", 8) == 0)
         good = read_map(harness, copy + 8);
      else if (strncmp(copy, "// launch: ", 11) == 0)
         good = read_launch(harness, copy + 11);
      else if (strncmp(copy, "// expect: ", 11) == 0)
         snprintf(harness->expect, sizeof harness->expect, "%s", copy + 11);
      else if (strncmp(copy, "// broken: ", 11) == 0)
         snprintf(harness->broken, sizeof harness->broken, "%s", copy + 11);
      else if (strncmp(copy, "// runs: ", 9) == 0)
         harness->runs = (uint32_t)atoi(copy + 9);
      else if (strncmp(copy, "// resident: ", 13) == 0)
         for (int n = 0; n < HARNESS_MOST; n++)
            harness->resident[n] = (uint32_t)atoi(copy + 13);
      if (!good) {
         snprintf(message, message_size, "cannot use '%.200s'", copy);
         return false;
      }
   }
   return true;
}

void harness_close(harness_t *harness) {
   for (uint32_t n = 0; n < harness->plan.buffer_count; n++)
      free(harness->data[n].data);
   rkb_machine_module_free(harness->module);
}

static double initial_value(const char *init, uint64_t element, uint32_t run) {
   uint64_t mixed = (element + 1) * 0x9e3779b97f4a7c15ull + run * 0xbf58476d1ce4e5b9ull;
   mixed ^= mixed >> 29;
   if (strcmp(init, "ramp") == 0)
      return (double)(element % 97) + run;
   if (strcmp(init, "index") == 0)
      return (double)element;
   if (strcmp(init, "one") == 0)
      return 1;
   if (strcmp(init, "noise") == 0)
      return (double)(mixed % 20011) / 10005.5 - 1;
   return 0;
}

static uint16_t half_bits(double value) { /* small exact integers only: enough for fills */
   float narrow = (float)value;
   uint32_t bits;
   memcpy(&bits, &narrow, sizeof bits);
   return bits << 1
             ? (uint16_t)((bits >> 16 & 0x8000) | (((bits >> 23 & 255) - 112) << 10) | (bits >> 13 & 0x3ff))
             : 0;
}

static uint16_t bfloat_bits(double value) { /* cut off */
   float narrow = (float)value;
   uint32_t bits;
   memcpy(&bits, &narrow, sizeof bits);
   return (uint16_t)(bits >> 16);
}

void harness_fill(harness_t *harness, uint32_t run) {
   for (uint32_t n = 0; n < harness->plan.buffer_count; n++) {
      const rkb_plan_buffer_t *buffer = &harness->buffers[n];
      bool given = harness->init[n][0] != '\0';
      if (!given && run && buffer->role == 0)
         continue;
      harness->data[n].defined = given;
      memset(harness->data[n].data, 0xa5, buffer->bytes);
      for (uint64_t e = 0; given && e < buffer->elements; e++) {
         double value = initial_value(harness->init[n], e, run);
         switch (buffer->dtype) {
         case RKB_F32:
            ((float *)harness->data[n].data)[e] = (float)value;
            break;
         case RKB_F64:
            ((double *)harness->data[n].data)[e] = value;
            break;
         case RKB_I32:
            ((int32_t *)harness->data[n].data)[e] = (int32_t)value;
            break;
         case RKB_I64:
            ((int64_t *)harness->data[n].data)[e] = (int64_t)value;
            break;
         case RKB_F16:
            ((uint16_t *)harness->data[n].data)[e] = half_bits(value);
            break;
         case RKB_BF16:
            ((uint16_t *)harness->data[n].data)[e] = bfloat_bits(value);
            break;
         default:
            ((uint8_t *)harness->data[n].data)[e] = (uint8_t)value;
            break;
         }
      }
   }
}

static void find_unwritten(harness_t *harness, rkb_machine_t *machine) {
   for (uint32_t n = 0; n < harness->plan.buffer_count; n++) {
      const rkb_plan_buffer_t *buffer = &harness->buffers[n];
      uint32_t bytes = (uint32_t)(buffer->bytes / buffer->elements);
      uint64_t first;
      bool written;
      if (buffer->role != RKB_OUT && buffer->role != RKB_INOUT)
         continue;
      uint64_t count = rkb_machine_undefined(machine, n, bytes, &first, &written);
      if (count)
         rkb_machine_find_undefined(machine, n, first, bytes, written, count);
   }
}

/* A race whose other side has no line yet: the same run once more, which finds the line. */
static void seek_other(harness_t *harness, rkb_machine_t *machine, uint32_t run) {
   rkb_error_t err;
   if (!rkb_machine_seek_second_access(machine))
      return;
   harness_fill(harness, run);
   rkb_machine_run(machine, harness->data, &err);
}

bool harness_judge(harness_t *harness, const rkb_machine_options_t *options, char *verdict,
                   size_t verdict_size, char **text) {
   static const char *const standings[] = {"", "suspect", "unknown", "reject"};
   rkb_machine_t *machine;
   rkb_error_t err;
   *text = NULL;
   snprintf(verdict, verdict_size, "pass");
   rkb_machine_options_t made = *options;
   made.resident = harness->resident[0] ? harness->resident : NULL;
   if (rkb_machine_open(harness->module, &harness->plan, &made, &machine, &err) != RKB_OK) {
      snprintf(verdict, verdict_size, "error %.80s", err.message);
      return false;
   }
   uint32_t worst = 0;
   rkb_machine_set_order(machine, harness->order);
   for (uint32_t run = 0; run < harness->runs && worst != RKB_MACHINE_REJECT; run++) {
      harness_fill(harness, run);
      if (rkb_machine_run(machine, harness->data, &err) != RKB_OK) {
         snprintf(verdict, verdict_size, "error %.80s", err.message);
         break;
      }
      rkb_machine_report_t report;
      rkb_machine_report(machine, &report);
      if (report.complete)
         find_unwritten(harness, machine);
      seek_other(harness, machine, run);
      rkb_machine_report(machine, &report);
      for (uint32_t n = 0; n < report.finding_count; n++)
         if (report.findings[n].standing > worst) {
            worst = report.findings[n].standing;
            snprintf(verdict, verdict_size, "%s %s", standings[worst], report.findings[n].reason);
            free(*text);
            *text = rkb_machine_finding_text(&report.findings[n]);
         }
   }
   rkb_machine_close(machine);
   return true;
}

rkb_machine_t *harness_execute(harness_t *harness, const rkb_machine_options_t *options,
                               rkb_machine_report_t *report) {
   rkb_machine_t *machine = NULL;
   rkb_error_t err;
   if (rkb_machine_open(harness->module, &harness->plan, options, &machine, &err) == RKB_OK &&
       rkb_machine_run(machine, harness->data, &err) == RKB_OK) {
      rkb_machine_report(machine, report);
      return machine;
   }
   rkb_machine_close(machine);
   return NULL;
}
