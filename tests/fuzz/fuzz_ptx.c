/* Any bytes as a PTX text: read, decoded and executed with every check on small buffers and a small budget.  It must end in a
 * report: no crash, no run past its budget, no byte outside its buffers (the address sanitizer watches those).  A second set of
 * buffers that follows the first must hold what a run of its own leaves there. */
#include "machine/machine.h"
#include "machine/ptx/module.h"

#include <stdlib.h>
#include <string.h>

#define BYTES 4096

static void ignore(void *argument, const char *kernel, const char *what, uint32_t line) {
   (void)argument;
   (void)kernel;
   (void)what;
   (void)line;
}

static bool make_data(rkb_machine_buffer_t data[3], int seed) {
   bool made = true;
   for (int n = 0; n < 3; n++) {
      data[n] = (rkb_machine_buffer_t){malloc(BYTES), n == 0};
      made &= data[n].data != NULL;
      if (data[n].data)
         memset(data[n].data, n * 3 + seed, BYTES);
   }
   return made;
}

static void free_data(rkb_machine_buffer_t data[3]) {
   for (int n = 0; n < 3; n++)
      free(data[n].data);
}

/* Where nothing undefined is left in the output, it is the same as after a run alone. */
static void compare(const rkb_machine_module_t *module, const rkb_plan_t *plan,
                    const rkb_machine_options_t *options, const rkb_machine_buffer_t *followed) {
   rkb_machine_t *machine = NULL;
   rkb_machine_buffer_t data[3];
   rkb_error_t err;
   uint64_t first;
   bool written;
   if (make_data(data, 5) && rkb_machine_open(module, plan, options, &machine, &err) == RKB_OK &&
       rkb_machine_run(machine, data, &err) == RKB_OK) {
      rkb_machine_report_t report;
      rkb_machine_report(machine, &report);
      if (report.complete && rkb_machine_undefined(machine, 1, 1, &first, &written) == 0 &&
          memcmp(data[1].data, followed[1].data, BYTES) != 0)
         abort();
   }
   rkb_machine_close(machine);
   free_data(data);
}

static void execute(const rkb_machine_module_t *module, const ptx_function_t *function, uint32_t checks) {
   rkb_plan_buffer_t buffers[3] = {
      {.name = "in", .role = RKB_IN, .alignment = 256, .bytes = BYTES, .elements = BYTES / 4},
      {.name = "out", .role = RKB_OUT, .alignment = 256, .bytes = BYTES, .elements = BYTES / 4},
      {.name = "scratch", .alignment = 256, .bytes = BYTES, .elements = BYTES / 4}};
   rkb_plan_argument_t arguments[16];
   rkb_machine_buffer_t data[3], other[3];
   const rkb_machine_buffer_t *const sets[2] = {data, other};
   uint32_t count = 0;
   for (uint32_t n = 0; n < function->parameter_count && count < 16; n++) {
      const ptx_variable_t *parameter = &module->variables[function->parameters[n]];
      uint32_t bytes = parameter->bytes > 8 ? 8 : (uint32_t)parameter->bytes;
      arguments[count++] = (rkb_plan_argument_t){.buffer = parameter->bytes == 8 ? n % 3 : UINT32_MAX,
                                                 .offset = (uint32_t)parameter->offset,
                                                 .bytes = bytes,
                                                 .value = parameter->bytes == 8 ? 0 : 40};
   }
   rkb_plan_launch_t launch = {.entry = function->name,
                               .expression = function->name,
                               .grid = {3, 1, 1},
                               .block = {48, 1, 1},
                               .cluster = {1, 1, 1},
                               .dynamic_shared = 256,
                               .argument_count = count,
                               .arguments = arguments};
   rkb_plan_t plan = {
      .version = 1, .buffer_count = 3, .launch_count = 1, .buffers = buffers, .launches = &launch};
   rkb_machine_options_t options = {
      .checks = checks, .thread_instructions = 200000, .hang_limit = 20000, .memory_bytes = 32u << 20};
   rkb_machine_t *machine = NULL;
   rkb_error_t err;
   const bool made = make_data(data, 0), made_other = make_data(other, 5);
   if (made && made_other && rkb_machine_open(module, &plan, &options, &machine, &err) == RKB_OK) {
      rkb_machine_report_t report;
      bool followed = false;
      if (rkb_machine_run_together(machine, sets, 2, &followed, &err) == RKB_OK) {
         if (followed)
            compare(module, &plan, &options, other);
         rkb_machine_run(machine, data, &err);
      }
      rkb_machine_report(machine, &report);
      for (uint32_t n = 0; n < report.finding_count; n++) {
         free(rkb_machine_finding_json(&report.findings[n]));
         free(rkb_machine_finding_text(&report.findings[n]));
      }
      if (report.thread_instructions > 200000 + 32 * 400000u)
         abort(); /* a basic block may run past the budget, no more */
   }
   rkb_machine_close(machine);
   free_data(data);
   free_data(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
   rkb_machine_module_t *module = rkb_machine_module_read((const char *)bytes, length);
   uint32_t line;
   if (!rkb_machine_module_error(module, &line)) {
      rkb_machine_unsupported(module, ignore, NULL, NULL);
      for (uint32_t n = 0; n < module->function_count; n++)
         if (module->functions[n].entry && module->functions[n].defined)
            for (uint32_t checks = 0; checks < 8; checks += 7)
               execute(module, &module->functions[n], checks);
   } else if (line == 0) {
      abort();
   }
   rkb_machine_module_free(module);
   return 0;
}
