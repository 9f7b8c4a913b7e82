/* NVRTC behind dlopen: found at run time, so that the program builds and runs without a CUDA toolkit and with
 * any from 12.4 on.  Owns the loaded library (never unloaded); one thread.  The few declarations used are
 * those of nvrtc.h, whose interface is stable C. */
#include "kernel/compiler/compiler.h"
#include "kernel/compiler_protocol.h"
#include "kernel/byte_record.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/memory.h"

typedef struct nvrtc_program *program_t; /* opaque */
enum {
   NVRTC_SUCCESS = 0,
   NVRTC_ERROR_OUT_OF_MEMORY = 1,
   NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
   NVRTC_ERROR_INVALID_OPTION = 5,
   NVRTC_ERROR_COMPILATION = 6,
   NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7
};

struct nvrtc {
   int (*version)(int *, int *);
   const char *(*error_text)(int);
   int (*create)(program_t *, const char *, const char *, int, const char *const *, const char *const *);
   int (*destroy)(program_t *);
   int (*compile)(program_t, int, const char *const *);
   int (*ptx_size)(program_t, size_t *);
   int (*ptx)(program_t, char *);
   int (*cubin_size)(program_t, size_t *);
   int (*cubin)(program_t, char *);
   int (*log_size)(program_t, size_t *);
   int (*log)(program_t, char *);
   int (*add_name)(program_t, const char *);
   int (*lowered)(program_t, const char *, const char **);
   int major, minor;
   char library[4096], includes[4096];
   bool has_builtins; /* NVRTC's library of built-in functions is loaded */
   const char *header_names[64], *header_texts[64];
};

static bool symbols(nvrtc_t *nvrtc, void *handle) {
   struct {
      const char *name;
      void **place;
   } table[] = {{"nvrtcVersion", (void **)&nvrtc->version},
                {"nvrtcGetErrorString", (void **)&nvrtc->error_text},
                {"nvrtcCreateProgram", (void **)&nvrtc->create},
                {"nvrtcDestroyProgram", (void **)&nvrtc->destroy},
                {"nvrtcCompileProgram", (void **)&nvrtc->compile},
                {"nvrtcGetPTXSize", (void **)&nvrtc->ptx_size},
                {"nvrtcGetPTX", (void **)&nvrtc->ptx},
                {"nvrtcGetCUBINSize", (void **)&nvrtc->cubin_size},
                {"nvrtcGetCUBIN", (void **)&nvrtc->cubin},
                {"nvrtcGetProgramLogSize", (void **)&nvrtc->log_size},
                {"nvrtcGetProgramLog", (void **)&nvrtc->log},
                {"nvrtcAddNameExpression", (void **)&nvrtc->add_name},
                {"nvrtcGetLoweredName", (void **)&nvrtc->lowered}};
   for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
      *table[i].place = dlsym(handle, table[i].name);
      if (!*table[i].place)
         return false;
   }
   return nvrtc->version(&nvrtc->major, &nvrtc->minor) == NVRTC_SUCCESS;
}

/* The toolkit's headers beside a library: <root>/lib64/libnvrtc.so.13 has <root>/include; Debian's packages
 * and pip's wheels lay them out so too. */
static void find_includes(nvrtc_t *nvrtc) {
   static const char *const relative[] = {"../include", "../../include", "../../../include",
                                          "../../cuda_runtime/include", NULL};
   char directory[4096], wanted[4200];
   char *slash;
   snprintf(directory, sizeof directory, "%s", nvrtc->library);
   slash = strrchr(directory, '/');
   if (!slash)
      return;
   *slash = '\0';
   for (int i = 0; relative[i]; i++) {
      snprintf(wanted, sizeof wanted, "%s/%s/cuda_fp16.h", directory, relative[i]);
      if (access(wanted, R_OK) == 0) {
         char real[4096];
         wanted[strlen(wanted) - strlen("/cuda_fp16.h")] = '\0';
         if (realpath(wanted, real))
            snprintf(nvrtc->includes, sizeof nvrtc->includes, "%s", real);
         return;
      }
   }
}

/* NVRTC loads its library of built-in functions by its bare name at the first compile.  The loader would find it only if the toolkit is on its path.  But
 * the loader uses a library of this name that is loaded already, so this function loads it by its full path. */
static bool load_builtins(const nvrtc_t *nvrtc) {
   char path[4200];
   const char *slash = strrchr(nvrtc->library, '/');
   int directory = slash ? (int)(slash - nvrtc->library) : 0;
   snprintf(path, sizeof path, "%.*s/libnvrtc-builtins.so.%d.%d", directory, nvrtc->library, nvrtc->major,
            nvrtc->minor);
   return slash && dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static bool try_library(nvrtc_t *nvrtc, const char *path) {
   struct link_map *map = NULL;
   void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
   if (!handle)
      return false;
   if (!symbols(nvrtc, handle) || nvrtc->major * 100 + nvrtc->minor < 1204) {
      dlclose(handle);
      return false;
   }
   if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !realpath(map->l_name, nvrtc->library))
      snprintf(nvrtc->library, sizeof nvrtc->library, "%s", path);
   find_includes(nvrtc);
   nvrtc->has_builtins = load_builtins(nvrtc);
   return true;
}

static bool try_directory(nvrtc_t *nvrtc, const char *directory) {
   static const char *const inside[] = {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib",
                                        NULL};
   static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", NULL};
   char path[4096];
   for (int i = 0; inside[i]; i++) {
      for (int k = 0; names[k]; k++) {
         snprintf(path, sizeof path, "%s/%s/%s", directory, inside[i], names[k]);
         if (access(path, R_OK) == 0 && try_library(nvrtc, path))
            return true;
      }
   }
   return false;
}

/* Tries /usr/local/cuda, then /usr/local/cuda-13.1, /usr/local/cuda-12.8 and so on, the highest version first. */
static bool try_installed(nvrtc_t *nvrtc) {
   glob_t found;
   bool done = try_directory(nvrtc, "/usr/local/cuda");
   if (done || glob("/usr/local/cuda-*", GLOB_ONLYDIR, NULL, &found) != 0)
      return done;
   for (size_t i = found.gl_pathc; !done && i > 0; i--)
      done = try_directory(nvrtc, found.gl_pathv[i - 1]);
   globfree(&found);
   return done;
}

nvrtc_t *nvrtc_open(const char *home, rkb_text_t *why) {
   nvrtc_t *nvrtc = rkb_allocate(1, sizeof *nvrtc);
   bool found;
   if (home)
      found = try_directory(nvrtc, home);
   else
      found =
         try_installed(nvrtc) || try_library(nvrtc, "libnvrtc.so.13") || try_library(nvrtc, "libnvrtc.so.12");
   if (!found) {
      rkb_text_format(why,
                      "no CUDA compiler library (libnvrtc.so, 12.4 or newer) in %s; install the CUDA toolkit "
                      "(Debian, Ubuntu: the "
                      "packages cuda-nvrtc-13-0, cuda-cudart-dev-13-0, cuda-cccl-13-0 and cuda-nvcc-13-0 of "
                      "NVIDIA's repository) or "
                      "set CUDA_HOME to where it is",
                      home ? home : "/usr/local/cuda, /usr/local/cuda-* or the loader's path");
      free(nvrtc);
      return NULL;
   }
   for (uint32_t i = 0; i < compiler_header_count && i < 64; i++) {
      nvrtc->header_names[i] = compiler_headers[i].name;
      nvrtc->header_texts[i] = compiler_headers[i].text;
   }
   return nvrtc;
}

int nvrtc_major(const nvrtc_t *nvrtc) {
   return nvrtc->major;
}

int nvrtc_minor(const nvrtc_t *nvrtc) {
   return nvrtc->minor;
}

const char *nvrtc_library(const nvrtc_t *nvrtc) {
   return nvrtc->library;
}

bool nvrtc_has_builtins(const nvrtc_t *nvrtc) {
   return nvrtc->has_builtins;
}

const char *nvrtc_includes(const nvrtc_t *nvrtc) {
   return nvrtc->includes;
}

/* The option that a toolkit refuses because the target is newer than the toolkit; NULL if there is none.
 * NVRTC 12.4, for example, does not know sm_100a. */
static const char *unknown_architecture(const compile_request_t *request, int result, const char *log) {
   static const char option[] = "--gpu-architecture=";
   if (result == NVRTC_ERROR_INVALID_OPTION && strstr(log, "--gpu-architecture"))
      for (uint32_t i = 0; i < request->option_count; i++)
         if (strncmp(request->options[i], option, strlen(option)) == 0)
            return request->options[i] + strlen(option);
   return NULL;
}

static void put_log(const nvrtc_t *nvrtc, program_t program, const compile_request_t *request, int result,
                    rkb_text_t *answer) {
   const char *architecture = NULL;
   rkb_text_t text;
   size_t size = 0;
   char *log = NULL;
   rkb_text_init(&text, 8192);
   if (program && nvrtc->log_size(program, &size) == NVRTC_SUCCESS && size > 1 && size < (512u << 20))
      log = rkb_try_uncleared(size, 1, NULL);
   if (log && nvrtc->log(program, log) == NVRTC_SUCCESS) {
      size = strnlen(log, size);
      architecture = unknown_architecture(request, result, log);
      if (architecture) {
         rkb_text_format(&text,
                         "NVRTC %d.%d does not know the target's architecture %s; set CUDA_HOME to a newer "
                         "toolkit (%s)",
                         nvrtc->major, nvrtc->minor, architecture, nvrtc->library);
         record_put_text(answer, rkb_text_get(&text));
      } else
         record_put_bytes(answer, log, size < COMPILER_MAX_LOG ? size : COMPILER_MAX_LOG);
   } else
      record_put_text(answer, result ? nvrtc->error_text(result) : "");
   rkb_text_free(&text);
   free(log);
}

typedef int (*size_function)(program_t, size_t *);
typedef int (*data_function)(program_t, char *);

static bool put_output(program_t program, size_function size_of, data_function data_of, size_t limit,
                       rkb_text_t *answer) {
   size_t size = 0;
   char *data;
   if (size_of(program, &size) != NVRTC_SUCCESS || size > limit) {
      record_put_bytes(answer, NULL, 0);
      return size <= limit;
   }
   data = rkb_try_uncleared(size + 1, 1, NULL);
   if (!data || data_of(program, data) != NVRTC_SUCCESS)
      size = 0;
   record_put_bytes(answer, data, size);
   free(data);
   return true;
}

static void put_failure(uint32_t outcome, const char *log, rkb_text_t *answer) {
   rkb_text_clear(answer);
   record_put_u32(answer, outcome);
   record_put_text(answer, log);
   record_put_u64(answer, 0);
   record_put_u64(answer, 0);
   record_put_u32(answer, 0);
}

static uint32_t outcome_of(int result) {
   switch (result) {
   case NVRTC_SUCCESS:
      return RKB_COMPILE_OK;
   case NVRTC_ERROR_OUT_OF_MEMORY:
      return RKB_COMPILE_MEMORY;
   case NVRTC_ERROR_COMPILATION:
      return RKB_COMPILE_ERROR;
   case NVRTC_ERROR_PROGRAM_CREATION_FAILURE:
   case NVRTC_ERROR_INVALID_OPTION:
   case NVRTC_ERROR_BUILTIN_OPERATION_FAILURE: /* its library of builtin functions cannot be loaded */
      return RKB_COMPILE_TOOL;
   default:
      return RKB_COMPILE_INTERNAL;
   }
}

void nvrtc_compile(nvrtc_t *nvrtc, const compile_request_t *request, rkb_text_t *answer) {
   program_t program = NULL;
   const char *options[COMPILER_MAX_OPTIONS + 4];
   char includes[4200], cccl[4200];
   int option_count = 0, result;
   for (uint32_t i = 0; i < request->option_count; i++)
      options[option_count++] = request->options[i];
   if (nvrtc->includes[0]) {
      snprintf(includes, sizeof includes, "-I%s", nvrtc->includes);
      snprintf(cccl, sizeof cccl, "-I%s/cccl", nvrtc->includes);
      options[option_count++] = includes;
      options[option_count++] = cccl;
   }
   result = nvrtc->create(&program, request->source, request->name, (int)compiler_header_count,
                          nvrtc->header_texts, nvrtc->header_names);
   for (uint32_t i = 0; result == NVRTC_SUCCESS && i < request->expression_count; i++)
      result = nvrtc->add_name(program, request->expressions[i]);
   if (result == NVRTC_SUCCESS)
      result = nvrtc->compile(program, option_count, options);
   record_put_u32(answer, outcome_of(result));
   put_log(nvrtc, program, request, result, answer);
   if (result != NVRTC_SUCCESS) {
      record_put_u64(answer, 0);
      record_put_u64(answer, 0);
      record_put_u32(answer, 0);
   } else {
      bool fits = put_output(program, nvrtc->ptx_size, nvrtc->ptx, COMPILER_MAX_PTX, answer);
      if (request->want_cubin)
         fits = put_output(program, nvrtc->cubin_size, nvrtc->cubin, COMPILER_MAX_CUBIN, answer) && fits;
      else
         record_put_u64(answer, 0);
      record_put_u32(answer, request->expression_count);
      for (uint32_t i = 0; i < request->expression_count; i++) {
         const char *lowered = NULL;
         result = nvrtc->lowered(program, request->expressions[i], &lowered);
         record_put_text(answer,
                       result == NVRTC_SUCCESS && strlen(lowered) <= COMPILER_MAX_NAME ? lowered : "");
      }
      if (!fits || answer->cut)
         put_failure(RKB_COMPILE_MEMORY,
                     "the generated code is larger than 32 MiB of PTX or 64 MiB of machine code", answer);
   }
   if (program)
      nvrtc->destroy(&program);
}
