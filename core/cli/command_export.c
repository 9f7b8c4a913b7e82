/* rkb export: a candidate as source for somebody else's build.  The main thread alone. */
#include <stdio.h>
#include <string.h>
#include "base/file.h"
#include "cli/candidate_file.h"
#include "cli/commands.h"
#include "cli/run_archive.h"
#include "kernel/export.h"
#include "kernel/build_report.h"

#define MOST_TEXT (16u << 20)
enum { MOST_NAMES = 256 };

typedef struct subject {
   rkb_export_subject_t of;
   rkb_export_tensor_t tensors[MOST_NAMES];
   rkb_export_let_t lets[MOST_NAMES];
   const char *dims[MOST_NAMES], *attributes[MOST_NAMES];
} subject_t;

/* Names, types and shapes from any case of the direction: all have the same tensors. */
static bool describe(const rkb_candidate_file_t *file, subject_t *subject) {
   const rkb_case_t *the_case = rkb_task_case(file->task, RKB_CASE_CHECK, 0);
   if (!the_case)
      the_case = rkb_task_case(file->task, RKB_CASE_BENCH, 0);
   if (!the_case || the_case->tensor_count > MOST_NAMES || the_case->dim_count > MOST_NAMES ||
       the_case->attribute_count > MOST_NAMES) {
      fprintf(stderr, "%s: its task has no case to tell its tensors from\n", file->path);
      return false;
   }
   memset(subject, 0, sizeof *subject);
   for (uint32_t i = 0; i < the_case->tensor_count; i++)
      subject->tensors[i] = (rkb_export_tensor_t){
         the_case->tensors[i].name, the_case->tensors[i].role, the_case->tensors[i].dtype,
         rkb_task_shape_text(file->task, i), the_case->tensors[i].alignment};
   for (uint32_t i = 0; i < the_case->dim_count; i++)
      subject->dims[i] = the_case->dims[i].name;
   for (uint32_t i = 0; i < the_case->attribute_count; i++)
      subject->attributes[i] = the_case->attributes[i].name;
   for (const char *text; subject->of.let_count < MOST_NAMES; subject->of.let_count++) {
      const char *name = rkb_task_let_at(file->task, subject->of.let_count, &text);
      if (!name)
         break;
      subject->lets[subject->of.let_count] = (rkb_export_let_t){name, text};
   }
   subject->of.task = file->manifest->task;
   subject->of.direction = file->manifest->direction;
   subject->of.file = file->path;
   subject->of.tensors = subject->tensors;
   subject->of.tensor_count = the_case->tensor_count;
   subject->of.dims = subject->dims;
   subject->of.dim_count = the_case->dim_count;
   subject->of.attributes = subject->attributes;
   subject->of.attribute_count = the_case->attribute_count;
   subject->of.lets = subject->lets;
   return true;
}

/* NAME.cu (and NAME.h beside it), or everything to standard output without --out. */
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
   static subject_t subject;
   rkb_finding_t finding = {0};
   rkb_error_t err = {0};
   rkb_text_t text, header;
   if (!describe(file, &subject))
      return RKB_EXIT_USAGE;
   rkb_text_init(&text, MOST_TEXT);
   rkb_text_init(&header, MOST_TEXT);
   int status = rkb_export(form, &subject.of, file->source, file->tune, file->device, &text, &header,
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
   return code;
}

static int run(const rkb_arguments_t *arguments) {
   rkb_candidate_file_t file = {0};
   if (rkb_argument_given(arguments, "c") == rkb_argument_given(arguments, "torch")) {
      fprintf(stderr, "say --c or --torch\n");
      return RKB_EXIT_USAGE;
   }
   int code = rkb_candidate_file_load(arguments, rkb_positional(arguments, 0), &file);
   if (code == RKB_EXIT_OK)
      code = export(arguments, &file);
   rkb_candidate_file_free(&file);
   return code;
}

static const rkb_cli_option_t options[] = {
   {"c", NULL, "One .cu with an extern \"C\" launcher (and, with --out, its header).", false},
   {"torch", NULL, "A PyTorch extension source with shape checks.", false},
   {"out", "FILE", "Write there instead of standard output; --c puts FILE's .h beside it.", false},
   {"task", "DIR", "The task's directory or a shipped one's name (default: tasks/<manifest's task> above the file).", false},
   {"target", "PROFILE", "The device whose properties launches may mention (default: h200).", false},
   {"tune", "NAME=VALUE", "Another value of a tune parameter; may be repeated.", true},
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_export = {
   .name = "export",
   .arguments = "FILE.cu --c|--torch",
   .summary = "Write a candidate as a stand-alone .cu or as a PyTorch extension.",
   .details = "Exit: 0 written, 1 the candidate is refused, 2 usage or unreadable file.\n",
   .options = options,
   .least = 1,
   .most = 1,
   .run = run,
};
