/* Goes through libclang's diagnostics of one text.  Owns nothing. */
#include "lift/parser/warning_writer.h"

#include <stdio.h>
#include "kernel/byte_record.h"
#include "lift/parser/kernel_unit.h"
#include "lift/parser_protocol.h"

static void put_string(rkb_text_t *out, CXString string) {
   char words[LIFT_MAX_WORDS];
   const char *text = clang_getCString(string);
   snprintf(words, sizeof words, "%s", text ? text : "");
   record_put_text(out, words);
   clang_disposeString(string);
}

void warnings_write(CXTranslationUnit unit, rkb_text_t *answer) {
   rkb_text_t list;
   uint32_t count = 0;
   rkb_text_init(&list, LIFT_MAX_ANSWER / 2);
   for (unsigned i = 0; i < clang_getNumDiagnostics(unit) && count < LIFT_MAX_WARNINGS; i++) {
      CXDiagnostic diagnostic = clang_getDiagnostic(unit, i);
      const unsigned line = kernel_unit_line(diagnostic);
      if (line > 0 && clang_getDiagnosticSeverity(diagnostic) == CXDiagnostic_Warning) {
         record_put_u32(&list, line);
         put_string(&list, clang_getDiagnosticOption(diagnostic, NULL));
         put_string(&list, clang_getDiagnosticSpelling(diagnostic));
         count++;
      }
      clang_disposeDiagnostic(diagnostic);
   }
   record_put_u32(answer, LIFT_WARNED);
   record_put_u32(answer, count);
   rkb_text_append(answer, list.data ? list.data : "", list.length);
   rkb_text_free(&list);
}
