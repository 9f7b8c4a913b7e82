/* rkb task: makes a task from a PyTorch file, and reports whether a task is worth optimising.  Main thread only. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cli/commands.h"
#include "cli/shared/run_archive.h"
#include "task/filter.h"
#include "task/import.h"

#define MOST_TEXT (1u << 20)

static int usage(const rkb_arguments_t *arguments) {
   const char *verb = rkb_positional(arguments, 0);
   fprintf(stderr,
           "there is no 'rkb task %s'; write 'rkb task import FILE --out DIR' or 'rkb task filter DIR'\n",
           verb);
   return RKB_EXIT_USAGE;
}

static int import_task(const rkb_arguments_t *arguments) {
   if (!rkb_argument_given(arguments, "out")) {
      fprintf(stderr, "rkb task import needs --out DIR, the task directory to make\n");
      return RKB_EXIT_USAGE;
   }
   rkb_import_t import = {.file = rkb_positional(arguments, 1),
                          .directory = rkb_argument(arguments, "out"),
                          .dims = rkb_argument_list(arguments, "dim"),
                          .inputs = rkb_argument_list(arguments, "input"),
                          .entry = rkb_argument(arguments, "entry"),
                          .python = rkb_argument(arguments, "python")};
   if (access(import.file, R_OK) != 0) {
      fprintf(stderr, "cannot read %s: %s\n", import.file, strerror(errno));
      return RKB_EXIT_USAGE;
   }
   rkb_text_t report;
   rkb_text_init(&report, MOST_TEXT);
   rkb_error_t err = {0};
   int status = rkb_task_import(&import, &report, &err);
   int code = RKB_EXIT_OK;
   fputs(rkb_text_get(&report), stderr);
   if (status == RKB_OK) {
      printf("%s\n", import.directory);
      fprintf(
         stderr,
         "look at %s/task.yaml: its cases and the range of each dim are guesses; 'rkb task filter %s' checks whether it is worth optimising\n"
         "then rkb-run stock --task %s: it writes kernels from the task's graph, and tries yours in %s/seeds/forward/ (docs/kernel-format.md) too\n"
         "or let language models write it: rkb-run stock-llm --task %s\n",
         import.directory, import.directory, import.directory, import.directory, import.directory);
   } else {
      rkb_say_error(&err);
      code = status == RKB_ERR_INVALID ? RKB_EXIT_USAGE : RKB_EXIT_BROKEN;
   }
   rkb_text_free(&report);
   return code;
}

static int filter_task(const rkb_arguments_t *arguments) {
   rkb_filter_t filter;
   rkb_problems_t problems;
   rkb_text_t text;
   rkb_error_t err = {0};
   rkb_problems_init(&problems);
   rkb_text_init(&text, MOST_TEXT);
   int code = RKB_EXIT_OK, status = rkb_task_filter(rkb_positional(arguments, 1), &filter, &problems, &err);
   if (problems.errors) {
      rkb_problems_write(&problems, &text);
      fputs(rkb_text_get(&text), stderr);
      code = RKB_EXIT_USAGE;
   } else if (status != RKB_OK) {
      rkb_say_error(&err);
      code = RKB_EXIT_BROKEN;
   } else {
      if (rkb_argument_given(arguments, "json")) {
         code = rkb_print_json(rkb_filter_json(&filter));
      } else {
         rkb_filter_write(&filter, &text);
         fputs(rkb_text_get(&text), stdout);
      }
      if (code == RKB_EXIT_OK && !rkb_filter_worth(&filter))
         code = RKB_EXIT_NOTHING;
   }
   rkb_text_free(&text);
   rkb_problems_free(&problems);
   return code;
}

static int run(const rkb_arguments_t *arguments) {
   const char *verb = rkb_positional(arguments, 0);
   if (strcmp(verb, "import") == 0)
      return import_task(arguments);
   if (strcmp(verb, "filter") == 0)
      return filter_task(arguments);
   return usage(arguments);
}

static const rkb_cli_option_t options[] = {
   {"out", "DIR", "import: The task directory to make; it must not exist.", false},
   {"dim", "NAME=TENSOR:AXIS", "import: Make this size a dim, and no other; may be repeated, also for one name (default: find the dims).", true},
   {"input", "NAME=SIZES", "import: Sizes of a function's example input, as x=4x128 or x=4x128:bfloat16; may be repeated.", true},
   {"entry", "NAME", "import: The function or class that is meant, where the file has several.", false},
   {"python", "PROGRAM",
    "import: The Python that has PyTorch (default: $RKB_PYTHON, else the first of python3, /usr/bin/python3).",
    false},
   {"json", NULL, "filter: Print JSON.", false},
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_task = {
   .name = "task",
   .arguments = "import FILE --out DIR | filter DIR",
   .summary = "Import a task from PyTorch, or check whether a task is worth optimising.",
   .details = "import runs FILE.py, which defines Model and get_inputs (and get_init_inputs) as "
              "robust-kbench or KernelBench have\n"
              "them, or a function of tensors, whose examples are default values, annotations such as \"float32[4, 128]\", or --input.\n"
              "FILE may also be FILE.pt2, which torch.export.save wrote (PyTorch 2.1 or later).  It traces the model and writes a\n"
              "task directory.  Parameters and buffers become inputs.  "
              "Without --dim it finds the\n"
              "dims itself: it varies the numbers of the file that may be sizes, and says what it chose.  "
              "--dim B=x:0 makes dim 0 of x\n"
              "the dim B, and then all other sizes are fixed.  What is not covered is named, line by line, "
              "and nothing is written\n"
              "then.\n\n"
              "filter evaluates the reference: outputs near zero, outputs that hardly vary over seeds or "
              "along an axis, inputs and\n"
              "init settings without effect.\n\n"
              "Exit: 0 imported or worth optimising, 1 not worth optimising, 2 a file that is not covered or "
              "does not load, 3 a\n"
              "broken tool.\n",
   .options = options,
   .least = 2,
   .most = 2,
   .run = run,
};
