/* rkb-run --dry-run.  Only the main thread. */
#include "cli/dry_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "cli/shared/arguments.h"
#include "cli/shared/pipeline_file.h"
#include "cli/shared/installed_tools.h"

static void print_node(const rkb_graph_node_t *node) {
   char deadline[32];
   printf("  %-14s %-32s", node->id, node->use[0] ? node->use : "(a step of the core)");
   if (node->jobs > 0)
      printf(" %u at a time,", node->jobs);
   if (node->needs && node->needs[0])
      printf(" after");
   for (const char *const *need = node->needs; need && *need; need++)
      printf(" %s%s", *need, need[1] ? "" : ",");
   if (node->section == RKB_IN_OPERATORS)
      printf(" weight %g,", node->weight);
   if (node->only[0])
      printf(" only %s,", node->only);
   if (node->sample > 0)
      printf(" %g of the rest in shadow,", node->sample);
   if (node->shadow)
      printf(" shadow,");
   if (node->stops_unknown)
      printf(" unknown stops,");
   if (node->deadline_ns > 0)
      printf(" deadline %s", rkb_spell_limit(node->deadline_ns, deadline, sizeof deadline));
   printf("\n");
}

static void print_graph(const rkb_pipeline_t *pipeline) {
   uint32_t section = 0;
   for (uint32_t i = 0; i < rkb_pipeline_node_count(pipeline); i++) {
      const rkb_graph_node_t *node = rkb_pipeline_node(pipeline, i);
      if (node->section != section)
         printf("%s\n", rkb_graph_section(node->section));
      section = node->section;
      print_node(node);
   }
}

static void print_limit(const char *name, uint64_t limit) {
   if (limit > 0)
      printf("  at most %" PRIu64 " %s\n", limit, name);
}

static void print_limits(const rkb_pipeline_facts_t *facts) {
   char wall[32];
   printf("limits\n");
   print_limit("candidates", facts->limit_candidates);
   print_limit("answers of language models", facts->limit_calls);
   print_limit("generations", facts->limit_generations);
   print_limit("requests in a row without a better one", facts->limit_stale);
   if (facts->limit_within >= 0)
      printf("  until the best is within %.3g %% of the least that it can be\n", 100 * facts->limit_within);
   if (facts->limit_wall_ns > 0)
      printf("  at most %s\n", rkb_spell_limit(facts->limit_wall_ns, wall, sizeof wall));
   if (facts->limit_cost_usd >= 0)
      printf("  at most %.2f USD\n", facts->limit_cost_usd);
   else
      printf("  no cost ceiling is set; only language models cost anything\n");
}

static bool has_flag(const rkb_pipeline_t *pipeline, uint32_t flag) {
   for (uint32_t i = 0; i < rkb_pipeline_node_count(pipeline); i++)
      if (rkb_pipeline_node(pipeline, i)->flags & flag)
         return true;
   return false;
}

static bool look_for(enum rkb_tool tool) {
   rkb_tool_report_t report;
   rkb_tool_look(tool, &report);
   if (!report.found)
      printf("missing: %s (%s)\n  to get it: %s\n", report.name, report.detail, report.remedy);
   return report.found;
}

bool rkb_compiler_present(const rkb_pipeline_t *pipeline) {
   rkb_tool_report_t report;
   if (!has_flag(pipeline, RKB_STAGE_NEEDS_BUILD))
      return true;
   rkb_tool_look(RKB_TOOL_COMPILER, &report);
   if (!report.found)
      fprintf(stderr, "%s\nto get it: %s\n", report.detail, report.remedy);
   return report.found;
}

int rkb_dry_run(const rkb_pipeline_t *pipeline) {
   rkb_pipeline_facts_t facts = rkb_pipeline_facts(pipeline);
   int needs = RKB_DRY_RUN_LOOKED;
   printf("%s: %s %s%s%s, seed %" PRIu64 ", minimises %s\n", rkb_pipeline_name(pipeline),
          facts.task[0] ? facts.task : "no task", facts.direction, facts.target[0] ? " on " : "",
          facts.target, facts.seed, facts.objective[0] ? facts.objective : "nothing");
   print_graph(pipeline);
   for (uint32_t i = 0; i < rkb_pipeline_cell_count(pipeline); i++)
      printf("%s  %s\n", i == 0 ? "runs of the sweep\n" : "", rkb_pipeline_cell(pipeline, i)->name);
   if (facts.window > 0)
      printf("  %u requests in flight\n", facts.window);
   if (facts.promote_of > 0)
      printf("  of every %u requests the best %u by %s are evaluated\n", facts.promote_of, facts.promote_keep,
             facts.promote_by);
   print_limits(&facts);
   if (!facts.verified_by_execution)
      printf(
         "no stage executes candidates: the best will not be verified by execution, and the exit code will be 1\n");
   needs |= has_flag(pipeline, RKB_STAGE_NEEDS_BUILD) ? RKB_DRY_RUN_COMPILER : 0;
   return needs | (has_flag(pipeline, RKB_STAGE_EXCLUSIVE_GPU) ? RKB_DRY_RUN_DRIVER : 0);
}

int rkb_dry_run_tools(int code) {
   bool complete = true;
   if (!(code & RKB_DRY_RUN_LOOKED) || code > (RKB_DRY_RUN_LOOKED | RKB_DRY_RUN_COMPILER | RKB_DRY_RUN_DRIVER))
      return code;
   if (code & RKB_DRY_RUN_COMPILER)
      complete = look_for(RKB_TOOL_COMPILER) && complete;
   if (code & RKB_DRY_RUN_DRIVER)
      complete = look_for(RKB_TOOL_DRIVER) && complete;
   return complete ? RKB_EXIT_OK : RKB_EXIT_BROKEN;
}
