/* Command lines: a command's options as a table, from which its arguments are parsed and its help is printed.  Main thread. */
#ifndef RKB_CLI_SHARED_ARGUMENTS_H
#define RKB_CLI_SHARED_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

enum rkb_exit {
   RKB_EXIT_OK = 0,
   RKB_EXIT_NOTHING = 1, /* ended with no accepted candidate, rejected, or different */
   /* wrong command line, or a file that cannot be read or does not hold what it should */
   RKB_EXIT_USAGE = 2,
   RKB_EXIT_BROKEN = 3,       /* a tool failed; nothing is known */
   RKB_EXIT_SUSPECT = 4,      /* not accepted, and not shown to be wrong */
   RKB_EXIT_INTERRUPTED = 130 /* ended by ^C; a run is resumable */
};

typedef struct rkb_cli_option {
   const char *name;  /* without the dashes */
   const char *value; /* "DIR": takes one; NULL: a flag */
   const char *help;  /* one sentence */
   bool repeats;      /* each use adds a value; otherwise the last one counts */
} rkb_cli_option_t;

struct rkb_arguments;

typedef struct rkb_command {
   const char *name;                                  /* "show", or the program's name */
   const char *arguments;                             /* "DIR [ID]" */
   const char *summary;                               /* one line for the list of commands */
   const char *details;                               /* paragraphs for --help, or NULL */
   const rkb_cli_option_t *options;                   /* ends with a NULL name */
   int least, most;                                   /* positional arguments; most -1: any number */
   int (*run)(const struct rkb_arguments *arguments); /* returns enum rkb_exit */
} rkb_command_t;

typedef struct rkb_arguments {
   const rkb_command_t *command;
   int count;               /* number of positional arguments */
   char *const *positional; /* borrowed from argv */
   const char ***values;    /* per option of the command: NULL-terminated list, NULL when absent */
} rkb_arguments_t;

/* Parses argv[1..] and runs the command.  program is what the user typed ("rkb show").  Handles --help; for an unknown option it
 * suggests the nearest name.  Returns the exit code. */
int rkb_command_main(const rkb_command_t *command, const char *program, int count, char **argv);

/* Flushes standard output.  If that fails (a full disk), prints a message and returns RKB_EXIT_BROKEN,
 * because the result did not reach its reader; otherwise returns code. */
int rkb_flush_result(int code);

/* Whether the command has an option of this name. */
bool rkb_argument_known(const rkb_arguments_t *arguments, const char *name);
/* Whether the user gave this option. */
bool rkb_argument_given(const rkb_arguments_t *arguments, const char *name);
/* the last value, or NULL */
const char *rkb_argument(const rkb_arguments_t *arguments, const char *name);
/* NULL when absent */
const char *const *rkb_argument_list(const rkb_arguments_t *arguments, const char *name);
/* NULL past the end */
const char *rkb_positional(const rkb_arguments_t *arguments, int index);

#endif
