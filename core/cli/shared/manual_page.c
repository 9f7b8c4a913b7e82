/* Manual pages (manual_page.h). */
#include "cli/shared/manual_page.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_NAME = 64 };

/* Prints a text literally: '-' stays the character that a user types, and no line becomes a request. */
static void print_text(const char *text) {
   bool line_begins = true;
   for (; *text; text++) {
      if (line_begins && (*text == '.' || *text == '\''))
         fputs("\\&", stdout);
      line_begins = *text == '\n';
      if (*text == '\\')
         fputs("\\e", stdout);
      else if (*text == '-')
         fputs("\\-", stdout);
      else
         putchar(*text);
   }
}

static void print_head(const char *program, const char *summary) {
   char name[MAX_NAME] = "";
   for (size_t i = 0; program[i] && i + 1 < sizeof name; i++)
      name[i] = program[i] == ' ' ? '-' : program[i];
   printf(".TH ");
   for (const char *at = name; *at; at++)
      putchar(toupper((unsigned char)*at));
   printf(" 1 \"\" \"rkb %s\" \"rkb\"\n.SH NAME\n", RKB_VERSION);
   print_text(name);
   printf(" \\- ");
   print_text(summary);
   printf("\n.SH SYNOPSIS\n.B ");
   print_text(program);
   putchar('\n');
}

static void print_option(const char *name, const char *value, const char *help) {
   printf(".TP\n\\fB\\-\\-");
   print_text(name);
   printf("\\fR");
   if (value) {
      printf(" \\fI");
      print_text(value);
      printf("\\fR");
   }
   putchar('\n');
   print_text(help);
   putchar('\n');
}

void rkb_manual_page(const rkb_command_t *command, const char *program) {
   print_head(program, command->summary);
   if (command->options && command->options[0].name)
      printf("[OPTION]...\n");
   print_text(command->arguments);
   printf("\n.SH DESCRIPTION\n");
   print_text(command->summary);
   putchar('\n');
   if (command->details) {
      printf(".PP\n.nf\n"); /* its lines are laid out already */
      print_text(command->details);
      printf(".fi\n");
   }
   printf(".SH OPTIONS\n");
   for (const rkb_cli_option_t *option = command->options; option && option->name; option++)
      print_option(option->name, option->value, option->help);
   print_option("help", NULL, "Show the command's options.");
   print_option("man", NULL, "Print this page, for man(1).");
   printf(".SH SEE ALSO\n.BR rkb (1)\n");
}

void rkb_manual_overview(const rkb_command_t *const *commands, int count) {
   print_head("rkb", "show and check pipelines, plugins, tasks, kernels and runs");
   printf("\\fICOMMAND\\fR [OPTION]... [ARGUMENT]...\n.SH COMMANDS\n");
   for (int i = 0; i < count; i++) {
      printf(".TP\n.BR rkb\\-%s (1)\n", commands[i]->name);
      print_text(commands[i]->summary);
      putchar('\n');
   }
   printf(".SH SEE ALSO\n.BR rkb\\-run (1), which runs a pipeline\n");
}
