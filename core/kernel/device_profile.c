/* Device profiles: devices/<name>.yaml.  Every number is an expression over earlier numbers, so the file shows how derived figures
 * are computed.  A loaded profile owns its arena and is immutable; any thread. */
#include "kernel/kernel.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/shipped_files.h"
#include "base/yaml.h"

#include <stdlib.h>
#include <string.h>

typedef struct owned_device {
   rkb_device_t public;
   rkb_arena_t *arena;
} owned_device_t;

typedef struct field {
   const char *name;
   size_t offset;
   bool integer;
} field_t;

#define INTEGER(name)                                                                                        \
   { #name, offsetof(rkb_device_t, name), true }
#define REAL(name)                                                                                           \
   { #name, offsetof(rkb_device_t, name), false }
static const field_t fields[] = {INTEGER(multiprocessors),
                                 REAL(clock_hz),
                                 REAL(memory_bandwidth),
                                 REAL(l2_bandwidth),
                                 REAL(shared_bandwidth),
                                 REAL(l2_bytes),
                                 REAL(memory_bytes),
                                 INTEGER(shared_per_multiprocessor),
                                 INTEGER(shared_per_block),
                                 INTEGER(shared_per_block_optin),
                                 INTEGER(shared_reserved),
                                 INTEGER(registers_per_multiprocessor),
                                 INTEGER(registers_per_thread),
                                 INTEGER(register_unit),
                                 INTEGER(threads_per_multiprocessor),
                                 INTEGER(threads_per_block),
                                 INTEGER(blocks_per_multiprocessor),
                                 INTEGER(warp_size),
                                 INTEGER(constant_bytes),
                                 INTEGER(parameter_bytes),
                                 INTEGER(max_cluster),
                                 REAL(f32_per_clock),
                                 REAL(f64_per_clock),
                                 REAL(f16_per_clock),
                                 REAL(bf16_per_clock),
                                 REAL(int32_per_clock),
                                 REAL(special_per_clock),
                                 REAL(tensor_tf32),
                                 REAL(tensor_bf16),
                                 REAL(tensor_fp16),
                                 REAL(memory_latency_s),
                                 REAL(l2_latency_s),
                                 REAL(shared_latency_s),
                                 REAL(launch_floor_s),
                                 REAL(graph_launch_s),
                                 REAL(memory_sustained),
                                 REAL(issue_per_clock),
                                 REAL(load_store_per_clock),
                                 REAL(convert_per_clock),
                                 REAL(issue_latency_clocks),
                                 REAL(barrier_clocks),
                                 REAL(tensor_fp8),
                                 REAL(tensor_int8),
                                 REAL(tensor_mma_share),
                                 REAL(tensor_latency_clocks),
                                 REAL(l2_copy_bandwidth),
                                 REAL(tensor_group_share)};
enum { FIELD_COUNT = sizeof fields / sizeof *fields };

typedef struct reader {
   rkb_device_t *device;
   rkb_arena_t *arena;
   rkb_problems_t *problems;
   bool known[FIELD_COUNT];
} reader_t;

static bool find_field(void *argument, const char *name, rkb_value_t *value) {
   const reader_t *reader = argument;
   for (uint32_t i = 0; i < FIELD_COUNT; i++) {
      const char *place = (const char *)reader->device + fields[i].offset;
      if (!reader->known[i] || strcmp(fields[i].name, name) != 0)
         continue;
      *value = (rkb_value_t){.is_real = !fields[i].integer};
      if (fields[i].integer)
         memcpy(&value->integer, place, sizeof value->integer);
      else
         memcpy(&value->real, place, sizeof value->real);
      return true;
   }
   return false;
}

static bool evaluate(reader_t *reader, const rkb_yaml_t *node, const char *what,
                     const rkb_expression_t *expression, rkb_value_t *value) {
   char message[256];
   if (!expression)
      return false;
   if (rkb_expression_evaluate(expression, find_field, reader, value, message, sizeof message) ==
       RKB_FAULT_NONE)
      return true;
   rkb_problem(reader->problems, node->place, "%s: %s", what, message);
   return false;
}

static void read_field(reader_t *reader, const rkb_yaml_t *node, uint32_t index) {
   const field_t *field = &fields[index];
   char *place = (char *)reader->device + field->offset;
   const char *text;
   rkb_value_t value;
   rkb_expression_t *expression;
   double real;
   if (!rkb_yaml_scalar(node, field->name, &text, reader->problems))
      return;
   expression = rkb_expression_parse(reader->arena, text, strlen(text), node->place, reader->problems);
   if (!evaluate(reader, node, field->name, expression, &value))
      return;
   real = value.is_real ? value.real : (double)value.integer;
   if ((field->integer && value.is_real) || real < 0) {
      rkb_problem(reader->problems, node->place, "%s is %s", field->name,
                  real < 0 ? "negative" : "a whole number");
      return;
   }
   if (field->integer)
      memcpy(place, &value.integer, sizeof value.integer);
   else
      memcpy(place, &real, sizeof real);
   reader->known[index] = true;
}

static void read_three(reader_t *reader, const rkb_yaml_t *root, const char *name, int64_t out[3]) {
   const rkb_yaml_t *node = rkb_yaml_get(root, name);
   rkb_expression_t **list = NULL;
   uint32_t count = 0;
   const char *text;
   if (!node || !rkb_yaml_scalar(node, name, &text, reader->problems) ||
       !rkb_expression_list(reader->arena, text, strlen(text), node->place, &list, &count,
                            reader->problems) ||
       count != 3) {
      rkb_problem(reader->problems, node ? node->place : root->place, "a device needs %s: with three numbers",
                  name);
      return;
   }
   for (uint32_t i = 0; i < 3; i++) {
      rkb_value_t value;
      if (evaluate(reader, node, name, list[i], &value))
         out[i] = value.integer;
   }
}

static const char *read_name(reader_t *reader, const rkb_yaml_t *root, const char *name) {
   const rkb_yaml_t *node = rkb_yaml_get(root, name);
   const char *text = "";
   if (!node)
      rkb_problem(reader->problems, root->place, "a device needs %s:", name);
   else
      rkb_yaml_scalar(node, name, &text, reader->problems);
   return text;
}

static void read_device(reader_t *reader, const rkb_yaml_t *root) {
   static const char *const others[] = {"rkb-device",   "name",     "title",
                                        "architecture", "max_grid", "max_block"};
   const char *known[FIELD_COUNT + sizeof others / sizeof *others + 1] = {NULL};
   uint32_t count = 0;
   for (size_t i = 0; i < sizeof others / sizeof *others; i++)
      known[count++] = others[i];
   for (uint32_t i = 0; i < FIELD_COUNT; i++)
      known[count++] = fields[i].name;
   rkb_yaml_only(root, "a device", known, reader->problems);
   reader->device->name = read_name(reader, root, "name");
   reader->device->title = read_name(reader, root, "title");
   reader->device->architecture = read_name(reader, root, "architecture");
   if (strncmp(reader->device->architecture, "sm_", 3) != 0)
      rkb_problem(reader->problems, root->place, "architecture is written sm_90 or sm_90a");
   /* Evaluated in the file's order: an expression may use only numbers above it. */
   for (uint32_t k = 0; k < root->count; k++)
      for (uint32_t i = 0; i < FIELD_COUNT; i++)
         if (strcmp(root->keys[k]->text, fields[i].name) == 0)
            read_field(reader, root->items[k], i);
   for (uint32_t i = 0; i < FIELD_COUNT; i++)
      if (!rkb_yaml_get(root, fields[i].name))
         rkb_problem(reader->problems, root->place, "a device needs %s:", fields[i].name);
   read_three(reader, root, "max_grid", reader->device->max_grid);
   read_three(reader, root, "max_block", reader->device->max_block);
}

static char *profile_path(const char *name) {
   char relative[128];
   if (strchr(name, '/') || strstr(name, ".yaml"))
      return rkb_duplicate(name);
   snprintf(relative, sizeof relative, "devices/%.100s.yaml", name);
   return rkb_find_data(relative);
}

static void say_absent(const char *name_or_path, rkb_problems_t *problems) {
   char *hint = rkb_shipped_hint("devices", name_or_path), *list = rkb_shipped_list("devices");
   if (list)
      rkb_problem(problems, (rkb_place_t){NULL, 0, 0}, "no device profile '%.100s'%s%sdevices/ has %s",
                  name_or_path, hint, *hint ? " " : "; ", list);
   else
      rkb_problem(
         problems, (rkb_place_t){NULL, 0, 0},
         "no device profile '%.100s': this program has no folder devices; put its build folder into its source folder, install rkb, or write the profile's path (target: FILE.yaml)",
         name_or_path);
   free(hint);
   free(list);
}

rkb_device_t *rkb_device_load(const char *name_or_path, rkb_problems_t *problems) {
   const uint32_t errors = problems->errors;
   rkb_arena_t *arena = rkb_arena_new(0);
   owned_device_t *device = rkb_arena_alloc(arena, sizeof *device);
   char *path = profile_path(name_or_path);
   const rkb_yaml_t *root = NULL;
   if (path && rkb_path_exists(path))
      root = rkb_yaml_load(arena, path, problems);
   else
      say_absent(name_or_path, problems);
   if (root && rkb_yaml_expect(root, RKB_YAML_MAP, "a device profile", problems)) {
      reader_t reader = {.device = &device->public, .arena = arena, .problems = problems};
      device->arena = arena;
      read_device(&reader, root);
   }
   free(path);
   if (problems->errors == errors && root)
      return &device->public;
   rkb_arena_free(arena);
   return NULL;
}

void rkb_device_free(rkb_device_t *device) {
   if (device)
      rkb_arena_free(((owned_device_t *)device)->arena);
}

const char *rkb_device_property(const rkb_device_t *device, uint32_t number, int64_t *value) {
   const struct {
      const char *name;
      int64_t value;
   } table[] = {{"multiprocessors", device->multiprocessors},
                {"warp_size", device->warp_size},
                {"shared_per_block", device->shared_per_block},
                {"shared_per_block_optin", device->shared_per_block_optin},
                {"shared_per_multiprocessor", device->shared_per_multiprocessor},
                {"threads_per_multiprocessor", device->threads_per_multiprocessor},
                {"l2_bytes", (int64_t)device->l2_bytes}};
   if (number >= sizeof table / sizeof *table)
      return NULL;
   *value = table[number].value;
   return table[number].name;
}
