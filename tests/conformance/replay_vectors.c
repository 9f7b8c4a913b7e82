/* The checking machine against an H200: every instruction of instructions.txt on the recorded operands.
 * Exact instructions must give the same bits (a hash for each 256 results); approximate ones must lie within
 * the manual's bound of the exact result.  known_failures.txt names the lines that the machine does not yet
 * get right.  That list may only shrink: a line in it that passes is a failure too.  With an argument, prints
 * the results of each failing line. */
#include "check.h"
#include "conformance.h"
#include "machine/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER RKB_SOURCE_DIR "/tests/conformance/"
/* As in test_tensor.c: under a sanitizer each instruction set replays every eighth line, and not the same ones. */
#ifdef __SANITIZE_ADDRESS__
#define EVERY 8u
#else
#define EVERY 1u
#endif

struct replay {
   uint8_t *operand[3], *result, *slots;
   char ptx[8192], why[256];
   bool portable;
};

static bool execute(struct replay *r) {
   static const char *const names[5] = {"a", "b", "c", "d", "slots"};
   rkb_plan_buffer_t buffers[5];
   rkb_plan_argument_t arguments[5];
   rkb_machine_buffer_t data[5];
   for (uint32_t n = 0; n < 5; n++) {
      buffers[n] = (rkb_plan_buffer_t){.name = names[n],
                                       .role = n < 3    ? RKB_IN
                                               : n == 3 ? RKB_OUT
                                                        : 0,
                                       .dtype = RKB_U8,
                                       .tensor = n,
                                       .alignment = 256,
                                       .bytes = CONFORMANCE_COUNT * (n == 4 ? 16 : 8)};
      buffers[n].elements = buffers[n].bytes;
      arguments[n] = (rkb_plan_argument_t){.buffer = n, .offset = 8 * n, .bytes = 8};
      data[n] = (rkb_machine_buffer_t){n < 3 ? r->operand[n] : n == 3 ? r->result : r->slots, n != 3};
   }
   rkb_plan_launch_t launch = {.entry = "conformance",
                               .expression = "conformance",
                               .grid = {CONFORMANCE_COUNT / CONFORMANCE_BLOCK, 1, 1},
                               .block = {CONFORMANCE_BLOCK, 1, 1},
                               .cluster = {1, 1, 1},
                               .argument_count = 5,
                               .parameter_bytes = 40,
                               .arguments = arguments};
   rkb_plan_t plan = {
      .version = 1, .buffer_count = 5, .launch_count = 1, .buffers = buffers, .launches = &launch};
   rkb_machine_options_t options = {.portable = r->portable};
   rkb_machine_module_t *module = rkb_machine_module_read(r->ptx, strlen(r->ptx));
   rkb_machine_t *machine = NULL;
   rkb_machine_report_t report = {0};
   rkb_error_t err;
   bool done = false;
   memset(r->slots, 0, CONFORMANCE_COUNT * 16);
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

static bool compare_exact(struct replay *r, const struct instruction *in, const char *recorded) {
   uint32_t bytes = operand_bytes(in->result);
   for (uint32_t g = 0; g < CONFORMANCE_GROUPS; g++) {
      uint64_t want = strtoull(recorded, (char **)&recorded, 16);
      if (want != conformance_hash(r->result + (size_t)g * 256 * bytes, 256 * bytes)) {
         snprintf(r->why, sizeof r->why, "group %u differs (%s)", g,
                  g < 2 ? "edge values" : "drawn operands");
         return false;
      }
   }
   return true;
}

static bool compare_near(struct replay *r, const struct instruction *in) {
   uint32_t bytes = operand_bytes(in->result);
   for (uint32_t i = 0; i < CONFORMANCE_COUNT; i++) {
      uint64_t operand[3], bits = 0;
      double truth, allowed;
      for (uint32_t o = 0; o < 3; o++)
         operand[o] = conformance_operand(in, o, i);
      memcpy(&bits, r->result + (size_t)i * bytes, bytes);
      if (!conformance_truth(in, operand, &truth, &allowed))
         continue;
      double got = conformance_value(in->result, bits);
      bool same = isnan(truth) ? isnan(got) : isinf(truth) ? got == truth : fabs(got - truth) <= allowed;
      if (!same) {
         snprintf(r->why, sizeof r->why, "element %u: of %#lx gives %.9g, truth %.9g, allowed %.3g", i,
                  (unsigned long)operand[0], got, truth, allowed);
         return false;
      }
   }
   return true;
}

static bool replay_line(struct replay *r, const struct instruction *in, const char *recorded) {
   char *rest;
   r->why[0] = '\0';
   if (strtoull(recorded, &rest, 16) != conformance_hash(in->text, strlen(in->text))) {
      snprintf(r->why, sizeof r->why, "the record is of another instruction: record again");
      return false;
   }
   if (!conformance_ptx(in, r->ptx, sizeof r->ptx))
      return false;
   for (uint32_t o = 0; o < 3; o++) {
      uint32_t bytes = operand_bytes(in->operand[o]);
      for (uint32_t i = 0; bytes && i < CONFORMANCE_COUNT; i++) {
         uint64_t value = conformance_operand(in, o, i);
         memcpy(r->operand[o] + (size_t)i * bytes, &value, bytes);
      }
   }
   return execute(r) && (in->nearly[0] ? compare_near(r, in) : compare_exact(r, in, rest));
}

static bool known_to_fail(const char *list, const char *text) {
   for (const char *line = list; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
      if (strncmp(line, text, strlen(text)) == 0 &&
          (line[strlen(text)] == '\n' || line[strlen(text)] == '\0'))
         return true;
   return false;
}

static char *read_all(const char *path) {
   FILE *file = fopen(path, "rb");
   char *text = calloc(1, 4u << 20);
   if (file && text)
      text[fread(text, 1, (4u << 20) - 1, file)] = '\0';
   if (file)
      fclose(file);
   return text;
}

static void replay(bool portable, bool verbose) {
   struct replay *r = calloc(1, sizeof *r);
   char *instructions = read_all(FOLDER "instructions.txt"), *records = read_all(FOLDER "h200.txt");
   char *known = read_all(FOLDER "known_failures.txt"), *line, *next = instructions;
   char *record = strchr(records, '\n') + 1; /* past the heading */
   uint32_t number = 0, wrong = 0, run = 0, failing = 0;
   r->portable = portable;
   for (int o = 0; o < 3; o++)
      r->operand[o] = calloc(CONFORMANCE_COUNT, 8);
   r->result = calloc(CONFORMANCE_COUNT, 8);
   r->slots = calloc(CONFORMANCE_COUNT, 16);
   while ((line = strsep(&next, "\n")) != NULL) {
      struct instruction in;
      const char *message;
      number++;
      if (!conformance_parse(line, number, &in, &message))
         continue;
      assert_non_null(record);
      const char *recorded = record;
      record = strchr(record, '\n');
      record = record && record[1] ? record + 1 : NULL;
      if (run++ % EVERY != portable % EVERY)
         continue;
      bool passes = replay_line(r, &in, recorded), listed = known_to_fail(known, in.text);
      failing += !passes;
      if (!passes && (verbose || !listed))
         print_message("instructions.txt:%u: %s: %s\n", number, in.text, r->why);
      if (passes && listed)
         print_message("instructions.txt:%u: %s passes: take it out of known_failures.txt\n", number,
                       in.text);
      wrong += passes == listed;
   }
   print_message("%u instructions, one in %u replayed, %u known to differ from the device\n", run, EVERY,
                 failing);
   for (int o = 0; o < 3; o++)
      free(r->operand[o]);
   free(r->result);
   free(r->slots);
   free(r);
   free(instructions);
   free(records);
   free(known);
   assert_int_equal(wrong, 0);
   assert_true(run > 1000);
}

static bool verbose;

static void best_instruction_set(void **state) {
   (void)state;
   replay(false, verbose);
}

static void portable_instruction_set(void **state) {
   (void)state;
   replay(true, verbose);
}

int main(int count, char **arguments) {
   verbose = count > 1 && arguments[1][0];
   const struct CMUnitTest tests[] = {cmocka_unit_test(best_instruction_set),
                                      cmocka_unit_test(portable_instruction_set)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
