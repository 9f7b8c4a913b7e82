/* rkb pipelines: lists the shipped pipelines, each with its opening comment.  Only the main thread. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/folder_names.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/shared/run_archive.h"

enum { MAX_FILE = 1 << 20, MAX_ABOUT = 4096 };

/* The first paragraph of the comment that a file begins with, as one line. */
static void read_about(const char *text, rkb_text_t *about) {
   while (*text == '#') {
      const char *line = text + 1 + strspn(text + 1, " \t");
      const size_t length = strcspn(line, "\n");
      if (length == 0)
         return;
      rkb_text_format(about, "%s%.*s", about->length ? " " : "", (int)length, line);
      text = line + length;
      text += *text == '\n';
   }
}

/* Bytes up to the end of the first sentence. */
static int first_sentence(const char *about) {
   const char *end = about;
   while (*end && !(strchr(".?!", *end) && (end[1] == ' ' || !end[1])))
      end++;
   return (int)(end - about + (*end != '\0'));
}

/* Adds one pipeline to the list; prints it when list is NULL. */
static int add(const char *directory, const char *file, json_t *list) {
   char *path = rkb_path_join(directory, file), *text = NULL;
   const int name = (int)strlen(file) - 5;
   rkb_error_t err;
   rkb_text_t about;
   size_t length;
   int code = RKB_EXIT_OK;
   rkb_text_init(&about, MAX_ABOUT);
   if (rkb_file_read(path, MAX_FILE, &text, &length, &err) != RKB_OK) {
      code = rkb_say_error(&err);
   } else {
      read_about(text, &about);
      if (list)
         json_array_append_new(list,
                               json_pack("{s:o, s:o, s:o}", "name", json_stringn(file, (size_t)name), "path",
                                         rkb_json_text(path), "about", rkb_json_text(rkb_text_get(&about))));
      else
         printf("%-24.*s %.*s\n", name, file, first_sentence(rkb_text_get(&about)), rkb_text_get(&about));
   }
   rkb_text_free(&about);
   free(text);
   free(path);
   return code;
}

static int list_directory(const char *directory, json_t *list) {
   char **names = rkb_folder_names(directory, ".yaml");
   int code = RKB_EXIT_OK;
   if (!names || !*names) {
      fprintf(stderr, "%s holds no pipelines%s%s\n", directory, names ? "" : ": ",
              names ? "" : strerror(errno));
      code = RKB_EXIT_USAGE;
   }
   for (char **name = names; name && *name; name++) {
      const int added = add(directory, *name, list);
      code = code == RKB_EXIT_OK ? added : code;
   }
   rkb_folder_names_free(names);
   return code;
}

static int run(const rkb_arguments_t *arguments) {
   const char *given = rkb_positional(arguments, 0);
   char *shipped = given ? NULL : rkb_find_data("pipelines");
   json_t *list = rkb_argument_given(arguments, "json") ? json_array() : NULL;
   if (!given && !shipped) {
      json_decref(list);
      fprintf(stderr, "no pipelines are installed; name a directory of pipeline files\n");
      return RKB_EXIT_USAGE;
   }
   int code = list_directory(given ? given : shipped, list);
   if (list && code == RKB_EXIT_OK)
      code = rkb_print_json(json_incref(list));
   else if (!list && code == RKB_EXIT_OK)
      fprintf(stderr, "run one: rkb-run NAME --task TASK; see one: rkb validate NAME --resolved\n");
   json_decref(list);
   free(shipped);
   return code;
}

static const rkb_cli_option_t options[] = {
   {"json", NULL, "Print JSON, with the whole first paragraph of each file.", false},
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_pipelines = {
   .name = "pipelines",
   .arguments = "[DIR]",
   .summary = "List the pipelines that ship, each with the first sentence of its file.",
   .details =
      "With DIR, lists the pipeline files of a directory of your own.\nExit: 0, or 2 when there are none.\n",
   .options = options,
   .least = 0,
   .most = 1,
   .run = run,
};
