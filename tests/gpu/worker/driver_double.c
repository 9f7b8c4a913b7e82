/* A CUDA driver without a device.  It is loaded in place of the real one (LD_PRELOAD, by its soname) to test
 * rkb-worker, and the program that talks to it, where there is no GPU.  Memory is the process's own and
 * small, copies and fills are made, times are made up.  It knows these kernels by name: the worker's sum and mixture;
 * "scribble", which writes over everything allocated, as a kernel with a wild pointer may; "remembers", which counts
 * its launches in variables of its module and in scratch; and the kernels of tests/gpu/peer, which double numbers.  Of those
 * "doubled_or_recalled" keeps its inputs where nothing resets them, and takes a tenth of the time when it meets inputs again.
 * One thread. */
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mixed_pieces.h"

#define MEMORY_BYTES (UINT64_C(640) << 20)
enum { MOST_BLOCKS = 4096, MOST_STEPS = 256 };

enum kind { COPY, FILL, SUM, MIX, SCRIBBLE, DOUBLE, REMEMBER };
typedef struct step {
   enum kind kind;
   CUdeviceptr to, from, other;
   size_t bytes;
   unsigned value, width;
   unsigned long long key;
} step_t;
typedef struct steps {
   step_t list[MOST_STEPS];
   unsigned count;
} steps_t;

static struct {
   CUdeviceptr start;
   size_t bytes;
} blocks[MOST_BLOCKS];
static size_t used;
static steps_t *recording;
static bool recalled; /* whether the last graph had a kernel that met inputs again */
/* The variables of every module.  As on a device, those of one section do not lie together. */
static struct {
   unsigned launches;
   unsigned started; /* begins at 40 */
   unsigned turns;
} variables;

static void *at(CUdeviceptr pointer) {
   return (void *)(uintptr_t)pointer;
}

static void add_up(const step_t *s) {
   const unsigned long long multiplier = 0xd6e8feb86659fd93;
   const unsigned char *from = at(s->from);
   unsigned long long sum = 0;
   for (size_t i = 0; i < s->bytes; i += 4) {
      unsigned word = 0;
      memcpy(&word, from + i, s->bytes - i < 4 ? s->bytes - i : 4);
      unsigned long long x = ((unsigned long long)(i / 4) << 32 | word) ^ s->key;
      x = (x ^ x >> 32) * multiplier;
      x = (x ^ x >> 32) * multiplier;
      sum += x ^ x >> 32;
   }
   memcpy(at(s->to), &sum, sizeof sum);
}

static void mix(const step_t *s) {
   for (size_t i = 0; i < s->bytes; i += MIXED_PIECE) {
      const size_t left = s->bytes - i;
      memcpy((char *)at(s->to) + i,
             (char *)at(piece_is_other(i / MIXED_PIECE, s->key, s->value) ? s->other : s->from) + i,
             left < MIXED_PIECE ? left : MIXED_PIECE);
   }
}

/* Whether these bytes were met before; keeps their hash if not. */
static bool recall(const unsigned char *bytes, size_t count) {
   static unsigned long long met[1 << 14];
   static unsigned many;
   unsigned long long hash = 0xcbf29ce484222325 ^ count;
   for (size_t i = 0; i < count; i++)
      hash = (hash ^ bytes[i]) * 0x100000001b3;
   for (unsigned i = 0; i < many; i++)
      if (met[i] == hash)
         return true;
   if (many < sizeof met / sizeof *met)
      met[many++] = hash;
   return false;
}

/* value 1: wrong in one block of 4,096 blocks of 256 numbers. */
static void double_numbers(const step_t *s) {
   const float *from = at(s->from);
   float *to = at(s->to);
   for (size_t i = 0; i < s->bytes / sizeof *from; i++)
      to[i] = (s->value == 1 && s->bytes == sizeof *from << 20 && i / 256 == 2345 ? 2.001f : 2.0f) * from[i];
}

/* Writes what it finds: the variables after its count, and the first word of scratch before. */
static void remember(const step_t *s) {
   unsigned *kept = at(s->from);
   const unsigned found[] = {++variables.launches, ++variables.turns, ++variables.started, *kept};
   *kept = 0x600d;
   memcpy(at(s->to), found, sizeof found);
}

static void perform(const step_t *s) {
   if (s->kind == COPY)
      memcpy(at(s->to), at(s->from), s->bytes);
   else if (s->kind == FILL && s->width == 1)
      memset(at(s->to), (int)s->value, s->bytes);
   else if (s->kind == FILL)
      for (size_t i = 0; i < s->bytes; i += s->width)
         memcpy((char *)at(s->to) + i, &s->value, s->width);
   else if (s->kind == SUM)
      add_up(s);
   else if (s->kind == DOUBLE)
      double_numbers(s);
   else if (s->kind == MIX)
      mix(s);
   else if (s->kind == REMEMBER)
      remember(s);
   else
      for (unsigned i = 0; i < MOST_BLOCKS; i++)
         if (blocks[i].start)
            memset(at(blocks[i].start), 0x5a, blocks[i].bytes);
}

static CUresult enqueue(step_t step) {
   if (!recording)
      perform(&step);
   else if (recording->count < MOST_STEPS)
      recording->list[recording->count++] = step;
   return CUDA_SUCCESS;
}

CUresult cuInit(unsigned flags) {
   (void)flags;
   return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int *version) {
   *version = 13000;
   return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice *device, int ordinal) {
   int count = 0;
   cuDeviceGetCount(&count);
   *device = ordinal;
   return ordinal < count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
/* A test says by the environment what the machine has: RKB_DOUBLE_DEVICES, RKB_DOUBLE_NAME. */
CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
   (void)device;
   snprintf(name, (size_t)size, "%s", getenv("RKB_DOUBLE_NAME") ? getenv("RKB_DOUBLE_NAME") : "no device");
   return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int *count) {
   *count = getenv("RKB_DOUBLE_DEVICES") ? atoi(getenv("RKB_DOUBLE_DEVICES")) : 1;
   return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device) {
   (void)device;
   *bytes = MEMORY_BYTES;
   return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
   (void)device;
   *value = attribute == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE ? 1 << 20 : 1;
   return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
   (void)device;
   memset(uuid, 0, sizeof *uuid);
   return CUDA_SUCCESS;
}
CUresult cuDeviceGetPCIBusId(char *bus, int size, CUdevice device) {
   snprintf(bus, (size_t)size, "dddd:00:00.%d",
            getenv("CUDA_VISIBLE_DEVICES") ? atoi(getenv("CUDA_VISIBLE_DEVICES")) : device);
   return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize(void) {
   return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
   (void)device;
   *context = (CUcontext)&used;
   return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
   (void)context;
   return CUDA_SUCCESS;
}
CUresult cuCtxResetPersistingL2Cache(void) {
   return CUDA_SUCCESS;
}
CUresult cuMemGetInfo(size_t *free_bytes, size_t *bytes) {
   *free_bytes = MEMORY_BYTES - used;
   *bytes = MEMORY_BYTES;
   return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
   (void)image;
   memset(&variables, 0, sizeof variables);
   variables.started = 40;
   *module = (CUmodule)&blocks;
   return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) {
   (void)module;
   return CUDA_SUCCESS;
}
/* A function is its name. */
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
   static const char *const known[] = {"rkb_sum",
                                       "rkb_mix",
                                       "scribble",
                                       "remembers",
                                       "doubled",
                                       "doubled_together",
                                       "doubled_but_for_a_block",
                                       "doubled_or_recalled"};
   (void)module;
   *function = (CUfunction) "";
   for (size_t i = 0; i < sizeof known / sizeof *known; i++)
      if (strcmp(known[i], name) == 0)
         *function = (CUfunction)(uintptr_t)known[i];
   return CUDA_SUCCESS;
}
/* Finds the variables above, and gives every other name the same place, but for `nowhere`. */
CUresult cuModuleGetGlobal(CUdeviceptr *start, size_t *bytes, CUmodule module, const char *name) {
   static uint64_t of_others;
   (void)module;
   *start = (CUdeviceptr)(uintptr_t)(strcmp(name, "launches") == 0  ? (void *)&variables.launches
                                     : strcmp(name, "turns") == 0   ? (void *)&variables.turns
                                     : strcmp(name, "started") == 0 ? (void *)&variables.started
                                                                    : (void *)&of_others);
   *bytes = sizeof(unsigned);
   return strcmp(name, "nowhere") == 0 ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
   (void)function, (void)attribute, (void)value;
   return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
   (void)attribute, (void)function;
   *value = 0;
   return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *start, size_t bytes) {
   for (unsigned i = 0; i < MOST_BLOCKS; i++) {
      if (blocks[i].start)
         continue;
      if (bytes > MEMORY_BYTES - used)
         return CUDA_ERROR_OUT_OF_MEMORY;
      *start = blocks[i].start = (CUdeviceptr)(uintptr_t)aligned_alloc(256, (bytes + 255) / 256 * 256);
      blocks[i].bytes = bytes;
      used += bytes;
      return CUDA_SUCCESS;
   }
   return CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuMemFree(CUdeviceptr start) {
   for (unsigned i = 0; i < MOST_BLOCKS; i++)
      if (start && blocks[i].start == start) {
         free(at(start));
         used -= blocks[i].bytes;
         blocks[i].start = 0;
         return CUDA_SUCCESS;
      }
   return CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
   memcpy(at(to), from, bytes);
   return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
   memcpy(to, at(from), bytes);
   return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
   (void)stream;
   return enqueue((step_t){.kind = COPY, .to = to, .from = from, .bytes = bytes});
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
   (void)stream;
   return enqueue((step_t){.kind = FILL, .to = to, .bytes = count, .value = value, .width = 1});
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
   (void)stream;
   return enqueue((step_t){.kind = FILL, .to = to, .bytes = 2 * count, .value = value, .width = 2});
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
   (void)stream;
   return enqueue((step_t){.kind = FILL, .to = to, .bytes = 4 * count, .value = value, .width = 4});
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
   (void)flags;
   *stream = (CUstream)&used;
   return CUDA_SUCCESS;
}
CUresult cuStreamQuery(CUstream stream) {
   (void)stream;
   return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream stream) {
   (void)stream;
   return CUDA_SUCCESS;
}
CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
   (void)stream, (void)mode;
   recording = calloc(1, sizeof *recording);
   return recording ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
   (void)stream;
   *graph = (CUgraph)recording;
   recording = NULL;
   return CUDA_SUCCESS;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph, unsigned long long flags) {
   (void)flags;
   steps_t *copy = malloc(sizeof *copy);
   if (copy)
      memcpy(copy, graph, sizeof *copy);
   *executable = (CUgraphExec)copy;
   return copy ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
   const steps_t *steps = (const steps_t *)executable;
   (void)stream;
   recalled = false;
   for (unsigned i = 0; i < steps->count; i++) {
      const step_t *s = &steps->list[i];
      perform(s);
      if (s->kind == DOUBLE && s->value == 2)
         recalled = recall(at(s->from), s->bytes);
   }
   return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph graph) {
   free(graph);
   return CUDA_SUCCESS;
}
CUresult cuGraphExecDestroy(CUgraphExec executable) {
   free(executable);
   return CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent *event, unsigned flags) {
   (void)flags;
   *event = (CUevent)&used;
   return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
   (void)event, (void)stream;
   return CUDA_SUCCESS;
}
CUresult cuEventQuery(CUevent event) {
   (void)event;
   return CUDA_SUCCESS;
}
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent stop) {
   (void)start, (void)stop;
   *milliseconds = recalled ? 0.001f : 0.01f;
   return CUDA_SUCCESS;
}
/* The kernels of tests/gpu/peer that compute something have (from, to, count), and "remembers" has (scratch, to).  A driver's layout is
 * its own, and not that of PTX. */
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes) {
   const char *name = (const char *)function;
   const size_t count = strncmp(name, "doubled", 7) == 0 ? 3 : strcmp(name, "remembers") == 0 ? 2 : 0;
   if (index >= count)
      return CUDA_ERROR_INVALID_VALUE;
   *offset = 16 * index;
   *bytes = index < 2 ? 8 : 4;
   return CUDA_SUCCESS;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
                          void **extra) {
   const char *name = (const char *)function;
   (void)config;
   if (extra)
      return CUDA_ERROR_INVALID_VALUE; /* in the driver's own layout, which nobody here knows; a cooperative launch may have none at all */
   if (strcmp(name, "scribble") == 0)
      return enqueue((step_t){.kind = SCRIBBLE});
   if (strcmp(name, "remembers") == 0)
      return enqueue((step_t){
         .kind = REMEMBER, .from = *(CUdeviceptr *)parameters[0], .to = *(CUdeviceptr *)parameters[1]});
   if (strcmp(name, "rkb_sum") == 0)
      return enqueue((step_t){.kind = SUM,
                              .from = *(CUdeviceptr *)parameters[0],
                              .bytes = *(unsigned long long *)parameters[1],
                              .key = *(unsigned long long *)parameters[2],
                              .to = *(CUdeviceptr *)parameters[3]});
   if (strcmp(name, "rkb_mix") == 0)
      return enqueue((step_t){.kind = MIX,
                              .from = *(CUdeviceptr *)parameters[0],
                              .other = *(CUdeviceptr *)parameters[1],
                              .to = *(CUdeviceptr *)parameters[2],
                              .bytes = *(unsigned long long *)parameters[3],
                              .value = *(unsigned *)parameters[4],
                              .key = *(unsigned long long *)parameters[5]});
   if (strncmp(name, "doubled", 7) == 0) /* of a plan */
      return enqueue((step_t){.kind = DOUBLE,
                              .from = *(CUdeviceptr *)parameters[0],
                              .to = *(CUdeviceptr *)parameters[1],
                              .bytes = sizeof(float) * (size_t) * (int *)parameters[2],
                              .value = strcmp(name, "doubled_but_for_a_block") == 0 ? 1
                                       : strcmp(name, "doubled_or_recalled") == 0   ? 2
                                                                                    : 0});
   return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult status, const char **name) {
   *name = status == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "an error";
   return CUDA_SUCCESS;
}
