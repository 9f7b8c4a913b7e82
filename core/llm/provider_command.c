/* A program as a model (a local agent, or a script): the prompt goes to its standard input, the answer comes from its standard
 * output.  command_exchange.c runs the program; this file makes the text that identifies the question. */
#include "llm/provider.h"

static json_t *body(const rkb_model_t *model, const rkb_llm_question_t *question) {
   json_t *arguments = json_array();
   for (const char *const *argument = model->command; argument && *argument; argument++)
      json_array_append_new(arguments, json_string(*argument));
   return json_pack("{s:o, s:s, s:s}", "command", arguments, "system",
                    question->system ? question->system : "", "user", question->user);
}

const rkb_provider_t rkb_provider_command = {.name = "command", .body = body};
