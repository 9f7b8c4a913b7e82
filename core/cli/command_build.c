/* rkb build: shows a candidate's kernels, and its launches for each case.  Main thread only; the compiler is a process of its own. */
#include <stdio.h>
#include "base/units.h"
#include "cli/shared/candidate_file.h"
#include "cli/commands.h"
#include "cli/shared/run_archive.h"
#include "kernel/build_report.h"

#define MOST_TEXT (16u << 20)
#define MOST_LIMIT 3600000000000u /* the largest value of limits.compile, in ns */

static int say_finding(const rkb_finding_t *finding, const char *path) {
   rkb_text_t text;
   rkb_text_init(&text, MOST_TEXT);
   rkb_finding_report(finding, path, &text);
   fputs(rkb_text_get(&text), stdout);
   rkb_text_free(&text);
   return RKB_EXIT_NOTHING;
}

static void say_near_limit(const rkb_build_cost_t *cost) {
   rkb_text_t text;
   rkb_text_init(&text, MOST_TEXT);
   rkb_build_cost_report(cost, &text);
   fprintf(stderr, "rkb build: %s\n", rkb_text_get(&text));
   rkb_text_free(&text);
}

static int report_case(const rkb_candidate_file_t *file, const rkb_build_t *build, const rkb_case_t *the_case,
                       rkb_text_t *out) {
   rkb_case_names_t names = {file->task, the_case};
   rkb_finding_t finding = {0};
   rkb_error_t err = {0};
   rkb_plan_t *plan = NULL;
   int status = rkb_plan_make(file->manifest, file->tune, build, file->device, the_case, rkb_case_names_find,
                              &names, &plan, &finding, &err);
   if (status != RKB_OK)
      return rkb_say_error(&err);
   if (plan)
      rkb_plan_report(plan, build, file->device, the_case->name, out);
   else {
      rkb_text_format(out, "case %s\n  ", the_case->name);
      rkb_finding_report(&finding, file->path, out);
   }
   int code = plan ? RKB_EXIT_OK : RKB_EXIT_NOTHING;
   rkb_plan_free(plan);
   return code;
}

static int report(const rkb_candidate_file_t *file, const rkb_build_t *build, bool every_case) {
   static const uint32_t kinds[] = {RKB_CASE_CHECK, RKB_CASE_BENCH};
   int worst = RKB_EXIT_OK;
   rkb_text_t text;
   rkb_text_init(&text, MOST_TEXT);
   rkb_build_report(build, file->device, &text);
   for (uint32_t i = 0; i < 2; i++) {
      const rkb_case_t *the_case;
      for (uint32_t k = 0; (every_case || kinds[i] == RKB_CASE_BENCH) &&
                           (the_case = rkb_task_case(file->task, kinds[i], k)) != NULL;
           k++) {
         int code = report_case(file, build, the_case, &text);
         worst = code > worst ? code : worst;
      }
   }
   fputs(rkb_text_get(&text), stdout);
   rkb_text_free(&text);
   return worst;
}

static bool limit_fits(const char *text, uint64_t *nanoseconds) {
   const bool fits = rkb_parse_duration(text, nanoseconds) && *nanoseconds && *nanoseconds <= MOST_LIMIT;
   if (!fits)
      fprintf(stderr, "--limit wants a duration above 0 and of at most 1h, as 30s, not '%s'\n", text);
   return fits;
}

static int build_and_report(const rkb_arguments_t *arguments, const rkb_candidate_file_t *file) {
   rkb_compilers_config_t config = {.processes = 1};
   const uint32_t flags = rkb_argument_given(arguments, "debug") ? RKB_BUILD_DEBUG : 0;
   rkb_compilers_t *compilers = NULL;
   rkb_build_t *build = NULL;
   rkb_finding_t finding = {0};
   rkb_error_t err = {0};
   rkb_build_cost_t cost;
   const char *limit = rkb_argument(arguments, "limit");
   if (limit && !limit_fits(limit, &config.cpu_limit_ns))
      return RKB_EXIT_USAGE;
   int code, status = rkb_compilers_open(&config, &compilers, &err);
   if (status != RKB_OK)
      return rkb_say_error(&err);
   status = rkb_build_candidate(compilers, file->device, file->source, file->tune, flags, NULL, NULL, &build,
                                &cost, &finding, &err);
   if (status == RKB_OK && cost.near_limit)
      say_near_limit(&cost);
   if (status != RKB_OK)
      code = rkb_say_error(&err);
   else if (!build)
      code = say_finding(&finding, file->path);
   else if (rkb_argument_given(arguments, "ptx")) {
      fwrite(build->ptx, 1, build->ptx_bytes, stdout);
      code = RKB_EXIT_OK;
   } else
      code = report(file, build, rkb_argument_given(arguments, "all"));
   rkb_build_free(build);
   rkb_compilers_close(compilers);
   return code;
}

static int run(const rkb_arguments_t *arguments) {
   rkb_candidate_file_t file;
   int code = rkb_candidate_file_load(arguments, rkb_positional(arguments, 0), &file);
   if (code == RKB_EXIT_OK)
      code = build_and_report(arguments, &file);
   rkb_candidate_file_free(&file);
   return code;
}

static const rkb_cli_option_t options[] = {
   {"task", "DIR",
    "The task's directory or a shipped one's name (default: tasks/<manifest's task> above the file).", false},
   {"target", "PROFILE", "The device profile to build for (default: h200).", false},
   {"tune", "NAME=VALUE", "Another value of a tune parameter; may be repeated.", true},
   {"all", NULL, "Print the plans of the check cases too, not only those of the bench cases.", false},
   {"ptx", NULL, "Print the PTX and nothing else.", false},
   {"limit", "DURATION",
    "Processor time that the compile may take, as a pipeline's limits.compile (default: 80s).", false},
   {"debug", NULL, "Make the -G build that the checking machine runs once.", false},
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_build = {
   .name = "build",
   .arguments = "FILE.cu",
   .summary = "Compile a candidate and print its kernels, resources, occupancy and plans.",
   .details =
      "'rkb help manifest' lists what the comment in FILE.cu may say of its launches.\n"
      "Exit: 0 built and planned, 1 refused with the reason, 2 usage or unreadable file, 3 no compiler.\n",
   .options = options,
   .least = 1,
   .most = 1,
   .run = run,
};
