/* The rules of lint: a table of name, severity, one sentence why, and a function that finds every place.
 * Pure; any thread. */
#ifndef LINT_RULES_H
#define LINT_RULES_H

#include <rkb/ext/kernel.h>
#include "source/source_functions.h"

enum { LINT_FINDINGS_MAX = 32 };

enum severity { LINT_NOTE, LINT_SUSPECT, LINT_REJECT };

/* The subject of the rules. */
typedef struct lint_subject {
   const source_t *source;
   const functions_t *functions;
   const rkb_kernel_api_t *kernel;
   const rkb_manifest_t *manifest;
   const rkb_tensor_t *tensors; /* of any case of the task: names and roles; may be none */
   uint32_t tensor_count;
   const char *precision; /* the task's class, "fp32" */
} lint_subject_t;

typedef struct lint_finding {
   const struct lint_rule *rule;
   uint32_t line, column;
   char what[160]; /* the thing found: "clock64", "argument D of rmsnorm" */
} lint_finding_t;

typedef struct lint_report {
   lint_finding_t findings[LINT_FINDINGS_MAX];
   uint32_t count;
   uint32_t dropped; /* found beyond the ceiling */
} lint_report_t;

typedef struct lint_rule {
   const char *name; /* the verdict's reason is "lint.<name>" */
   enum severity severity;
   const char *why;
   void (*find)(const struct lint_rule *rule, const lint_subject_t *subject, lint_report_t *report);
} lint_rule_t;

extern const lint_rule_t LINT_RULES[];
extern const uint32_t LINT_RULE_COUNT;

void lint_run(const lint_subject_t *subject, lint_report_t *report);
const char *lint_severity_name(enum severity severity);

/* For rules: records a finding at a place in the text. */
void lint_add(lint_report_t *report, const lint_rule_t *rule, uint32_t line, uint32_t column, const char *fmt,
              ...) RKB_PRINTF(5, 6);

/* rules_words.c */
void find_host_code(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report);
void find_include(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report);
void find_launch(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report);
void find_clock(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report);
void find_cache_policy(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report);
void find_special_register(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report);
void find_printf(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report);
void find_heap(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report);
void find_trap(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report);
void find_lower_precision(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report);

/* rules_asynchrony.c */
void find_map_fence(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report);
void find_wgmma_order(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report);
void find_copy_wait(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report);
void find_copy_announced(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report);
void find_mbarrier_init(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report);
void find_dependent_wait(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report);

/* rules_arguments.c */
void find_map_parameter(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report);
void find_input_write(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report);
void find_unused_argument(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report);
void find_unread_input(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report);

#endif
