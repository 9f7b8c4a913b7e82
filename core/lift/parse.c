/* Gets the tree of one text: decides whether the text can have one, and asks the parser. */
#include "lift/parse.h"

#include <stdlib.h>
#include <string.h>
#include "lift/parser_call.h"
#include "lift/parser_protocol.h"

/* Lines for the preprocessor hide code from the tree; #pragma and #include do not. */
static bool has_hidden_code(const char *text, char *refusal, size_t size) {
   uint32_t count;
   rkb_tokens_t *tokens = rkb_tokens_new(text, strlen(text));
   const rkb_token_t *list = rkb_tokens_at(tokens, &count);
   bool hidden = false;
   for (uint32_t i = 0; i < count && !hidden; i++) {
      if (list[i].kind != RKB_TOKEN_DIRECTIVE)
         continue;
      const char *word = text + list[i].start + 1;
      word += strspn(word, " \t");
      hidden = strncmp(word, "pragma", 6) != 0 && strncmp(word, "include", 7) != 0;
      if (hidden)
         snprintf(refusal, size, "line %u: a preprocessor line other than #pragma and #include hides code from the syntax tree",
                  list[i].line);
   }
   rkb_tokens_free(tokens);
   return hidden;
}

int lift_parse(const char *text, const manifest_t *manifest, bool (*cancelled)(void *argument), void *argument, lift_tree_t **tree,
               char *refusal, size_t size, rkb_error_t *err) {
   lift_answer_t answer;
   *tree = NULL;
   if (strlen(text) < LIFT_MAX_TEXT && has_hidden_code(text, refusal, size))
      return RKB_OK;
   int status = lift_ask_parser(LIFT_ASK_TREE, text, manifest, cancelled, argument, &answer, refusal, size, err);
   if (status == RKB_OK && answer.data)
      status = lift_tree_read(answer.data, answer.bytes, text, tree, refusal, size, err);
   lift_answer_free(&answer);
   return status;
}
