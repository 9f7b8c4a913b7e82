/* A program as a model: the prompt on its standard input, the answer from its standard output.  A local
 * agent, or a person with a script.  The running is command_exchange.c's; here is what names the question. */
#include "llm/provider.h"

static json_t *body(const rkb_model_t *model, const rkb_llm_question_t *question) {
   json_t *arguments = json_array();
   for (const char *const *argument = model->command; argument && *argument; argument++)
      json_array_append_new(arguments, json_string(*argument));
   return json_pack("{s:o, s:s, s:s}", "command", arguments, "system",
                    question->system ? question->system : "", "user", question->user);
}

const rkb_provider_t rkb_provider_command = {.name = "command", .body = body};
