/* rkb export: writes a candidate as source for another build.  Main thread only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "cli/commands.h"
#include "cli/export_schedule.h"
#include "cli/export_subject.h"
#include "cli/export_wheel.h"
#include "cli/shared/run_archive.h"
#include "kernel/build_report.h"

#define MOST_TEXT (16u << 20)
/* Writes NAME.cu (and NAME.h in the same folder); without --out, writes all of it to standard output. */
static int deliver(const char *path, const rkb_text_t *text, const rkb_text_t *header) {
   rkb_error_t err = {0};
   char beside[4096];
   if (!path) {
      fputs(rkb_text_get(text), stdout);
      return RKB_EXIT_OK;
   }
   if (rkb_file_write(path, rkb_text_get(text), text->length, &err) != RKB_OK)
      return rkb_say_error(&err);
   if (header->length) {
      size_t stem = strlen(path) - (strlen(path) > 3 && strcmp(path + strlen(path) - 3, ".cu") == 0 ? 3 : 0);
      snprintf(beside, sizeof beside, "%.*s.h", (int)stem, path);
      if (rkb_file_write(beside, rkb_text_get(header), header->length, &err) != RKB_OK)
         return rkb_say_error(&err);
   }
   return RKB_EXIT_OK;
}

static int export(const rkb_arguments_t *arguments, const rkb_candidate_file_t *file) {
   const enum rkb_export_form form = rkb_argument_given(arguments, "torch") ? RKB_EXPORT_TORCH : RKB_EXPORT_C;
   export_subject_t *subject = export_subject_new(file);
   rkb_finding_t finding = {0};
   rkb_error_t err = {0};
   rkb_text_t text, header;
   if (!subject)
      return RKB_EXIT_USAGE;
   rkb_text_init(&text, MOST_TEXT);
   rkb_text_init(&header, MOST_TEXT);
   int status = rkb_export(form, &subject->of, file->source, file->tune, file->device, &text, &header,
                           &finding, &err),
       code;
   if (status != RKB_OK)
      code = rkb_say_error(&err);
   else if (finding.reason[0]) {
      rkb_text_clear(&text);
      rkb_finding_report(&finding, file->path, &text);
      fputs(rkb_text_get(&text), stderr);
      code = RKB_EXIT_NOTHING;
   } else
      code = deliver(rkb_argument(arguments, "out"), &text, &header);
   rkb_text_free(&header);
   rkb_text_free(&text);
   free(subject);
   return code;
}

static int export_one(const rkb_arguments_t *arguments) {
   rkb_candidate_file_t file = {0};
   if (rkb_positional(arguments, 1)) {
      fprintf(stderr,
              "--c, --torch and --schedule take one file; several become one package with --wheel DIR\n");
      return RKB_EXIT_USAGE;
   }
   int code = rkb_candidate_file_load(arguments, rkb_positional(arguments, 0), &file);
   if (code == RKB_EXIT_OK)
      code = rkb_argument_given(arguments, "schedule") ? export_schedule(arguments, &file)
                                                       : export(arguments, &file);
   rkb_candidate_file_free(&file);
   return code;
}

static int run(const rkb_arguments_t *arguments) {
   if (rkb_argument_given(arguments, "c") + rkb_argument_given(arguments, "torch") +
          rkb_argument_given(arguments, "wheel") + rkb_argument_given(arguments, "schedule") !=
       1) {
      fprintf(stderr, "say --c, --torch, --wheel DIR or --schedule\n");
      return RKB_EXIT_USAGE;
   }
   return rkb_argument_given(arguments, "wheel") ? export_wheel(arguments) : export_one(arguments);
}

static const rkb_cli_option_t options[] = {
   {"c", NULL, "One .cu with an extern \"C\" launcher (and, with --out, its header).", false},
   {"torch", NULL, "A PyTorch extension source with shape checks.", false},
   {"wheel", "DIR",
    "A Python package with a PyTorch operator of all files, of one task: forward, and backward if there is one.",
    false},
   {"schedule", NULL,
    "The kernel that the schedule in FILE's manifest gives: a decision may be changed there, and edits of the text are undone.",
    false},
   {"when", "NAME=CONDITION",
    "With --wheel: NAME.cu is taken where the condition over the task's sizes holds, e.g. long='D > 8192'.",
    true},
   {"out", "FILE", "Write there instead of standard output; --c puts FILE's .h beside it.", false},
   {"task", "DIR",
    "The task's directory or a shipped one's name (default: tasks/<manifest's task> above the file).", false},
   {"target", "PROFILE", "The device whose properties launches may mention (default: h200).", false},
   {"tune", "NAME=VALUE", "Another value of a tune parameter; may be repeated.", true},
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_export = {
   .name = "export",
   .arguments = "FILE.cu... --c|--torch|--wheel DIR|--schedule",
   .summary =
      "Write a candidate as a stand-alone .cu, a PyTorch extension or a Python package; or write a kernel again from its schedule.",
   .details = "'rkb help manifest' lists what the comment in FILE.cu may say of its launches.\n"
              "Exit: 0 written, 1 the candidate is refused, 2 usage or unreadable file.\n",
   .options = options,
   .least = 1,
   .most = EXPORT_MOST_KERNELS,
   .run = run,
};
