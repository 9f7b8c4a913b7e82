/* Parses a kernel (kernel_unit.h).  Reads no file: the headers that a candidate may include are empty, because declarations.cuh has
 * their declarations. */
#include "lift/parser/kernel_unit.h"

#include <stdio.h>
#include <string.h>
#include "kernel/byte_record.h"
#include "lift/parser_protocol.h"

#define DECLARATIONS_PATH "/kernel/declarations.cuh"

static const char *const HEADERS[] = {"cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "math.h", "stdint.h", "float.h", "limits.h",
                                      "math_constants.h", "stddef.h", "cstdint", "cfloat", "cmath", "climits"};
enum { HEADER_COUNT = sizeof HEADERS / sizeof *HEADERS };

static const char *const COMMON[] = {"-xc++", "-std=c++17", "-nostdinc", "-nostdinc++", "-ferror-limit=1", "-ftemplate-depth=64",
                                     "-fconstexpr-steps=100000", "-fbracket-depth=200", "-fno-exceptions", "-target", "x86_64-linux-gnu",
                                     "-isystem", "/kernel/include", "-include", DECLARATIONS_PATH};
/* Drops warnings of things that are no faults in a kernel: attributes that only a CUDA compiler knows, pragmas, and unused parameters that
 * the launch passes. */
static const char *const WARNINGS[] = {"-Wall", "-Wextra", "-Wshadow", "-Wconditional-uninitialized", "-Wunreachable-code", "-Wcomma",
                                       "-Wloop-analysis", "-Wdouble-promotion", "-Wshift-sign-overflow", "-Wno-unknown-attributes",
                                       "-Wno-ignored-attributes", "-Wno-unknown-pragmas", "-Wno-unused-parameter", "-Wno-unused-function",
                                       "-Wno-missing-field-initializers", "-Wno-pass-failed"};
enum { COMMON_COUNT = sizeof COMMON / sizeof *COMMON, WARNING_COUNT = sizeof WARNINGS / sizeof *WARNINGS };

void kernel_unit_refuse(rkb_text_t *answer, const char *why) {
   rkb_text_clear(answer);
   record_put_u32(answer, LIFT_REFUSED);
   record_put_text(answer, why);
}

unsigned kernel_unit_line(CXDiagnostic diagnostic) {
   CXFile file;
   unsigned line = 0, column, offset;
   clang_getExpansionLocation(clang_getDiagnosticLocation(diagnostic), &file, &line, &column, &offset);
   CXString name = clang_getFileName(file);
   const char *path = clang_getCString(name);
   const bool own = path && strcmp(path, KERNEL_PATH) == 0;
   clang_disposeString(name);
   return own ? line : 0;
}

/* Whether there is an error.  If so, writes it as the answer. */
static bool refuse_errors(CXTranslationUnit unit, rkb_text_t *answer) {
   const unsigned count = clang_getNumDiagnostics(unit);
   bool refused = false;
   for (unsigned i = 0; i < count && !refused; i++) {
      CXDiagnostic diagnostic = clang_getDiagnostic(unit, i);
      if (clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) {
         CXString what = clang_getDiagnosticSpelling(diagnostic);
         char why[400];
         snprintf(why, sizeof why, "line %u: %s", kernel_unit_line(diagnostic), clang_getCString(what));
         kernel_unit_refuse(answer, why);
         clang_disposeString(what);
         refused = true;
      }
      clang_disposeDiagnostic(diagnostic);
   }
   return refused;
}

void kernel_unit_open(kernel_unit_t *opened, const char *declarations, const char *text, bool warn, rkb_text_t *answer) {
   struct CXUnsavedFile files[HEADER_COUNT + 2] = {{KERNEL_PATH, text, strlen(text)}, {DECLARATIONS_PATH, declarations, strlen(declarations)}};
   const char *arguments[COMMON_COUNT + WARNING_COUNT];
   char paths[HEADER_COUNT][64];
   int count = COMMON_COUNT;
   memcpy(arguments, COMMON, sizeof COMMON);
   if (warn) {
      memcpy(arguments + COMMON_COUNT, WARNINGS, sizeof WARNINGS);
      count += WARNING_COUNT;
   } else {
      arguments[count++] = "-w";
   }
   for (int i = 0; i < HEADER_COUNT; i++) {
      snprintf(paths[i], sizeof paths[i], "/kernel/include/%s", HEADERS[i]);
      files[i + 2] = (struct CXUnsavedFile){paths[i], "", 0};
   }
   opened->unit = NULL;
   opened->index = clang_createIndex(0, 0);
   const enum CXErrorCode code = clang_parseTranslationUnit2(opened->index, KERNEL_PATH, arguments, count, files, HEADER_COUNT + 2,
                                                             CXTranslationUnit_None, &opened->unit);
   if (code != CXError_Success || !opened->unit) {
      opened->unit = NULL;
      kernel_unit_refuse(answer, "the parser does not get through the text");
   } else if (refuse_errors(opened->unit, answer)) {
      clang_disposeTranslationUnit(opened->unit);
      opened->unit = NULL;
   }
}

void kernel_unit_close(kernel_unit_t *opened) {
   if (opened->unit)
      clang_disposeTranslationUnit(opened->unit);
   clang_disposeIndex(opened->index);
}

void kernel_unit_version(void) {
   CXString version = clang_getClangVersion();
   printf("%s\n", clang_getCString(version));
   clang_disposeString(version);
}
