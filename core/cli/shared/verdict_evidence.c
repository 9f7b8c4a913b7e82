/* Prints evidence for people.  The keys are those of docs/archive.md, 'Evidence'.  Only the main thread. */
#include "cli/shared/verdict_evidence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/json.h"

enum { MAX_SOURCE_LINE = 160 };

/* Reads <length><name> of the Itanium C++ ABI, section 5.1.3; *at moves past it. */
static int read_name(const char **at, const char **name) {
   char *end;
   long length = strtol(*at, &end, 10);
   if (end == *at || length <= 0 || (size_t)length > strlen(end))
      return 0;
   *name = end;
   *at = end + length;
   return (int)length;
}

/* Reads I (L<type><number>E)+ E: template arguments that are integers; *at moves past them. */
static bool read_integers(const char **at, char *out, size_t size) {
   const char *next = *at + 1;
   size_t used = 0;
   while (*next == 'L') {
      char *end;
      bool negative = next[1] && next[2] == 'n';
      long long value = strtoll(next + 2 + negative, &end, 10);
      if (end == next + 2 + negative || *end != 'E')
         return false;
      int added = snprintf(out + used, size - used, "%s%s%lld", used ? ", " : "", negative ? "-" : "", value);
      if (added < 0 || (size_t)added >= size - used)
         return false;
      used += (size_t)added;
      next = end + 1;
   }
   *at = next + 1;
   return used > 0 && *next == 'E';
}

const char *rkb_readable_kernel(const char *symbol, char *out, size_t size) {
   const char *at = symbol + 2, *name = NULL;
   char integers[160] = "";
   int length = strncmp(symbol, "_Z", 2) == 0 ? read_name(&at, &name) : 0;
   bool known = length > 0 && (*at != 'I' || read_integers(&at, integers, sizeof integers));
   if (known && integers[0])
      snprintf(out, size, "%.*s<%s>", length, name, integers);
   else if (known)
      snprintf(out, size, "%.*s", length, name);
   else
      snprintf(out, size, "%s", symbol);
   return out;
}

/* --- the lines ------------------------------------------------------------------------------------------------------ */

static const char *text_of(const json_t *evidence, const char *key) {
   return json_string_value(json_object_get(evidence, key));
}

static bool number_of(const json_t *evidence, const char *key, double *value) {
   const json_t *found = json_object_get(evidence, key);
   if (!json_is_number(found))
      return false;
   *value = json_number_value(found);
   return true;
}

/* Whether a file is the candidate.  The compiler uses a name of its own for the candidate; any other file is
 * a header. */
static bool is_the_candidate(const char *file) {
   const char *slash = file ? strrchr(file, '/') : NULL;
   return !file || strcmp(slash ? slash + 1 : file, "candidate.cu") == 0;
}

static void print_source_line(const char *text, long line) {
   for (long i = 1; i < line && text; i++) {
      text = strchr(text, '\n');
      text = text ? text + 1 : NULL;
   }
   if (!text)
      return;
   text += strspn(text, " \t");
   size_t length = strcspn(text, "\r\n");
   printf("   %.*s%s", (int)(length < MAX_SOURCE_LINE ? length : MAX_SOURCE_LINE), text,
          length > MAX_SOURCE_LINE ? "..." : "");
}

static void print_where(const json_t *evidence, const rkb_evidence_source_t *source) {
   double line = 0, column = 0;
   const char *file = text_of(evidence, "file"), *kernel = text_of(evidence, "kernel");
   char readable[256];
   if (kernel)
      rkb_readable_kernel(kernel, readable, sizeof readable);
   if (!number_of(evidence, "line", &line) || line < 1) {
      if (kernel)
         printf("    in       %s\n", readable);
      return;
   }
   printf("    at       %s:%ld", is_the_candidate(file) ? source->name : file, (long)line);
   if (number_of(evidence, "column", &column) && column > 0)
      printf(":%ld", (long)column);
   if (kernel)
      printf(" in %s", readable);
   if (is_the_candidate(file) && source->text) {
      printf("\n          ");
      print_source_line(source->text, (long)line);
   }
   printf("\n");
}

static bool print_triple(const json_t *evidence, const char *label, const char *key) {
   const json_t *triple = json_object_get(evidence, key);
   if (json_array_size(triple) != 3)
      return false;
   printf("%s (%lld, %lld, %lld)", label, (long long)json_integer_value(json_array_get(triple, 0)),
          (long long)json_integer_value(json_array_get(triple, 1)),
          (long long)json_integer_value(json_array_get(triple, 2)));
   return true;
}

static void print_who(const json_t *evidence) {
   double occurrences = 0, line = 0;
   if (!json_object_get(evidence, "thread") && !json_object_get(evidence, "block"))
      return;
   printf("    who      ");
   if (print_triple(evidence, "block", "block"))
      printf(", ");
   if (!print_triple(evidence, "thread", "thread"))
      printf("the whole block");
   if (json_object_get(evidence, "other_thread")) {
      print_triple(evidence, "; against block", "other_block");
      print_triple(evidence, ", thread", "other_thread");
      if (number_of(evidence, "other_line", &line))
         printf(" in line %.0f", line);
   }
   if (number_of(evidence, "occurrences", &occurrences) && occurrences > 1)
      printf("; seen %.0f times before the run was stopped", occurrences);
   printf("\n");
}

static void print_order(const json_t *evidence) {
   if (text_of(evidence, "time_order"))
      printf("    order    %s\n", text_of(evidence, "time_order"));
}

static void print_bytes(const json_t *evidence) {
   const char *buffer = text_of(evidence, "buffer"), *opcode = text_of(evidence, "opcode");
   double offset = 0, bytes = 0;
   if (!buffer || !number_of(evidence, "offset", &offset))
      return;
   printf("    bytes    %s + %.0f", buffer, offset);
   if (number_of(evidence, "bytes", &bytes) && bytes > 0)
      printf(", %.0f wide", bytes);
   printf("%s%s\n", opcode ? ", by " : "", opcode ? opcode : "");
}

/* Prints the instruction and the values of its registers in that thread. */
static void print_instruction(const json_t *evidence) {
   const char *opcode = text_of(evidence, "opcode"), *name;
   json_t *registers = json_object_get(evidence, "registers"), *value;
   double line = 0;
   if (opcode && number_of(evidence, "ptx_line", &line))
      printf("    ptx      line %.0f: %s\n", line, opcode);
   if (!json_object_size(registers))
      return;
   printf("    held     ");
   const char *comma = "";
   json_object_foreach(registers, name, value) {
      printf("%s%s = %s", comma, name, json_string_value(value) ? json_string_value(value) : "?");
      comma = ", ";
   }
   printf("\n");
}

/* Spells a value that is a number, or one of the texts for numbers that JSON cannot hold. */
static const char *spell(const json_t *value, char *out, size_t size) {
   if (json_is_string(value))
      snprintf(out, size, "%s", json_string_value(value));
   else
      snprintf(out, size, "%.9g", json_number_value(value));
   return out;
}

static void print_values(const json_t *evidence) {
   char got[40], want[40], bound[40];
   double element = 0, outside = 0;
   const char *name = text_of(evidence, "bound_name"), *fault = text_of(evidence, "fault");
   if (!json_object_get(evidence, "got") || !json_object_get(evidence, "want"))
      return;
   number_of(evidence, "element", &element);
   printf("    value    %s[%.0f] is %s, should be %s",
          text_of(evidence, "buffer") ? text_of(evidence, "buffer") : "output", element,
          spell(json_object_get(evidence, "got"), got, sizeof got),
          spell(json_object_get(evidence, "want"), want, sizeof want));
   if (json_object_get(evidence, "bound"))
      printf(" within %s%s%s%s", spell(json_object_get(evidence, "bound"), bound, sizeof bound),
             name ? " (" : "", name ? name : "", name ? " bound)" : "");
   if (number_of(evidence, "outside", &outside) && outside > 1)
      printf("; %.0f elements are outside", outside);
   if (fault && strcmp(fault, "logic") == 0)
      printf("; wrong in exact arithmetic too");
   printf("\n");
}

static void print_inputs(const json_t *evidence) {
   const char *the_case = text_of(evidence, "case"), *family = text_of(evidence, "family");
   double seed = 0;
   if (!the_case)
      return;
   printf("    inputs   case %s", the_case);
   if (family)
      printf(", family %s", family);
   if (number_of(evidence, "seed", &seed))
      printf(", seed %.0f", seed);
   printf("\n");
}

static bool is_understood(const json_t *evidence) {
   static const char *const keys[] = {"line", "thread", "offset", "got", "case", "kernel"};
   for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
      if (json_object_get(evidence, keys[i]))
         return true;
   return false;
}

/* Prints the evidence.  Its own sentence is the message without the place and the inputs, because these have
 * lines of their own. */
void rkb_print_evidence(const rkb_verdict_record_t *verdict, const rkb_evidence_source_t *source) {
   rkb_error_t err;
   json_t *evidence =
      verdict->evidence ? rkb_json_parse(verdict->evidence, strlen(verdict->evidence), &err) : NULL;
   const char *sentence = evidence ? text_of(evidence, "message") : NULL;
   bool values = json_object_get(evidence, "got") && json_object_get(evidence, "want");
   if (!values && (sentence || verdict->message[0]))
      printf("    what     %s\n", sentence ? sentence : verdict->message);
   if (is_understood(evidence)) {
      print_values(evidence);
      print_where(evidence, source);
      print_who(evidence);
      print_order(evidence);
      print_bytes(evidence);
      print_instruction(evidence);
      print_inputs(evidence);
   } else if (verdict->evidence) {
      printf("    evidence %s\n", verdict->evidence);
   }
   json_decref(evidence);
}
