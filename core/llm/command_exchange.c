/* Asks a program (attempt.h): the prompt goes to its standard input, the answer comes from its standard output. */
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "llm/attempt.h"
#include "system/process.h"

/* The environment of the program: only the variables that the user listed, as "NAME=value" texts and a NULL.  The caller frees the
 * list and its texts. */
static char **environment_of(const rkb_model_t *model) {
   size_t count = 0, used = 0;
   for (const char *const *name = model->environment; name && *name; name++)
      count++;
   char **list = rkb_allocate(count + 1, sizeof *list);
   for (size_t i = 0; i < count; i++) {
      const char *value = getenv(model->environment[i]);
      if (value)
         list[used++] = rkb_format("%s=%s", model->environment[i], value);
   }
   return list;
}

static void free_environment(char **list) {
   for (char **line = list; *line; line++)
      free(*line);
   free(list);
}

static void read_result(rkb_attempt_t *attempt, const rkb_process_result_t *result) {
   rkb_reply_t *reply = &attempt->reply;
   if (result->cancelled) {
      attempt->end = RKB_ATTEMPT_CANCELLED;
   } else if (result->timed_out) {
      attempt->end = RKB_ATTEMPT_FAILED;
      rkb_text_add(&reply->trouble, "the command did not end in time");
   } else if (result->signal || result->exit_code) {
      attempt->end = RKB_ATTEMPT_FAILED;
      rkb_text_format(&reply->trouble, "the command ended with %s %d: %.300s",
                      result->signal ? "signal" : "exit code",
                      result->signal ? result->signal : result->exit_code, result->errors);
   } else if (result->output_cut) {
      attempt->end = RKB_ATTEMPT_UNREADABLE;
      rkb_text_format(&reply->trouble, "the command wrote more than %u bytes", RKB_ARCHIVE_MAX_REPLY);
   } else {
      rkb_text_append(&reply->text, result->output, strnlen(result->output, result->output_bytes));
      reply->finished = true;
      attempt->end = RKB_ATTEMPT_REPLIED;
   }
}

void rkb_attempt_command(rkb_attempt_t *attempt) {
   const rkb_model_t *model = attempt->model;
   const rkb_llm_question_t *question = attempt->question;
   uint64_t began = rkb_now_ns(), limit = model->total_ns;
   rkb_process_result_t *result = NULL;
   rkb_error_t err = {0};
   rkb_text_t input;
   rkb_reply_init(&attempt->reply);
   rkb_text_init(&input, 2 * (size_t)RKB_ARCHIVE_MAX_REPLY);
   if (question->system && question->system[0])
      rkb_text_format(&input, "%s\n\n", question->system);
   rkb_text_add(&input, question->user);
   if (attempt->deadline_ns && attempt->deadline_ns - began < limit)
      limit = attempt->deadline_ns > began ? attempt->deadline_ns - began : 1;
   char **environment = environment_of(model);
   rkb_process_spec_t spec = {.size = sizeof spec,
                              .arguments = model->command,
                              .environment = (const char *const *)environment,
                              .input = rkb_text_get(&input),
                              .input_bytes = input.length,
                              .output_limit = RKB_ARCHIVE_MAX_REPLY,
                              .deadline_ns = limit};
   int status = rkb_process_run(&spec, attempt->give_up, attempt->argument, &result, &err);
   attempt->seconds = (double)(rkb_now_ns() - began) * 1e-9;
   attempt->unsent = status != RKB_OK; /* the program never ran */
   if (status == RKB_OK) {
      read_result(attempt, result);
   } else {
      attempt->end = status == RKB_ERR_UNAVAILABLE ? RKB_ATTEMPT_REJECTED : RKB_ATTEMPT_FAILED;
      rkb_text_format(&attempt->reply.trouble, "%s", err.message);
   }
   rkb_process_result_free(result);
   free_environment(environment);
   rkb_text_free(&input);
}
