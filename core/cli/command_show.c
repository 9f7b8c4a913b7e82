/* rkb show: prints a run, or one of its candidates with everything that is known about it.  Only the main
 * thread. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "archive/history.h"
#include "base/line_difference.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/shared/replay_line.h"
#include "cli/shared/run_archive.h"

enum { MOST_DIFFERENCE = 2 << 20 }; /* two sources of the greatest length, with the signs of diff */

static void print_parents(const rkb_candidate_record_t *candidate) {
   for (uint32_t i = 0; i < candidate->parent_count; i++)
      printf("%-12s %" PRId64 "\n", candidate->parents[i].role, candidate->parents[i].number);
}

static void print_candidate(const rkb_candidate_record_t *candidate, const char *objective,
                            bool with_source) {
   char *tune = rkb_spell_tune(candidate->tune), name[48];
   const rkb_evidence_source_t source = {name, candidate->source};
   snprintf(name, sizeof name, "candidate %" PRId64, candidate->number);
   printf("candidate %" PRId64 "  %s%s%s\n", candidate->number, candidate->standing,
          candidate->reason[0] ? "  " : "", candidate->reason);
   printf("%-12s %s %s\n", "task", candidate->task, candidate->direction);
   printf("%-12s %s, %s request %" PRId64 "\n", "made by", candidate->operator_id,
          candidate->section == RKB_SECTION_PROPOSE ? "propose" : "search", candidate->request);
   if (candidate->note)
      printf("%-12s %s\n", "note", candidate->note);
   print_parents(candidate);
   printf("%-12s %s\n", "tune", tune && tune[0] ? tune : "none");
   printf("%-12s %s\n", "source", candidate->source_hash);
   if (candidate->duplicate_of)
      printf("%-12s %" PRId64 "\n", "duplicate of", candidate->duplicate_of);
   if (candidate->has_objective)
      printf("%-12s %s = %.6g %s\n", "objective", objective ? objective : "", candidate->objective,
             rkb_objective_unit(candidate, objective));
   printf("\nverdicts%s\n", candidate->verdict_count ? "" : ": none");
   for (uint32_t i = 0; i < candidate->verdict_count; i++)
      rkb_print_verdict(&candidate->verdicts[i], &source);
   printf("\nmeasurements%s\n", candidate->measurement_count ? "" : ": none");
   rkb_print_measurements(candidate->measurements, candidate->measurement_count);
   if (with_source)
      printf("\n%s", candidate->source);
   free(tune);
}

static int64_t first_parent(const rkb_candidate_record_t *candidate) {
   for (uint32_t i = 0; i < candidate->parent_count; i++)
      if (strcmp(candidate->parents[i].role, "parent") == 0)
         return candidate->parents[i].number;
   return 0;
}

/* Prints the difference between the texts of a candidate and its first parent, as diff -u does. */
static int print_difference(rkb_archive_t *archive, const rkb_candidate_record_t *candidate) {
   const int64_t number = first_parent(candidate);
   rkb_candidate_record_t *parent = NULL;
   rkb_error_t err = {0};
   rkb_text_t text;
   if (!number) {
      printf("\ndifference: none, it has no parent\n");
      return RKB_EXIT_OK;
   }
   if (rkb_archive_load_candidate(archive, number, &parent, &err) != RKB_OK)
      return rkb_say_error(&err);
   rkb_text_init(&text, MOST_DIFFERENCE);
   rkb_line_difference(parent->source, candidate->source, &text);
   if (text.length == 0)
      printf("\ndifference: none, candidate %" PRId64 " has the same text\n", number);
   else
      printf("\n--- candidate %" PRId64 "\n+++ candidate %" PRId64 "\n%s", number, candidate->number,
             rkb_text_get(&text));
   rkb_text_free(&text);
   rkb_candidate_record_free(parent);
   return RKB_EXIT_OK;
}

typedef struct talk {
   int64_t request; /* key of the candidate's request */
   uint32_t calls;
   double usd;
} talk_t;

static void print_said(const char *who, const char *text) {
   printf("--- %s\n%s%s", who, text ? text : "(none)\n",
          text && text[0] && text[strlen(text) - 1] != '\n' ? "\n" : "");
}

static int print_call(void *argument, const rkb_call_history_t *call) {
   talk_t *talk = argument;
   if (call->request != talk->request)
      return RKB_OK;
   talk->calls++;
   talk->usd += call->usd;
   printf("\n%s asked %s: %s, %.4f USD", call->stage, call->model,
          call->outcome ? call->outcome : call->state, call->usd);
   if (call->input_tokens >= 0 && call->output_tokens >= 0)
      printf(", %" PRId64 " tokens in and %" PRId64 " out", call->input_tokens, call->output_tokens);
   printf("\n");
   if (call->error && call->error[0])
      printf("%s\n", call->error);
   print_said("prompt", call->prompt);
   print_said("reply", call->reply);
   return RKB_OK;
}

/* Prints the conversation with language models for the request that made the candidate. */
static int print_conversation(rkb_archive_t *archive, const rkb_candidate_record_t *candidate) {
   const int64_t key =
      candidate->section == RKB_SECTION_PROPOSE ? -(candidate->request + 1) : candidate->request;
   talk_t talk = {.request = key};
   rkb_error_t err;
   if (rkb_archive_each_call(archive, print_call, &talk, &err) != RKB_OK)
      return rkb_say_error(&err);
   if (talk.calls == 0)
      printf("\nno language model was asked for its request\n");
   else
      printf("\n%u calls for its request, %.4f USD\n", talk.calls, talk.usd);
   return RKB_EXIT_OK;
}

static int show_candidate(rkb_archive_t *archive, const rkb_arguments_t *arguments) {
   rkb_error_t err;
   rkb_candidate_record_t *candidate = NULL;
   int64_t number = 0;
   int code = RKB_EXIT_OK;
   if (!rkb_parse_int(rkb_positional(arguments, 1), &number)) {
      fprintf(stderr, "'%s' is not a candidate number\n", rkb_positional(arguments, 1));
      return RKB_EXIT_USAGE;
   }
   if (rkb_archive_load_candidate(archive, number, &candidate, &err) != RKB_OK)
      return rkb_say_error(&err);
   char *replay = rkb_replay_line_of_run(arguments, rkb_positional(arguments, 0), candidate->number);
   if (rkb_argument_given(arguments, "json")) {
      json_t *shown = rkb_candidate_json(candidate, true);
      if (shown && replay)
         json_object_set_new(shown, "replay", json_string(replay));
      code = rkb_print_json(shown);
   } else {
      char *objective = rkb_archive_get_fact(archive, "objective");
      print_candidate(candidate, objective, rkb_argument_given(arguments, "source"));
      printf("\nreplay       %s\n", replay ? replay : "");
      free(objective);
      if (rkb_argument_given(arguments, "diff"))
         code = print_difference(archive, candidate);
      if (code == RKB_EXIT_OK && rkb_argument_given(arguments, "conversation"))
         code = print_conversation(archive, candidate);
   }
   free(replay);
   rkb_candidate_record_free(candidate);
   return code;
}

static int list_candidate(rkb_archive_t *archive, int64_t number, rkb_error_t *err) {
   rkb_candidate_record_t *candidate = NULL;
   char objective[32] = "-", *tune;
   int status = rkb_archive_load_candidate(archive, number, &candidate, err);
   if (status != RKB_OK)
      return status;
   if (candidate->has_objective)
      snprintf(objective, sizeof objective, "%.6g", candidate->objective);
   tune = rkb_spell_tune(candidate->tune);
   printf("%6" PRId64 "  %-8s %12s  %-12s %-28s %s\n", number, candidate->standing, objective,
          candidate->operator_id, candidate->duplicate_of ? "duplicate" : candidate->reason,
          tune ? tune : "");
   free(tune);
   rkb_candidate_record_free(candidate);
   return RKB_OK;
}

static int show_run(rkb_archive_t *archive, const rkb_arguments_t *arguments) {
   rkb_error_t err;
   int64_t *numbers = NULL;
   uint32_t count = 0;
   int status = rkb_archive_candidates(archive, 0, 0, &numbers, &count, &err);
   if (status == RKB_OK && rkb_argument_given(arguments, "json")) {
      for (uint32_t i = 0; status == RKB_OK && i < count; i++) {
         rkb_candidate_record_t *candidate = NULL;
         status = rkb_archive_load_candidate(archive, numbers[i], &candidate, &err);
         if (status == RKB_OK)
            rkb_print_json(rkb_candidate_json(candidate, false));
         rkb_candidate_record_free(candidate);
      }
   } else if (status == RKB_OK) {
      char *objective = rkb_archive_get_fact(archive, "objective");
      printf("%6s  %-8s %12s  %-12s %-28s %s\n", "number", "standing",
             objective && objective[0] ? objective : "objective", "made by", "reason", "tune");
      free(objective);
      for (uint32_t i = 0; status == RKB_OK && i < count; i++)
         status = list_candidate(archive, numbers[i], &err);
   }
   free(numbers);
   return status == RKB_OK ? RKB_EXIT_OK : rkb_say_error(&err);
}

static int run(const rkb_arguments_t *arguments) {
   int code;
   rkb_archive_t *archive = rkb_open_run(rkb_positional(arguments, 0));
   if (!archive)
      return RKB_EXIT_USAGE;
   code = arguments->count > 1 ? show_candidate(archive, arguments) : show_run(archive, arguments);
   rkb_archive_close(archive);
   return code;
}

static const rkb_cli_option_t options[] = {
   {"source", NULL, "Also print the candidate's source text.", false},
   {"diff", NULL, "Also print how its text differs from its first parent's.", false},
   {"conversation", NULL,
    "Also print what language models were asked for its request, what they replied, and what it cost.",
    false},
   {"json", NULL, "Print JSON, one object a line.", false},
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_show = {
   .name = "show",
   .arguments = "DIR [ID]",
   .summary = "List a run's candidates, or show everything about one of them.",
   .details =
      "DIR is a run's directory, ID a candidate's number.  The run may be in progress.\n"
      "The line 'tensor' under a verdict names the matrix instructions and asynchronous copies (mma.sync, wgmma, cp.async, ...)\n"
      "that some judged execution of the kernel came to, and those that the kernel names and no execution came to.\n"
      "Exit: 0, or 2 when there is no such run or candidate.\n",
   .options = options,
   .least = 1,
   .most = 2,
   .run = run,
};
