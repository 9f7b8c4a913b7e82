/* The checking machine against an H200: every matrix instruction of tensor_forms.txt on the recorded operands must give the same
 * bits, the first elements as they were recorded and a hash for each block of the others.  With an argument, says for each
 * failing form how many of its elements or blocks differ. */
#include "check.h"
#include "tensor_vectors.h"
#include "machine/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER RKB_SOURCE_DIR "/tests/conformance/"
#define ROOM (16u << 20)
/* The release build replays every form.  Under a sanitizer that takes three times as long, and neighbouring
 * forms run the same code.  There each instruction set replays every eleventh form; the portable one replays
 * other forms than the best one. */
#ifdef __SANITIZE_ADDRESS__
#define EVERY 11u
#else
#define EVERY 1u
#endif

typedef struct replay {
   uint8_t *matrix[4]; /* d, a, b, c */
   char ptx[65536], why[256];
   bool portable;
} replay_t;

static bool execute(replay_t *r, const tensor_form_t *form) {
   static const char *const names[4] = {"d", "a", "b", "c"};
   rkb_plan_buffer_t buffers[4];
   rkb_plan_argument_t arguments[4];
   rkb_machine_buffer_t data[4];
   for (uint32_t o = 0; o < 4; o++) {
      const uint64_t bytes = (uint64_t)form->warps * form->bytes[o];
      buffers[o] = (rkb_plan_buffer_t){.name = names[o],
                                       .role = o ? RKB_IN : RKB_OUT,
                                       .dtype = RKB_U8,
                                       .tensor = o,
                                       .alignment = 256,
                                       .bytes = bytes,
                                       .elements = bytes};
      arguments[o] = (rkb_plan_argument_t){.buffer = o, .offset = 8 * o, .bytes = 8};
      data[o] = (rkb_machine_buffer_t){r->matrix[o], o != 0};
      if (o)
         tensor_fill(form, o, r->matrix[o]);
   }
   rkb_plan_launch_t launch = {.entry = "tensor",
                               .expression = "tensor",
                               .grid = {form->warps, 1, 1},
                               .block = {form->threads, 1, 1},
                               .cluster = {1, 1, 1},
                               .argument_count = 4,
                               .parameter_bytes = 32,
                               .arguments = arguments};
   rkb_plan_t plan = {
      .version = 1, .buffer_count = 4, .launch_count = 1, .buffers = buffers, .launches = &launch};
   rkb_machine_options_t options = {.portable = r->portable, .checks = RKB_MACHINE_RACES};
   rkb_machine_module_t *module = rkb_machine_module_read(r->ptx, strlen(r->ptx));
   rkb_machine_t *machine = NULL;
   rkb_machine_report_t report = {0};
   rkb_error_t err;
   bool done = false;
   if (rkb_machine_open(module, &plan, &options, &machine, &err) != RKB_OK ||
       rkb_machine_run(machine, data, &err) != RKB_OK) {
      snprintf(r->why, sizeof r->why, "%s", err.message);
   } else {
      rkb_machine_report(machine, &report);
      done = report.complete;
      for (uint32_t n = 0; n < report.finding_count; n++)
         snprintf(r->why, sizeof r->why, "%s: %.200s", report.findings[n].reason, report.findings[n].message);
   }
   rkb_machine_close(machine);
   rkb_machine_module_free(module);
   return done;
}

static bool compare(replay_t *r, const tensor_form_t *form, const char *recorded) {
   uint32_t samples = 0, blocks = 0;
   for (uint32_t n = 0; n < TENSOR_SAMPLES; n++) {
      bool same = true;
      for (uint32_t b = 0; b < form->output_bytes; b++, recorded += 2) {
         unsigned byte = 256;
         sscanf(recorded, "%2x", &byte);
         same &= byte == r->matrix[0][n * form->output_bytes + b];
      }
      samples += !same;
   }
   const size_t bytes = (size_t)TENSOR_BLOCK * form->output_bytes;
   for (uint32_t b = 0; b < form->total / TENSOR_BLOCK; b++) {
      char *rest;
      blocks += strtoull(recorded, &rest, 16) != tensor_hash(r->matrix[0] + b * bytes, bytes);
      recorded = rest;
   }
   snprintf(r->why, sizeof r->why, "%u of %u samples and %u of %u blocks differ", samples, TENSOR_SAMPLES,
            blocks, form->total / TENSOR_BLOCK);
   return samples + blocks == 0;
}

static bool replay_form(replay_t *r, const tensor_form_t *form, const char *recorded) {
   char *rest;
   r->why[0] = '\0';
   if (strtoull(recorded, &rest, 16) != tensor_hash(form->text, strlen(form->text))) {
      snprintf(r->why, sizeof r->why, "the record is of another form: record again");
      return false;
   }
   return tensor_ptx(form, r->ptx, sizeof r->ptx) && execute(r, form) && compare(r, form, rest + 1);
}

static void replay(bool portable, const char *name, const char *recorded, uint32_t least) {
   char path[2][512], line[1024], *record = malloc(1u << 16);
   snprintf(path[0], sizeof path[0], FOLDER "%s", name);
   snprintf(path[1], sizeof path[1], FOLDER "%s", recorded);
   replay_t *r = calloc(1, sizeof *r);
   FILE *forms = fopen(path[0], "r"), *records = fopen(path[1], "r");
   uint32_t run = 0, wrong = 0;
   r->portable = portable;
   for (int o = 0; o < 4; o++)
      r->matrix[o] = malloc(ROOM);
   assert_true(forms && records && record && fgets(record, 1 << 16, records)); /* past the heading */
   while (fgets(line, sizeof line, forms)) {
      tensor_form_t form;
      const char *message;
      if (!tensor_parse(line, &form, &message))
         continue;
      assert_non_null(fgets(record, 1 << 16, records));
      if (run++ % EVERY != portable % EVERY)
         continue;
      if (!replay_form(r, &form, record)) {
         print_message("%s: %s\n", form.text, r->why);
         wrong++;
      }
   }
   print_message("%u forms, one in %u replayed, %u differ from the device\n", run, EVERY, wrong);
   for (int o = 0; o < 4; o++)
      free(r->matrix[o]);
   free(record);
   free(r);
   fclose(forms);
   fclose(records);
   assert_int_equal(wrong, 0);
   assert_true(run > least);
}

static void best_instruction_set(void **state) {
   (void)state;
   replay(false, "tensor_forms.txt", "h200_tensor.txt", 150);
   replay(false, "warpgroup_forms.txt", "h200_warpgroup.txt", 700);
}

static void portable_instruction_set(void **state) {
   (void)state;
   replay(true, "tensor_forms.txt", "h200_tensor.txt", 150);
   replay(true, "warpgroup_forms.txt", "h200_warpgroup.txt", 700);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(best_instruction_set),
                                      cmocka_unit_test(portable_instruction_set)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
