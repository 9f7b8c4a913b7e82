/* rkb tasks: lists every task with its work and the least time it can take.  Only the main thread. */
#include <stdio.h>
#include <stdlib.h>
#include "base/file.h"
#include "cli/commands.h"
#include "cli/shared/run_archive.h"
#include "kernel/kernel.h"
#include "task/listing.h"

#define MOST_TEXT (4u << 20)

static void say_problems(rkb_problems_t *problems) {
   rkb_text_t text;
   rkb_text_init(&text, MOST_TEXT);
   rkb_problems_write(problems, &text);
   fputs(rkb_text_get(&text), stderr);
   rkb_text_free(&text);
}

static int print(const rkb_arguments_t *arguments, const rkb_listing_t *listing,
                 const rkb_peaks_t *target) {
   if (rkb_argument_given(arguments, "json"))
      return rkb_print_json(rkb_listing_json(listing, target));
   rkb_text_t text;
   rkb_text_init(&text, MOST_TEXT);
   rkb_listing_write(listing, target, &text);
   fputs(rkb_text_get(&text), stdout);
   rkb_text_free(&text);
   return RKB_EXIT_OK;
}

static int run(const rkb_arguments_t *arguments) {
   const char *given = rkb_positional(arguments, 0), *profile = rkb_argument(arguments, "target");
   char *shipped = given ? NULL : rkb_find_data("tasks");
   if (!given && !shipped) {
      fprintf(stderr, "no tasks are installed; name a directory of task directories\n");
      return RKB_EXIT_USAGE;
   }
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   rkb_listing_t listing = {0};
   int code = RKB_EXIT_USAGE;
   rkb_device_t *device = rkb_device_load(profile ? profile : "h200", &problems);
   if (device) {
      rkb_peaks_t target = rkb_peaks_of(device);
      rkb_error_t err = {0};
      int status = rkb_listing_load(given ? given : shipped, &target, &listing, &problems, &err);
      if (status == RKB_OK && listing.count == 0 && !problems.errors)
         status = rkb_fail(&err, RKB_ERR_IO, "%s holds no task directories", given ? given : shipped);
      if (status != RKB_OK)
         code = rkb_say_error(&err);
      else if (listing.count > 0) /* otherwise no task loads, and a table without rows is no result */
         code = print(arguments, &listing, &target);
      if (problems.errors ||
          (given && status == RKB_ERR_IO)) /* a directory that the user named cannot be read */
         code = RKB_EXIT_USAGE;
   }
   if (problems.count)
      say_problems(&problems);
   rkb_listing_free(&listing);
   rkb_device_free(device);
   rkb_problems_free(&problems);
   free(shipped);
   return code;
}

static const rkb_cli_option_t options[] = {
   {"target", "PROFILE", "The device profile to compute with (default: h200).", false},
   {"json", NULL, "Print JSON.", false},
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_tasks = {
   .name = "tasks",
   .arguments = "[DIR]",
   .summary = "List tasks with their work and the least time they can take.",
   .details = "One line for each task, direction and bench case: its dims, arithmetic (a multiply and an add "
              "count apart), least\n"
              "traffic, and max(bytes / bandwidth, arithmetic / rate) + launch floor on the target.\n\n"
              "Exit: 0, or 2 when a task does not load.\n",
   .options = options,
   .least = 0,
   .most = 1,
   .run = run,
};
