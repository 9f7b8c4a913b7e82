/* Any bytes as a PTX text: read, decoded and executed with every check on small buffers and a small budget.  It must end in a
 * report: no crash, no run past its budget, no byte outside its buffers (the address sanitizer watches those). */
#include "machine.h"
#include "module.h"

#include <stdlib.h>
#include <string.h>

#define BYTES 4096

static void ignore(void *argument, const char *kernel, const char *what, uint32_t line) {
   (void)argument;
   (void)kernel;
   (void)what;
   (void)line;
}

static void execute(const rkb_machine_module_t *module, const ptx_function_t *function, uint32_t checks) {
   rkb_plan_buffer_t buffers[3] = {
      {.name = "in", .role = RKB_IN, .alignment = 256, .bytes = BYTES, .elements = BYTES / 4},
      {.name = "out", .role = RKB_OUT, .alignment = 256, .bytes = BYTES, .elements = BYTES / 4},
      {.name = "scratch", .alignment = 256, .bytes = BYTES, .elements = BYTES / 4}};
   rkb_plan_argument_t arguments[16];
   rkb_machine_buffer_t data[3];
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
   for (int n = 0; n < 3; n++) {
      data[n] = (rkb_machine_buffer_t){malloc(BYTES), n == 0};
      memset(data[n].data, n * 3, BYTES);
   }
   if (rkb_machine_open(module, &plan, &options, &machine, &err) == RKB_OK) {
      rkb_machine_report_t report;
      for (int run = 0; run < 2; run++)
         if (rkb_machine_run(machine, data, &err) != RKB_OK)
            break;
      rkb_machine_report(machine, &report);
      for (uint32_t n = 0; n < report.finding_count; n++) {
         free(rkb_machine_finding_json(&report.findings[n]));
         free(rkb_machine_finding_text(&report.findings[n]));
      }
      if (report.thread_instructions > 200000 + 32 * 400000u)
         abort(); /* a basic block may run past the budget, no more */
   }
   rkb_machine_close(machine);
   for (int n = 0; n < 3; n++)
      free(data[n].data);
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
