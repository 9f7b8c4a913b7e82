/* rkb-record-clusters OUT PROGRAM.ptx... - runs the programs of cluster_programs.h on the GPU of this machine and records, for each, the
 * first bytes of what it leaves and a hash of all of it.  Needs a driver (libcuda.so.1) and nothing else.  Each program has a process of its
 * own, since one that fails takes the process's context with it. */
#include "cluster_programs.h"
#include "cuda_driver.h"

#include <sys/wait.h>
#include <unistd.h>

/* CUDA driver API reference, 'Execution Control' and 'Tensor Map Object Management'. */
typedef struct launch_attribute {
   uint32_t id, padding;
   uint32_t value[16];
} launch_attribute_t;
#define CLUSTER_DIMENSION 4

typedef struct launch_config {
   unsigned grid[3], block[3], shared_bytes;
   void *stream;
   launch_attribute_t *attributes;
   unsigned attribute_count;
} launch_config_t;

typedef int launch_t(const launch_config_t *config, void *function, void **arguments, void **extra);
typedef int encode_tiled_t(void *map, int type, uint32_t rank, void *address, const uint64_t *dims,
                           const uint64_t *strides, const uint32_t *box, const uint32_t *element_strides,
                           int interleave, int swizzle, int promotion, int fill);

static bool find(const char *name, void *slot) {
   void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL),
        *symbol = handle ? dlsym(handle, name) : NULL;
   memcpy(slot, &symbol, sizeof symbol);
   return symbol != NULL;
}

static int run(const struct driver *d, const cluster_program_t *program, uint8_t *out) {
   static _Alignas(64) uint8_t map[RKB_MAP_BYTES];
   static uint8_t bytes[PROGRAM_TENSOR_BYTES];
   const rkb_plan_map_t *m = &program_map;
   launch_t *launch;
   encode_tiled_t *encode;
   uint64_t tensor, device_out;
   void *module, *function, *arguments[] = {map, &tensor, &device_out};
   launch_attribute_t cluster = {.id = CLUSTER_DIMENSION,
                                 .value = {program->cluster[0], program->cluster[1], program->cluster[2]}};
   const launch_config_t config = {.grid = {program->grid[0], program->grid[1], program->grid[2]},
                                   .block = {program->block, 1, 1},
                                   .attributes = &cluster,
                                   .attribute_count =
                                      program->cluster[0] * program->cluster[1] * program->cluster[2] > 1};
   program_fill(bytes, out);
   if (!find("cuLaunchKernelEx", &launch) || !find("cuTensorMapEncodeTiled", &encode))
      return -1;
   int status = d->allocate(&tensor, sizeof bytes);
   if (!status)
      status = d->allocate(&device_out, PROGRAM_OUT_BYTES);
   if (!status)
      status = encode(map, (int)m->type, m->rank, (void *)(uintptr_t)tensor, m->dims, m->strides, m->box,
                      m->element_strides, 0, (int)m->swizzle, 0, 0);
   if (!status)
      status = d->load(&module, program->ptx);
   if (!status)
      status = d->function(&function, module, "program");
   if (!status)
      status = d->to_device(tensor, bytes, sizeof bytes);
   if (!status)
      status = d->to_device(device_out, out, PROGRAM_OUT_BYTES);
   if (!status)
      status = launch(&config, function, arguments, NULL);
   if (!status)
      status = d->synchronize();
   return status ? status : d->to_host(out, device_out, PROGRAM_OUT_BYTES);
}

static int record(const char *path, FILE *file, bool heading) {
   static cluster_program_t program;
   static uint8_t out[PROGRAM_OUT_BYTES];
   struct driver d;
   FILE *nowhere = fopen("/dev/null", "w");
   if (!program_read(path, &program) || !nowhere ||
       !open_device(&d, heading ? file : nowhere, "record_clusters.c from cluster_programs"))
      return 3;
   alarm(20);
   const int status = run(&d, &program, out);
   fprintf(file, "%s %016lx ", program.name, program_hash(program.ptx, strlen(program.ptx)));
   for (uint32_t n = 0; !status && n < PROGRAM_SAMPLE; n++)
      fprintf(file, "%02x", out[n]);
   if (status)
      fprintf(file, "error %d\n", status);
   else
      fprintf(file, " %016lx\n", program_hash(out, sizeof out));
   return fflush(file) ? 3 : 0;
}

int main(int argc, char **argv) {
   FILE *file = argc > 2 ? fopen(argv[1], "w") : NULL;
   int failed = 0;
   if (!file) {
      fprintf(stderr, "usage: %s OUT PROGRAM.ptx...\n", argv[0]);
      return 2;
   }
   for (int n = 2; n < argc; n++) {
      int status;
      const pid_t child = fork();
      if (child == 0)
         _exit(record(argv[n], file, n == 2));
      if (child < 0 || waitpid(child, &status, 0) != child || status) {
         fprintf(stderr, "%s: not recorded\n", argv[n]);
         failed++;
      }
   }
   return fclose(file) || failed ? 1 : 0;
}
