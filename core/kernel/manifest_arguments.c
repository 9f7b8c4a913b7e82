/* Reads the arguments of a launch: expressions, pointers, and structs of them.  `struct(x, y + offset, int32
 * rows, float32 eps)` lists a struct's members in order.  A number's type stands before it, because PTX has
 * only the struct's bytes.  Everything parsed lives in the manifest's arena; one thread. */
#include "kernel/manifest_parser.h"

#include <string.h>

#define MOST_ARGUMENTS 64u
#define MOST_MEMBERS 64u

static const char struct_word[] = "struct";

static const manifest_member_type_t member_types[] = {
   {"int8", "b8", "int8_t", 1},    {"uint8", "b8", "uint8_t", 1},   {"int16", "b16", "int16_t", 2},
   {"int32", "b32", "int32_t", 4}, {"int64", "b64", "int64_t", 8},  {"float32", "f32", "float", 4},
   {"float64", "f64", "double", 8}};

/* A part of the text that is being parsed. */
typedef struct part {
   const char *text;
   size_t length;
   rkb_place_t place;
} part_t;

static bool is_blank(char c) {
   return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static part_t trimmed(part_t part) {
   while (part.length && is_blank(*part.text)) {
      part.text++;
      part.length--;
      part.place.column++;
   }
   while (part.length && is_blank(part.text[part.length - 1]))
      part.length--;
   return part;
}

/* Removes from rest the text before the next comma outside parentheses and returns it; false when rest is empty. */
static bool next_part(part_t *rest, part_t *part) {
   size_t depth = 0, end = 0;
   if (!rest->text)
      return false;
   for (; end < rest->length && (depth > 0 || rest->text[end] != ','); end++)
      if (rest->text[end] == '(')
         depth++;
      else if (rest->text[end] == ')' && depth > 0)
         depth--;
   *part = trimmed((part_t){rest->text, end, rest->place});
   const bool last = end == rest->length;
   rest->text = last ? NULL : rest->text + end + 1;
   rest->length -= last ? end : end + 1;
   rest->place.column += (uint32_t)end + 1;
   return true;
}

static size_t name_length(part_t part) {
   size_t length = 0;
   while (length < part.length && (manifest_is_name((char[]){part.text[length], '\0'}) ||
                                   (length > 0 && part.text[length] >= '0' && part.text[length] <= '9')))
      length++;
   return length;
}

static bool is_struct(part_t part) {
   size_t word = name_length(part);
   if (word != sizeof struct_word - 1 || memcmp(part.text, struct_word, word) != 0)
      return false;
   while (word < part.length && is_blank(part.text[word]))
      word++;
   return word < part.length && part.text[word] == '(';
}

/* Reads one argument: `null`, `name`, `name + rest`, or any expression.  The plan decides whether it is a
 * pointer, because only then are the case's tensors known. */
static void parse_value(manifest_parser_t *parser, part_t part, manifest_argument_t *argument) {
   const size_t name = name_length(part);
   size_t end = name;
   argument->place = part.place;
   argument->text = rkb_arena_text(parser->arena, part.text, part.length);
   argument->whole = rkb_expression_parse(parser->arena, part.text, part.length, part.place, parser->problems);
   if (!argument->whole || name == 0)
      return;
   argument->head = rkb_arena_text(parser->arena, part.text, name);
   while (end < part.length && is_blank(part.text[end]))
      end++;
   const bool alone = end == part.length, more = !alone && part.text[end] == '+';
   argument->simple = alone || more;
   argument->null = alone && strcmp(argument->head, "null") == 0;
   if (more) {
      const part_t tail = {part.text + end + 1, part.length - end - 1, part.place};
      rkb_place_t place = part.place;
      place.column += (uint32_t)end + 1;
      argument->tail =
         rkb_expression_parse(parser->arena, tail.text, tail.length, place, parser->problems);
   }
}

/* Reads a member: `int32 rows`, or a pointer. */
static void parse_member(manifest_parser_t *parser, part_t part, manifest_argument_t *member) {
   const size_t word = name_length(part);
   if (word < part.length && is_blank(part.text[word]))
      for (size_t i = 0; i < sizeof member_types / sizeof *member_types && !member->type; i++)
         if (strlen(member_types[i].name) == word && memcmp(member_types[i].name, part.text, word) == 0)
            member->type = &member_types[i];
   if (member->type)
      part = trimmed((part_t){part.text + word, part.length - word,
                              {part.place.file, part.place.line, part.place.column + (uint32_t)word}});
   if (is_struct(part)) {
      member->place = part.place;
      member->text = "";
      rkb_problem(parser->problems, part.place, "a struct in a struct: list its members among the outer one's");
   } else {
      parse_value(parser, part, member);
   }
}

static void parse_struct(manifest_parser_t *parser, part_t part, manifest_argument_t *argument) {
   argument->place = part.place;
   argument->text = rkb_arena_text(parser->arena, part.text, part.length);
   argument->members = rkb_arena_array(parser->arena, MOST_MEMBERS, sizeof *argument->members);
   const size_t open = (size_t)((const char *)memchr(part.text, '(', part.length) - part.text);
   if (part.text[part.length - 1] != ')') {
      rkb_problem(parser->problems, part.place, "a struct ends with its members: struct(x, int32 rows)");
      return;
   }
   part_t rest = trimmed((part_t){part.text + open + 1, part.length - open - 2, part.place}), member;
   rest.place.column += (uint32_t)open + 1;
   if (rest.length == 0)
      rkb_problem(parser->problems, part.place, "a struct has members: struct(x, int32 rows)");
   while (rest.length && next_part(&rest, &member)) {
      if (argument->member_count == MOST_MEMBERS) {
         rkb_problem(parser->problems, member.place, "a struct has at most %u members", MOST_MEMBERS);
         return;
      }
      if (member.length == 0)
         rkb_problem(parser->problems, member.place, "a member is missing beside this comma");
      else
         parse_member(parser, member, &argument->members[argument->member_count++]);
   }
}

void manifest_parse_arguments(manifest_parser_t *parser, const rkb_yaml_t *map, manifest_launch_t *launch,
                              rkb_launch_text_t *text) {
   const rkb_yaml_t *node = rkb_yaml_get(map, "args");
   if (!node)
      rkb_problem(parser->problems, map->place,
                  "this launch needs args: (write args: \"\" for a kernel without parameters)");
   const char *written = node ? manifest_expression_text(parser, node, "args") : NULL;
   if (!written)
      return;
   text->args = rkb_arena_text(parser->arena, written, strlen(written));
   launch->arguments = rkb_arena_array(parser->arena, MOST_ARGUMENTS, sizeof *launch->arguments);
   part_t rest = {written, strlen(written), manifest_text_place(node)}, part;
   if (trimmed(rest).length == 0)
      return;
   while (next_part(&rest, &part)) {
      if (launch->argument_count == MOST_ARGUMENTS) {
         rkb_problem(parser->problems, part.place, "a list has at most %u parts", MOST_ARGUMENTS);
         return;
      }
      manifest_argument_t *argument = &launch->arguments[launch->argument_count++];
      argument->text = "";
      argument->place = part.place;
      if (part.length == 0)
         rkb_problem(parser->problems, part.place, "an expression is missing %s",
                     rest.text ? "before this comma" : "after the comma");
      else
         (is_struct(part) ? parse_struct : parse_value)(parser, part, argument);
   }
}
