/* Reads the tokens of expressions and writes messages about them (expression_tokens.h).  One thread at a time. */
#include "base/expression_tokens.h"

#include <stdio.h>
#include <string.h>

static bool is_space(char c) {
   return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

node_t *rkb_expression_refuse(parser_t *parser, uint32_t at, const char *fmt, ...) {
   char message[512];
   rkb_place_t place = parser->place;
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(message, sizeof message, fmt, ap);
   va_end(ap);
   place.column += at;
   rkb_problem(parser->problems, place, "%s", message);
   return NULL;
}

void rkb_expression_skip_space(parser_t *parser) {
   while (is_space(parser->text[parser->at]))
      parser->at++;
}

uint32_t rkb_expression_name_length(const char *text) {
   uint32_t length = 0;
   if (!begins_name(text[0]))
      return 0;
   while (continues_name(text[length]) || (text[length] == '.' && begins_name(text[length + 1])))
      length++;
   return length;
}

bool rkb_expression_take(parser_t *parser, const char *token) {
   rkb_expression_skip_space(parser);
   size_t length = strlen(token);
   const char *text = parser->text + parser->at;
   if (strncmp(text, token, length) != 0 ||
       (begins_name(token[0]) && rkb_expression_name_length(text) != length))
      return false;
   parser->at += (uint32_t)length;
   parser->last_end = parser->at;
   return true;
}

node_t *rkb_expression_refuse_next(parser_t *parser, const char *expected) {
   static const struct {
      const char *text, *advice;
   } foreign[] = {
      {"&&", "write 'a and b', not 'a && b'"},
      {"||", "write 'a or b', not 'a || b'"},
      {"**", "there is no '**'; write the product out"},
      {"//", "'/' divides integers already; write 'a / b', or ceildiv(a, b) to round up"},
      {"<<", "there are no shifts; write 'a * 8', not 'a << 3'"},
      {">>", "there are no shifts; write 'a / 8', not 'a >> 3'"},
      {"!", "write 'not a', not '!a'"},
      {"?", "write 'if(condition, a, b)', not 'condition ? a : b'"},
      {":", "write 'if(condition, a, b)', not 'condition ? a : b'"},
      {"=", "write 'a == b' to compare; nothing is assigned here"},
      {"&", "there are no bit operators; write 'a and b' for both, 'a % 8' for low bits"},
      {"|", "there are no bit operators; write 'a or b' for either"},
      {"^", "there is no '^'; write a power as a product"},
      {"~", "there are no bit operators; write 'not a' for the opposite"},
      {"[", "there are no lists here; write the parts with commas between, 'a, b'"},
      {"]", "there are no lists here; write the parts with commas between, 'a, b'"},
      {"{", "there are no maps or lists here; write the parts with commas between, 'a, b'"},
      {"}", "there are no maps or lists here; write the parts with commas between, 'a, b'"},
      {"'", "an expression is not a text; leave out the quotes"},
      {"\"", "an expression is not a text; leave out the quotes"},
      {";", "a part ends at a comma, not at ';'"},
      {")", "this ')' has no '('"},
   };
   rkb_expression_skip_space(parser);
   const char *text = parser->text + parser->at;
   for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
      if (strncmp(text, foreign[i].text, strlen(foreign[i].text)) == 0)
         return rkb_expression_refuse(parser, parser->at, "%s", foreign[i].advice);
   }
   if (*text == '\0')
      return rkb_expression_refuse(parser, parser->at, "%s is missing at the end", expected);
   if (rkb_expression_name_length(text))
      return rkb_expression_refuse(parser, parser->at, "expected %s before '%.*s'", expected,
                                   (int)rkb_expression_name_length(text), text);
   if (is_digit(*text))
      return rkb_expression_refuse(parser, parser->at, "expected %s before this number", expected);
   if (*text > ' ' && *text < 0x7f)
      return rkb_expression_refuse(parser, parser->at, "expected %s before '%c'", expected, *text);
   return rkb_expression_refuse(parser, parser->at,
                                "expected %s; this byte (0x%02x) belongs to no expression", expected,
                                (unsigned char)*text);
}
