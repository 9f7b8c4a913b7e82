/* Reads best/<direction>.yaml.  This file names the best kernel, if it is a seed with other tune values, so that no copy of the seed is needed.  Any
 * thread. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/yaml.h"
#include "cli/bench/bench.h"
#include "kernel/kernel.h"

#define MOST_SOURCE (256u << 10)

typedef struct reader {
   const rkb_bench_work_t *work;
   rkb_problems_t problems;
   rkb_bench_kernel_t kernel;
} reader_t;

/* Reads the seed's manifest; NULL with a problem at the seed's name. */
static rkb_manifest_t *read_seed(reader_t *in, const rkb_yaml_t *seed) {
   char path[4096], *source = NULL;
   const char *name;
   size_t length;
   rkb_error_t err;
   if (!rkb_yaml_scalar(seed, "seed", &name, &in->problems))
      return NULL;
   if (strchr(name, '/')) {
      rkb_problem(&in->problems, seed->place, "seed is a file's name in seeds/%s/, without a folder",
                  in->work->direction);
      return NULL;
   }
   snprintf(path, sizeof path, "%s/seeds/%s/%s", in->work->directory, in->work->direction, name);
   if (rkb_file_read(path, MOST_SOURCE, &source, &length, &err) != RKB_OK) {
      rkb_problem(&in->problems, seed->place, "%s", err.message);
      return NULL;
   }
   in->kernel.path = rkb_duplicate(path);
   rkb_manifest_t *manifest = rkb_manifest_parse(path, source, length, &in->problems);
   free(source);
   return manifest;
}

static bool has_parameter(const rkb_manifest_t *manifest, const char *name) {
   for (uint32_t i = 0; i < manifest->tune_count; i++)
      if (strcmp(manifest->tune[i].name, name) == 0)
         return true;
   return false;
}

/* Reads the tune values.  Every parameter has to be named; otherwise a new default of the seed would silently
 * change the best kernel. */
static json_t *read_tune(reader_t *in, const rkb_yaml_t *tune, const rkb_manifest_t *manifest) {
   json_t *values = json_object();
   if (!rkb_yaml_expect(tune, RKB_YAML_MAP, "tune", &in->problems))
      return values;
   for (uint32_t i = 0; i < tune->count; i++) {
      const char *name = tune->keys[i]->text;
      int64_t value;
      if (!has_parameter(manifest, name))
         rkb_problem(&in->problems, tune->keys[i]->place, "the seed has no tune parameter '%s'", name);
      else if (rkb_yaml_int(tune->items[i], name, &value, &in->problems))
         json_object_set_new(values, name, json_integer(value));
   }
   for (uint32_t i = 0; i < manifest->tune_count; i++)
      if (!rkb_yaml_get(tune, manifest->tune[i].name))
         rkb_problem(&in->problems, tune->place, "tune lacks the seed's parameter '%s'",
                     manifest->tune[i].name);
   return values;
}

/* Whether each value is one that the manifest allows. */
static void check_values(reader_t *in, const rkb_yaml_t *tune, const rkb_manifest_t *manifest) {
   rkb_finding_t finding = {0};
   rkb_error_t err = {0};
   int64_t *values = rkb_allocate(manifest->tune_count + 1, sizeof *values);
   int status = in->kernel.tune ? rkb_tune_resolve(manifest, in->kernel.tune, values, &finding, &err)
                                : rkb_fail_memory(&err, 0);
   if (status != RKB_OK || finding.reason[0])
      rkb_problem(&in->problems, tune->place, "%s", status != RKB_OK ? err.message : finding.message);
   free(values);
}

static void read_document(reader_t *in, const rkb_yaml_t *root) {
   static const char *const keys[] = {"seed", "tune", NULL};
   const rkb_yaml_t *seed = rkb_yaml_get(root, "seed"), *tune = rkb_yaml_get(root, "tune");
   if (!rkb_yaml_expect(root, RKB_YAML_MAP, "the file", &in->problems))
      return;
   rkb_yaml_only(root, "the file", keys, &in->problems);
   if (!seed || !tune) {
      rkb_problem(&in->problems, root->place, "'%s' is missing: write {seed: FILE.cu, tune: {NAME: VALUE}}",
                  seed ? "tune" : "seed");
      return;
   }
   rkb_manifest_t *manifest = read_seed(in, seed);
   if (!manifest)
      return;
   json_t *values = read_tune(in, tune, manifest);
   in->kernel.tune = rkb_json_canonical(values);
   if (!in->problems.errors)
      check_values(in, tune, manifest);
   json_decref(values);
   rkb_manifest_free(manifest);
}

int rkb_bench_best_read(const rkb_bench_work_t *work, rkb_bench_kernel_t *kernel, rkb_error_t *err) {
   char path[4096];
   reader_t in = {.work = work};
   snprintf(path, sizeof path, "%s/best/%s.yaml", work->directory, work->direction);
   *kernel = (rkb_bench_kernel_t){.path = NULL};
   if (!rkb_path_exists(path))
      return RKB_OK;
   rkb_problems_init(&in.problems);
   rkb_arena_t *arena = rkb_arena_new(0);
   const rkb_yaml_t *root = rkb_yaml_load(arena, path, &in.problems);
   if (root)
      read_document(&in, root);
   int status = rkb_problems_error(&in.problems, err);
   if (status == RKB_OK && (!in.kernel.path || !in.kernel.tune))
      status = rkb_fail_memory(err, 0);
   if (status == RKB_OK)
      *kernel = in.kernel;
   else
      rkb_bench_kernel_free(&in.kernel);
   rkb_problems_free(&in.problems);
   rkb_arena_free(arena);
   return status;
}
