/* The files of hostile_documents.h: what each is made of, and their texts.  One thread. */
#include "hostile_documents.h"

#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "base/yaml.h"

#define SCREEN "rkb: 1\npropose:\n  - {use: test.translator.start, with: {values: [\"6\"]}}\nscreen:\n"

const hostile_t hostile_files[] = {
   {"deep lists", "", "[", "", ":1:33: nested deeper than 32 levels"},
   {"deep maps", "", "{", "", ":1:33: nested deeper than 32 levels"},
   {"alias bomb", "a0: &a0 [x, x]\n", "a: &a# [*a#, *a#]\n", "", ":1:5: anchors (&a0) are not accepted"},
   {"equal keys", "", "a: 1\n", "", ":2:1: the key 'a' is already in this map (line 1)"},
   {"equal keys on a line", "{", "a,", "}", ":1:4: the key 'a' is already in this map (line 1)"},
   {"distinct keys", "", "k#: 1\n", "", ":65536:9: more than 131072 values come before this"},
   {"NUL bytes", "a: 1\nb: \"", "\\0", "\"\n", ":2:4: a text may not hold a NUL byte"},
   {"no UTF-8", "a: 1\n", "\xff\xfe", "", ":2:1: byte 0xff is not UTF-8"},
   {"unknown keys", "rkb: 1\n", "proposed#: 1\n", "", ":2:1: a pipeline has no key 'proposed0'"},
   {"unknown stages", SCREEN, "  - use: test.verifier.divided#\n", "",
    ":5:10: there is no stage 'test.verifier.divided0'"},
   {"unknown options", SCREEN "  - use: test.verifier.divide\n    with:\n", "      option#: 1\n", "",
    ":7:7: test.verifier.divide has no key 'option0'"},
   {"unknown needs", SCREEN "  - use: test.verifier.divide\n    needs: [", "n#, ", "n]\n", ":6:"},
   {"models", "rkb: 1\nmodels:\n", "  model_number_#: openai\n", "", ":3:3: models has "},
   {"matrix", "rkb: 1\nmatrix:\n  seed: [", "1000#, ", "0]\n",
    ":3:3: matrix makes more than 1000 combinations"},
   {"operators",
    "rkb: 1\nlimits: {candidates: 9}\npropose:\n  - {use: test.translator.start, with: {values: "
    "[\"6\"]}}\nsearch:\n  use: "
    "test.strategy.climb\n  operators:\n",
    "    - {use: test.mutator.step, id: s#}\n", "", ":69:7: a pipeline has at most 63 entries"},
};
const size_t hostile_count = sizeof hostile_files / sizeof hostile_files[0];

/* The unit with its number in the place of each #. */
static void add_unit(rkb_text_t *text, const char *unit, unsigned number) {
   const char *mark;
   while ((mark = strchr(unit, '#')) != NULL) {
      rkb_text_append(text, unit, (size_t)(mark - unit));
      rkb_text_format(text, "%u", number);
      unit = mark + 1;
   }
   rkb_text_add(text, unit);
}

char *hostile_text(const hostile_t *hostile, size_t *length) {
   rkb_text_t text;
   rkb_text_init(&text, RKB_YAML_MAX_BYTES);
   rkb_text_add(&text, hostile->head);
   for (unsigned i = 0; text.length < RKB_YAML_MAX_BYTES - 128; i++)
      add_unit(&text, hostile->unit, i);
   rkb_text_add(&text, hostile->tail);
   *length = text.length;
   return rkb_text_take(&text);
}
