/* The checking machine against an H200: every program of cluster_programs/ must leave what it left on the device. */
#include "check.h"
#include "cluster_programs.h"
#include "machine/machine.h"

#include <stdlib.h>

#define FOLDER RKB_SOURCE_DIR "/tests/conformance/"

typedef struct replay {
   cluster_program_t program;
   uint8_t tensor[PROGRAM_TENSOR_BYTES], out[PROGRAM_OUT_BYTES];
   char why[600];
} replay_t;

static bool execute(replay_t *r, bool portable) {
   const cluster_program_t *p = &r->program;
   const rkb_plan_buffer_t buffers[2] = {{.name = "tensor",
                                          .role = RKB_IN,
                                          .dtype = RKB_U8,
                                          .alignment = 256,
                                          .bytes = PROGRAM_TENSOR_BYTES,
                                          .elements = PROGRAM_TENSOR_BYTES},
                                         {.name = "out",
                                          .role = RKB_INOUT,
                                          .dtype = RKB_U8,
                                          .tensor = 1,
                                          .alignment = 256,
                                          .bytes = PROGRAM_OUT_BYTES,
                                          .elements = PROGRAM_OUT_BYTES}};
   const rkb_plan_argument_t arguments[3] = {{.buffer = 0, .bytes = RKB_MAP_BYTES, .map = 1},
                                             {.buffer = 0, .offset = RKB_MAP_BYTES, .bytes = 8},
                                             {.buffer = 1, .offset = RKB_MAP_BYTES + 8, .bytes = 8}};
   const rkb_machine_buffer_t data[2] = {{r->tensor, true}, {r->out, true}};
   rkb_plan_launch_t launch = {.entry = "program",
                               .expression = "program",
                               .block = {p->block, 1, 1},
                               .argument_count = 3,
                               .parameter_bytes = RKB_MAP_BYTES + 16,
                               .arguments = arguments};
   memcpy(launch.grid, p->grid, sizeof launch.grid);
   memcpy(launch.cluster, p->cluster, sizeof launch.cluster);
   const rkb_plan_t plan = {.version = 1,
                            .buffer_count = 2,
                            .launch_count = 1,
                            .buffers = buffers,
                            .launches = &launch,
                            .map_count = 1,
                            .maps = &program_map};
   const rkb_machine_options_t options = {.portable = portable,
                                          .checks = RKB_MACHINE_RACES | RKB_MACHINE_TAINT};
   rkb_machine_module_t *module = rkb_machine_module_read(p->ptx, strlen(p->ptx));
   rkb_machine_t *machine = NULL;
   rkb_machine_report_t report = {0};
   rkb_error_t err;
   bool done = false;
   snprintf(r->why, sizeof r->why, "another result");
   program_fill(r->tensor, r->out);
   if (rkb_machine_open(module, &plan, &options, &machine, &err) != RKB_OK ||
       rkb_machine_run(machine, data, &err) != RKB_OK) {
      snprintf(r->why, sizeof r->why, "%s", err.message);
   } else {
      rkb_machine_report(machine, &report);
      done = report.complete && !report.finding_count;
      for (uint32_t n = 0; n < report.finding_count; n++)
         snprintf(r->why, sizeof r->why, "PTX line %u: %s: %.300s", report.findings[n].ptx_line,
                  report.findings[n].reason, report.findings[n].message);
   }
   rkb_machine_close(machine);
   rkb_machine_module_free(module);
   return done;
}

/* "NAME HASH-OF-TEXT BYTES HASH-OF-ALL" */
static bool same(replay_t *r, const char *record) {
   char sample[2 * PROGRAM_SAMPLE + 1], is[2 * PROGRAM_SAMPLE + 1];
   unsigned long long text, all;
   if (sscanf(record, "%*s %llx %128s %llx", &text, sample, &all) != 3 ||
       text != program_hash(r->program.ptx, strlen(r->program.ptx))) {
      snprintf(r->why, sizeof r->why, "the record is of another text: record again");
      return false;
   }
   for (uint32_t n = 0; n < PROGRAM_SAMPLE; n++)
      snprintf(is + 2 * n, 3, "%02x", r->out[n]);
   if (strcmp(is, sample) != 0)
      snprintf(r->why, sizeof r->why, "leaves\n%s, the device\n%s", is, sample);
   return strcmp(is, sample) == 0 && all == program_hash(r->out, PROGRAM_OUT_BYTES);
}

static void replay(bool portable) {
   FILE *records = fopen(FOLDER "h200_clusters.txt", "r");
   replay_t *r = calloc(1, sizeof *r);
   char record[1024], name[64], path[512];
   uint32_t run = 0, wrong = 0;
   assert_true(r && records && fgets(record, sizeof record, records)); /* past the heading */
   while (fgets(record, sizeof record, records) && sscanf(record, "%63s", name) == 1) {
      snprintf(path, sizeof path, FOLDER "cluster_programs/%s.ptx", name);
      assert_true(program_read(path, &r->program));
      run++;
      if (!execute(r, portable) || !same(r, record)) {
         print_message("%s: %s\n", name, r->why);
         wrong++;
      }
   }
   fclose(records);
   free(r);
   assert_true(run > 0);
   assert_int_equal(wrong, 0);
}

static void results_are_the_devices(void **state) {
   (void)state;
   replay(false);
}

static void results_are_the_devices_portably(void **state) {
   (void)state;
   replay(true);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(results_are_the_devices),
                                      cmocka_unit_test(results_are_the_devices_portably)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
