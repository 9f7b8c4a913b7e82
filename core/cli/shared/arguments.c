/* Parses command lines with getopt_long, from a table of options.  Only the main thread. */
#include "cli/shared/arguments.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/nearest_name.h"
#include "base/terminal.h"
#include "cli/shared/manual_page.h"

enum { MAX_OPTIONS = 32, OWN_OPTIONS = 2, FIRST_VALUE = 256 };

static int count_options(const rkb_command_t *command) {
   int count = 0;
   while (command->options && command->options[count].name)
      count++;
   assert(count < MAX_OPTIONS - OWN_OPTIONS);
   return count;
}

static void print_help(const rkb_command_t *command, const char *program) {
   char left[64];
   printf("usage: %s%s%s%s\n\n%s\n", program,
          command->options && command->options[0].name ? " [OPTION]..." : "",
          command->arguments[0] ? " " : "", command->arguments, command->summary);
   if (command->details)
      printf("\n%s", command->details);
   printf("\nOptions:\n");
   for (const rkb_cli_option_t *option = command->options; option && option->name; option++) {
      snprintf(left, sizeof left, "--%s%s%s", option->name, option->value ? " " : "",
               option->value ? option->value : "");
      printf("  %-24s %s\n", left, option->help);
   }
   printf("  %-24s %s\n", "--help", "Show this text.");
}

/* Ends a message about a wrong command line: with a sentence, or with a question that suggests what was
 * meant. */
static int usage_error_after(const char *program, bool question) {
   fprintf(stderr, "%s '%s --help' lists the options\n", question ? "" : ";", program);
   return RKB_EXIT_USAGE;
}

static int usage_error(const char *program) {
   return usage_error_after(program, false);
}

/* getopt_long reports an unknown option only by its place in argv. */
static int unknown_option(const rkb_command_t *command, const char *program, const char *written) {
   const char *names[MAX_OPTIONS] = {"help"};
   char name[64];
   const char *near;
   int count = count_options(command);
   for (int i = 0; i < count; i++)
      names[i + 1] = command->options[i].name;
   snprintf(name, sizeof name, "%.*s", (int)strcspn(written + strspn(written, "-"), "="),
            written + strspn(written, "-"));
   near = rkb_nearest(name, names);
   fprintf(stderr, "%s has no option %s", program, written);
   if (near)
      fprintf(stderr, "; did you mean --%s?", near);
   return usage_error_after(program, near != NULL);
}

static void add_value(const rkb_cli_option_t *option, const char ***list, const char *value) {
   size_t count = 0;
   while (*list && (*list)[count])
      count++;
   if (!option->repeats && count > 0)
      count = 0;
   const char **longer = rkb_grow(*list, count + 2, sizeof *longer);
   longer[count] = value ? value : "";
   longer[count + 1] = NULL;
   *list = longer;
}

static int parse(const rkb_command_t *command, const char *program, int count, char **argv,
                 rkb_arguments_t *arguments) {
   struct option options[MAX_OPTIONS + 1] = {{"help", no_argument, NULL, 'h'},
                                             {"man", no_argument, NULL, 'm'}};
   int known = count_options(command);
   for (int i = 0; i < known; i++)
      options[i + OWN_OPTIONS] =
         (struct option){command->options[i].name,
                         command->options[i].value ? required_argument : no_argument, NULL, FIRST_VALUE + i};
   opterr = 0;
   optind = 0; /* GNU: start over, so that "rkb show" can be parsed after "rkb" */
   for (;;) {
      int place = optind == 0 ? 1 : optind;
      int found = getopt_long(count, argv, ":", options, NULL);
      if (found == -1)
         break;
      if (found == 'h') {
         print_help(command, program);
         return -1;
      }
      if (found == 'm') {
         rkb_manual_page(command, program);
         return -1;
      }
      if (found == ':') {
         const rkb_cli_option_t *option =
            optopt >= FIRST_VALUE ? &command->options[optopt - FIRST_VALUE] : NULL;
         fprintf(stderr, "--%s wants a value: %s", option ? option->name : "?", option ? option->value : "");
         return usage_error(program);
      }
      if (found == '?')
         return unknown_option(command, program, argv[optind > place ? optind - 1 : place]);
      add_value(&command->options[found - FIRST_VALUE], &arguments->values[found - FIRST_VALUE], optarg);
   }
   arguments->count = count - optind;
   arguments->positional = argv + optind;
   if (arguments->count < command->least || (command->most >= 0 && arguments->count > command->most)) {
      fprintf(stderr, "usage: %s%s%s", program, command->arguments[0] ? " " : "", command->arguments);
      /* Names the argument that is one too many. */
      if (command->most >= 0 && arguments->count > command->most)
         fprintf(stderr, ", not '%s' too", arguments->positional[command->most]);
      return usage_error(program);
   }
   return RKB_EXIT_OK;
}

int rkb_flush_result(int code) {
   if (fflush(stdout) == 0 && !ferror(stdout))
      return code;
   /* An earlier write failed and errno may belong to another call since then; the next write reports
    * the reason. */
   if (ferror(stdout)) {
      clearerr(stdout);
      if (fputc('\n', stdout) == EOF || fflush(stdout) == 0)
         errno = EIO;
   }
   fprintf(stderr, "cannot write the result to standard output: %s\n", strerror(errno));
   return RKB_EXIT_BROKEN;
}

int rkb_command_main(const rkb_command_t *command, const char *program, int count, char **argv) {
   const char **values[MAX_OPTIONS] = {NULL};
   rkb_arguments_t arguments = {.command = command, .values = values};
   rkb_terminal_guard();
   signal(SIGXFSZ, SIG_IGN); /* past a file size limit, writes fail like those to a full disk */
   int code = parse(command, program, count, argv, &arguments);
   if (code == RKB_EXIT_OK)
      code = command->run(&arguments);
   else if (code < 0)
      code = RKB_EXIT_OK;
   for (int i = 0; i < MAX_OPTIONS; i++)
      free(values[i]);
   return rkb_flush_result(code);
}

const char *const *rkb_argument_list(const rkb_arguments_t *arguments, const char *name) {
   for (int i = 0; arguments->command->options[i].name; i++)
      if (strcmp(arguments->command->options[i].name, name) == 0)
         return arguments->values[i];
   assert(!"the command has no such option");
   return NULL;
}

bool rkb_argument_known(const rkb_arguments_t *arguments, const char *name) {
   for (const rkb_cli_option_t *option = arguments->command->options; option->name; option++)
      if (strcmp(option->name, name) == 0)
         return true;
   return false;
}

bool rkb_argument_given(const rkb_arguments_t *arguments, const char *name) {
   return rkb_argument_list(arguments, name) != NULL;
}

const char *rkb_argument(const rkb_arguments_t *arguments, const char *name) {
   const char *const *list = rkb_argument_list(arguments, name);
   const char *last = NULL;
   for (; list && *list; list++)
      last = *list;
   return last;
}

const char *rkb_positional(const rkb_arguments_t *arguments, int index) {
   return index < arguments->count ? arguments->positional[index] : NULL;
}
