/* The table of rules, and the function that runs it. */
#include "rules.h"
#include <stdarg.h>

const lint_rule_t LINT_RULES[] = {
   {"host_code", LINT_REJECT,
    "a candidate is device code alone; the program does every allocation, launch and timing", find_host_code},
   {"include", LINT_REJECT, "host and PyTorch headers and paths have no place in device code", find_include},
   {"dynamic_parallelism", LINT_REJECT, "launches belong into the manifest; a kernel must not launch kernels",
    find_launch},
   {"clock", LINT_REJECT, "a result must not depend on the time, and nothing in a kernel may measure it",
    find_clock},
   {"cache_policy", LINT_REJECT,
    "cache policies outlive the launch and would carry one timed run's data into the next",
    find_cache_policy},
   {"printf", LINT_REJECT, "output from a kernel slows it down and nobody reads it", find_printf},
   {"input_write", LINT_REJECT, "inputs must be left as they are", find_input_write},
   {"special_register", LINT_SUSPECT,
    "where a block was put, and what its device counts, is no basis for a result", find_special_register},
   {"device_heap", LINT_SUSPECT, "memory from the device heap is neither checked nor reset between runs",
    find_heap},
   {"trap", LINT_SUSPECT, "a trap ends the whole context instead of the kernel", find_trap},
   {"wgmma_order", LINT_SUSPECT,
    "a warpgroup's product needs wgmma.fence before it, and commit_group and wait_group before its registers are read",
    find_wgmma_order},
   {"copy_wait", LINT_SUSPECT, "what an asynchronous copy brings is there only for who has waited for it",
    find_copy_wait},
   {"copy_announced", LINT_SUSPECT,
    "a phase of an mbarrier waits for the bytes that expect_tx announces; without it the phase ends before the copy",
    find_copy_announced},
   {"mbarrier_init", LINT_SUSPECT, "an mbarrier is memory like other memory until mbarrier.init",
    find_mbarrier_init},
   {"map_fence", LINT_SUSPECT,
    "copies read tensor maps through a proxy of their own: who changed one releases it, and who uses it acquires it",
    find_map_fence},
   {"dependent_wait", LINT_SUSPECT, "a dependent launch may begin before the launch in front of it has ended",
    find_dependent_wait},
   {"map_parameter", LINT_SUSPECT,
    "a copy takes the address of the parameter itself: without __grid_constant__ the compiler passes a copy of it",
    find_map_parameter},
   {"lower_precision", LINT_NOTE,
    "half, bfloat16 or tensor-core arithmetic in an fp32 task; the numbers decide", find_lower_precision},
   {"unused_argument", LINT_NOTE, "a kernel parameter that its body never uses", find_unused_argument},
   {"unread_input", LINT_NOTE, "an input of the task that no launch receives", find_unread_input},
};

const uint32_t LINT_RULE_COUNT = sizeof LINT_RULES / sizeof LINT_RULES[0];

void lint_run(const lint_subject_t *subject, lint_report_t *report) {
   *report = (lint_report_t){0};
   for (uint32_t i = 0; i < LINT_RULE_COUNT; i++)
      LINT_RULES[i].find(&LINT_RULES[i], subject, report);
}

const char *lint_severity_name(enum severity severity) {
   static const char *const names[] = {"note", "suspect", "reject"};
   return names[severity];
}

void lint_add(lint_report_t *report, const lint_rule_t *rule, uint32_t line, uint32_t column, const char *fmt,
              ...) {
   if (report->count == LINT_FINDINGS_MAX) {
      report->dropped++;
      return;
   }
   lint_finding_t *finding = &report->findings[report->count++];
   *finding = (lint_finding_t){.rule = rule, .line = line, .column = column};
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(finding->what, sizeof finding->what, fmt, ap);
   va_end(ap);
}
