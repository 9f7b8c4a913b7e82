/* rkb-parser - reads one kernel's text with libclang and answers with its syntax tree or its warnings.
 *
 * The text is hostile, and libclang is large: this is a process of its own that lives for one text.  It limits its processor time and
 * memory, and before it looks at the text it gives up capabilities, files, processes and the network.  Started by lift/parser_call.c. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/confine.h"
#include "base/memory.h"
#include "kernel/byte_record.h"
#include "lift/parser/kernel_unit.h"
#include "lift/parser/tree_writer.h"
#include "lift/parser/warning_writer.h"
#include "lift/parser_protocol.h"

enum { PROCESSOR_SECONDS = 10, MEMORY_BYTES = 1 << 30 };

/* A sanitizer's shadow memory alone exceeds any limit on data. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool data_is_limited = false;
#else
static const bool data_is_limited = true;
#endif

static void limit(int resource, rlim_t most) {
   const struct rlimit both = {most, most};
   setrlimit(resource, &both);
}

/* Enters every sandbox layer that this kernel has.  A parser without the layers still has its limits. */
static void give_up(void) {
   uint64_t held;
   rkb_drop_capabilities();
   if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
      return;
   const int rules = rkb_landlock_begin(&held);
   if (rules >= 0)
      rkb_landlock_enter(rules);
   rkb_refuse_changes_of_files();
   rkb_refuse_processes_and_network();
}

static bool send_answer(rkb_text_t *answer) {
   unsigned char header[WIRE_HEADER_BYTES];
   record_header(header, answer->length);
   return !answer->cut && record_write_all(STDOUT_FILENO, header, sizeof header) &&
          record_write_all(STDOUT_FILENO, answer->data, answer->length);
}

static bool read_request(uint32_t *question, char **declarations, char **text) {
   unsigned char header[WIRE_HEADER_BYTES];
   uint64_t length;
   if (!record_read_all(STDIN_FILENO, header, sizeof header) ||
       !record_header_length(header, LIFT_MAX_TEXT + LIFT_MAX_DECLARATIONS + 64, &length))
      return false;
   void *payload = rkb_try_uncleared(length + 1, 1, NULL);
   if (!payload || !record_read_all(STDIN_FILENO, payload, length))
      return false;
   record_reader_t in = {.data = payload, .size = length};
   *question = record_u32(&in);
   *declarations = record_text(&in, LIFT_MAX_DECLARATIONS);
   *text = record_text(&in, LIFT_MAX_TEXT);
   return !in.bad && in.at == length;
}

static void answer_question(uint32_t question, const char *declarations, const char *text, rkb_text_t *answer) {
   kernel_unit_t opened;
   kernel_unit_open(&opened, declarations, text, question == LIFT_ASK_WARNINGS, answer);
   if (opened.unit && question == LIFT_ASK_WARNINGS)
      warnings_write(opened.unit, answer);
   else if (opened.unit)
      tree_write(opened.unit, text, answer);
   kernel_unit_close(&opened);
}

int main(int argc, char **argv) {
   char *declarations = NULL, *text = NULL;
   uint32_t question = LIFT_ASK_TREE;
   rkb_text_t answer;
   if (argc == 2 && strcmp(argv[1], "--version") == 0) {
      kernel_unit_version();
      return 0;
   }
   if (argc != 1 || isatty(STDIN_FILENO)) {
      fprintf(stderr, "rkb-parser is started by rkb and rkb-run; it does nothing on its own\n");
      return 2;
   }
   prctl(PR_SET_PDEATHSIG, SIGKILL);
   prctl(PR_SET_DUMPABLE, 0);
   limit(RLIMIT_CORE, 0);
   limit(RLIMIT_FSIZE, 0);
   limit(RLIMIT_CPU, PROCESSOR_SECONDS);
   if (data_is_limited)
      limit(RLIMIT_DATA, MEMORY_BYTES);
   give_up();
   rkb_text_init(&answer, LIFT_MAX_ANSWER);
   if (!read_request(&question, &declarations, &text))
      return 1;
   answer_question(question, declarations, text, &answer);
   _exit(send_answer(&answer) ? 0 : 1); /* frees no memory, because the process ends */
}
