/* rkb library: lists a folder of elites, or prints one kernel of it.  Only the main thread. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "cli/commands.h"
#include "cli/shared/run_archive.h"
#include "library/library.h"

enum { SHOWN_DIGITS = 12, MOST_TEXT = 8192 };

static void say(void *argument, const char *text) {
   (void)argument;
   fprintf(stderr, "%s\n", text);
}

static void print_elite(const rkb_elite_t *elite) {
   rkb_text_t operations;
   rkb_text_init(&operations, MOST_TEXT);
   for (uint32_t i = 0; i < elite->operation_count; i++)
      rkb_text_format(&operations, "%s%s", i ? " " : "", elite->operations[i]);
   printf("%.*s  %s %s on %s, %s = %.6g%s%s\n", SHOWN_DIGITS, elite->identity, elite->task, elite->direction, elite->device,
          elite->objective, elite->score, elite->measured_on[0] ? ", measured on " : "", elite->measured_on);
   printf("   operations: %s\n", rkb_text_get(&operations));
   if (elite->limiter[0])
      printf("   limited by: %s\n", elite->limiter);
   printf("   from: %s, seed %" PRIu64 ", candidate %" PRId64 " by %s\n", elite->pipeline, elite->seed, elite->candidate, elite->made_by);
   rkb_text_free(&operations);
}

/* Everything except the source, as JSON. */
static json_t *elite_json(const rkb_elite_t *elite) {
   json_t *copy = json_copy(elite->owner);
   json_object_del(copy, "source");
   json_object_del(copy, "rkb_elite");
   json_object_set_new(copy, "identity", json_string(elite->identity));
   return copy;
}

static int print_all(const rkb_library_t *library, bool json) {
   json_t *list = json ? json_array() : NULL;
   for (uint32_t i = 0; i < library->count; i++)
      if (json)
         json_array_append_new(list, elite_json(&library->elites[i]));
      else
         print_elite(&library->elites[i]);
   if (json)
      return rkb_print_json(list);
   fprintf(stderr, "%u entries%s\n", library->count, library->count ? "; see a kernel: rkb library DIR ID" : "");
   return RKB_EXIT_OK;
}

/* Prints the one entry whose identity begins with this text. */
static int print_one(const rkb_library_t *library, const char *beginning, bool json) {
   const rkb_elite_t *found = NULL;
   for (uint32_t i = 0; i < library->count; i++) {
      if (strncmp(library->elites[i].identity, beginning, strlen(beginning)) != 0)
         continue;
      if (found) {
         fprintf(stderr, "several entries begin with %s; give more of its digits\n", beginning);
         return RKB_EXIT_USAGE;
      }
      found = &library->elites[i];
   }
   if (!found) {
      fprintf(stderr, "no entry begins with %s\n", beginning);
      return RKB_EXIT_USAGE;
   }
   if (json)
      return rkb_print_json(json_incref(found->owner));
   fputs(found->source, stdout);
   return RKB_EXIT_OK;
}

static int run(const rkb_arguments_t *arguments) {
   const char *beginning = rkb_positional(arguments, 1);
   const bool json = rkb_argument_given(arguments, "json");
   rkb_library_t library;
   rkb_error_t err;
   if (rkb_library_read(rkb_positional(arguments, 0), say, NULL, &library, &err) != RKB_OK)
      return rkb_say_error(&err);
   const int code = beginning ? print_one(&library, beginning, json) : print_all(&library, json);
   const bool whole = !library.left_out;
   rkb_library_free(&library);
   return code == RKB_EXIT_OK && !whole ? RKB_EXIT_NOTHING : code;
}

static const rkb_cli_option_t options[] = {
   {"json", NULL, "Print JSON.", false},
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_library = {
   .name = "library",
   .arguments = "DIR [ID]",
   .summary = "List the kernels that runs left in a library, or print one.",
   .details = "ID is the beginning of an entry's identity.  'rkb-run --library DIR' reads and adds entries.\n"
              "Exit: 0; 1 when entries were left out, each named with the reason; 2 when there is no such library or entry.\n",
   .options = options,
   .least = 1,
   .most = 2,
   .run = run,
};
