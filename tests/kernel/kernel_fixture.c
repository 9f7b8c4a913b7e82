/* See kernel_fixture.h. */
#include "kernel_fixture.h"
#include "base/file.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void tensor(rkb_tensor_t *out, const char *name, uint32_t role, uint32_t rank, const int64_t *shape) {
   *out = (rkb_tensor_t){
      .name = name, .role = role, .dtype = RKB_F32, .rank = rank, .alignment = 256, .elements = 1};
   for (uint32_t i = 0; i < rank; i++) {
      out->shape[i] = shape[i];
      out->elements *= (uint64_t)shape[i];
   }
   out->bytes = out->elements * 4;
}

void fixture_rmsnorm(fixture_case_t *made, int64_t batch, int64_t time, int64_t width) {
   static const rkb_named_real_t attributes[] = {{"eps", 1e-5}};
   static _Thread_local rkb_named_int_t dims[3];
   const int64_t shape[3] = {batch, time, width};
   memset(made, 0, sizeof *made);
   dims[0] = (rkb_named_int_t){"B", batch};
   dims[1] = (rkb_named_int_t){"T", time};
   dims[2] = (rkb_named_int_t){"D", width};
   tensor(&made->tensors[0], "x", RKB_IN, 3, shape);
   tensor(&made->tensors[1], "weight", RKB_IN, 1, shape + 2);
   tensor(&made->tensors[2], "y", RKB_OUT, 3, shape);
   made->dims = dims;
   made->attributes = attributes;
   made->of = (rkb_case_t){.name = "check/fixture",
                           .kind = RKB_CASE_CHECK,
                           .tensor_count = 3,
                           .tensors = made->tensors,
                           .dims = dims,
                           .dim_count = 3,
                           .attributes = attributes,
                           .attribute_count = 1};
}

bool fixture_lookup(void *argument, const char *name, rkb_value_t *value) {
   const fixture_case_t *made = argument;
   for (uint32_t i = 0; i < made->of.dim_count; i++) {
      if (strcmp(made->dims[i].name, name) == 0) {
         *value = (rkb_value_t){.integer = made->dims[i].value};
         return true;
      }
   }
   for (uint32_t i = 0; i < made->of.attribute_count; i++) {
      if (strcmp(made->attributes[i].name, name) == 0) {
         *value = (rkb_value_t){.is_real = true, .real = made->attributes[i].value};
         return true;
      }
   }
   return false;
}

char *fixture_read(const char *relative, size_t *length) {
   rkb_error_t err;
   char path[4096], *data = NULL;
   snprintf(path, sizeof path, "%s/tests/kernel/%s", RKB_SOURCE_DIR, relative);
   if (rkb_file_read(path, 32u << 20, &data, length, &err) != RKB_OK)
      fail_msg("%s: %s", path, err.message);
   return data;
}

const rkb_device_t *fixture_device(const char *name) {
   static struct {
      char name[32];
      rkb_device_t *device;
   } loaded[8];
   rkb_problems_t problems;
   for (size_t i = 0; i < 8; i++) {
      if (loaded[i].device && strcmp(loaded[i].name, name) == 0)
         return loaded[i].device;
      if (loaded[i].device)
         continue;
      rkb_problems_init(&problems);
      loaded[i].device = rkb_device_load(name, &problems);
      if (!loaded[i].device)
         fail_msg("%s: %s", name, problems.count ? problems.list[0].message : "no reason");
      rkb_problems_free(&problems);
      snprintf(loaded[i].name, sizeof loaded[i].name, "%s", name);
      return loaded[i].device;
   }
   fail_msg("too many devices");
   return NULL;
}

rkb_compilers_t *fixture_pool(uint32_t processes, const char *cache) {
   const rkb_compilers_config_t config = {.processes = processes, .cache_directory = cache ? cache : ""};
   rkb_compilers_t *pool = NULL;
   rkb_error_t err;
   if (rkb_compilers_open(&config, &pool, &err) != RKB_OK)
      fail_msg("%s", err.message);
   return pool;
}

char *fixture_directory(void) {
   char path[] = "/tmp/rkb-test-XXXXXX";
   assert_non_null(mkdtemp(path));
   return strdup(path);
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *walk) {
   (void)about, (void)type, (void)walk;
   return remove(path);
}

void fixture_remove(const char *directory) {
   nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
