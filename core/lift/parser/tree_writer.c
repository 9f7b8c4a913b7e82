/* Walks libclang's cursors over one text.  Implicit casts and other wrappers get no node of their own.
 * Attributes of this program's declarations (lift/parser/declarations.cuh) become the kind of the node that
 * has them. */
#include "lift/parser/tree_writer.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "kernel/byte_record.h"
#include "lift/parser/kernel_unit.h"
#include "lift/parser_protocol.h"

typedef struct writer {
   const char *text;
   size_t text_bytes;
   uint32_t *nodes; /* LIFT_NODE_WORDS words each */
   uint32_t count, room;
   char **types;
   uint32_t type_count, type_room;
   uint32_t parent, depth; /* of the cursor that is being visited; parent + 1 */
   const char *refused;
} writer_t;

static bool grow(void **list, uint32_t *room, uint32_t count, size_t size) {
   if (count < *room)
      return true;
   const uint32_t more = *room ? *room * 2 : 1024;
   void *larger = rkb_try_grow(*list, more, size, NULL);
   if (!larger)
      return false;
   *list = larger;
   *room = more;
   return true;
}

static enum lift_kind kind_of(enum CXCursorKind kind) {
   switch (kind) {
   case CXCursor_FunctionDecl:
   case CXCursor_FunctionTemplate:
      return LIFT_FUNCTION;
   case CXCursor_CXXMethod:
   case CXCursor_Constructor:
   case CXCursor_ConversionFunction:
      return LIFT_METHOD;
   case CXCursor_StructDecl:
   case CXCursor_ClassDecl:
   case CXCursor_UnionDecl:
   case CXCursor_ClassTemplate:
   case CXCursor_ClassTemplatePartialSpecialization:
      return LIFT_STRUCT;
   case CXCursor_FieldDecl:
      return LIFT_FIELD;
   case CXCursor_ParmDecl:
      return LIFT_PARAMETER;
   case CXCursor_TemplateTypeParameter:
   case CXCursor_NonTypeTemplateParameter:
   case CXCursor_TemplateTemplateParameter:
      return LIFT_TEMPLATE_PARAMETER;
   case CXCursor_VarDecl:
      return LIFT_VARIABLE;
   case CXCursor_CompoundStmt:
      return LIFT_COMPOUND;
   case CXCursor_DeclStmt:
      return LIFT_DECLARATIONS;
   case CXCursor_IfStmt:
      return LIFT_IF;
   case CXCursor_ForStmt:
      return LIFT_FOR;
   case CXCursor_WhileStmt:
      return LIFT_WHILE;
   case CXCursor_DoStmt:
      return LIFT_DO;
   case CXCursor_SwitchStmt:
      return LIFT_SWITCH;
   case CXCursor_BreakStmt:
      return LIFT_BREAK;
   case CXCursor_ContinueStmt:
      return LIFT_CONTINUE;
   case CXCursor_ReturnStmt:
      return LIFT_RETURN;
   case CXCursor_NullStmt:
      return LIFT_EMPTY;
   case CXCursor_GCCAsmStmt:
   case CXCursor_MSAsmStmt:
      return LIFT_ASSEMBLY;
   case CXCursor_BinaryOperator:
      return LIFT_BINARY;
   case CXCursor_CompoundAssignOperator:
      return LIFT_COMPOUND_ASSIGNMENT;
   case CXCursor_UnaryOperator:
      return LIFT_UNARY;
   case CXCursor_ConditionalOperator:
      return LIFT_CONDITIONAL;
   case CXCursor_ArraySubscriptExpr:
      return LIFT_SUBSCRIPT;
   case CXCursor_CallExpr:
      return LIFT_CALL;
   case CXCursor_MemberRefExpr:
      return LIFT_MEMBER;
   case CXCursor_DeclRefExpr:
   case CXCursor_OverloadedDeclRef:
      return LIFT_NAME;
   case CXCursor_IntegerLiteral:
      return LIFT_INTEGER;
   case CXCursor_FloatingLiteral:
      return LIFT_REAL;
   case CXCursor_CXXBoolLiteralExpr:
      return LIFT_BOOLEAN;
   case CXCursor_ParenExpr:
      return LIFT_PARENTHESES;
   case CXCursor_CStyleCastExpr:
   case CXCursor_CXXStaticCastExpr:
   case CXCursor_CXXReinterpretCastExpr:
   case CXCursor_CXXConstCastExpr:
   case CXCursor_CXXFunctionalCastExpr:
      return LIFT_CAST;
   case CXCursor_InitListExpr:
      return LIFT_BRACES;
   case CXCursor_LambdaExpr:
      return LIFT_LAMBDA;
   default:
      return LIFT_OTHER;
   }
}

/* The byte of a place in the text; false when the place is not in the text.  For text from a macro, the place where the
 * macro is used. */
static bool place_of(CXSourceLocation location, unsigned *offset) {
   CXFile file;
   unsigned line, column;
   clang_getExpansionLocation(location, &file, &line, &column, offset);
   if (!file)
      return false;
   CXString name = clang_getFileName(file);
   const char *path = clang_getCString(name);
   const bool own = path && strcmp(path, KERNEL_PATH) == 0;
   clang_disposeString(name);
   return own;
}

static uint32_t declared_at(CXCursor cursor) {
   unsigned offset;
   CXCursor to = clang_getCursorReferenced(cursor);
   if (clang_getCursorKind(cursor) == CXCursor_OverloadedDeclRef)
      to = clang_getNumOverloadedDecls(cursor) == 1 ? clang_getOverloadedDecl(cursor, 0) : clang_getNullCursor();
   if (clang_Cursor_isNull(to))
      return 0;
   if (clang_getCursorKind(to) == CXCursor_OverloadedDeclRef)
      return declared_at(to);
   return place_of(clang_getCursorLocation(to), &offset) ? offset + 1 : 0;
}

static bool has_type(enum lift_kind kind) {
   return kind == LIFT_FUNCTION || kind == LIFT_METHOD || kind == LIFT_FIELD || kind == LIFT_PARAMETER ||
          kind == LIFT_VARIABLE || kind == LIFT_TEMPLATE_PARAMETER;
}

static uint32_t type_of(writer_t *writer, CXCursor cursor) {
   CXString spelled = clang_getTypeSpelling(clang_getCursorType(cursor));
   const char *text = clang_getCString(spelled);
   uint32_t index = 0;
   if (!text || strlen(text) >= LIFT_MAX_TYPE)
      text = "?";
   while (index < writer->type_count && strcmp(writer->types[index], text) != 0)
      index++;
   if (index == writer->type_count) {
      char *copy = rkb_duplicate(text); /* shorter than LIFT_MAX_TYPE */
      if (index >= LIFT_MAX_TYPES || !grow((void **)&writer->types, &writer->type_room, index, sizeof *writer->types)) {
         free(copy);
         writer->refused = "the text has too many types";
      } else {
         writer->types[writer->type_count++] = copy;
      }
   }
   clang_disposeString(spelled);
   return index + 1;
}

static enum CXChildVisitResult count_child(CXCursor cursor, CXCursor around, CXClientData data) {
   (void)around;
   if (clang_isAttribute(clang_getCursorKind(cursor)))
      return CXChildVisit_Continue;
   return ++*(unsigned *)data < 2 ? CXChildVisit_Continue : CXChildVisit_Break;
}

/* Whether a cursor only wraps one expression or statement: an implicit cast, a full expression, a
 * construction of a copy, a loop with a #pragma. */
static bool is_wrapper(CXCursor cursor) {
   unsigned children = 0;
   if (clang_getCursorKind(cursor) != CXCursor_UnexposedExpr && clang_getCursorKind(cursor) != CXCursor_UnexposedStmt)
      return false;
   clang_visitChildren(cursor, count_child, &children);
   return children == 1;
}

static bool is_dropped(enum CXCursorKind kind) {
   return kind == CXCursor_TypeRef || kind == CXCursor_TemplateRef || kind == CXCursor_NamespaceRef ||
          kind == CXCursor_MemberRef || clang_isAttribute(kind);
}

static void mark(writer_t *writer, CXCursor cursor) {
   CXString spelled = clang_getCursorSpelling(cursor);
   const char *text = clang_getCString(spelled);
   if (writer->parent && text) {
      uint32_t *node = &writer->nodes[(size_t)(writer->parent - 1) * LIFT_NODE_WORDS];
      if (strcmp(text, "kernel") == 0 && node[0] == LIFT_FUNCTION)
         node[0] = LIFT_KERNEL;
      if (strcmp(text, "shared") == 0 && node[0] == LIFT_VARIABLE)
         node[0] = LIFT_SHARED;
   }
   clang_disposeString(spelled);
}

/* Whether a child lies inside its parent.  In `const Pack<vec> a, b;` libclang lists the type's expressions among the
 * children of the second variable too, although they belong to the first variable. */
static bool lies_in_parent(const writer_t *writer, unsigned start, unsigned end) {
   if (!writer->parent)
      return true;
   const uint32_t *node = &writer->nodes[(size_t)(writer->parent - 1) * LIFT_NODE_WORDS];
   return start >= node[1] && end <= node[2];
}

static enum CXChildVisitResult visit(CXCursor cursor, CXCursor around, CXClientData data);

static void visit_below(writer_t *writer, CXCursor cursor, uint32_t parent) {
   const uint32_t kept = writer->parent;
   if (++writer->depth > LIFT_MAX_DEPTH)
      writer->refused = "the text is nested too deeply";
   else {
      writer->parent = parent;
      clang_visitChildren(cursor, visit, writer);
   }
   writer->parent = kept;
   writer->depth--;
}

static enum CXChildVisitResult visit(CXCursor cursor, CXCursor around, CXClientData data) {
   writer_t *writer = data;
   const enum CXCursorKind kind = clang_getCursorKind(cursor);
   const CXSourceRange range = clang_getCursorExtent(cursor);
   unsigned start, end, name;
   (void)around;
   if (writer->refused)
      return CXChildVisit_Break;
   if (kind == CXCursor_AnnotateAttr)
      mark(writer, cursor);
   if (is_dropped(kind) || !place_of(clang_getRangeStart(range), &start) || !place_of(clang_getRangeEnd(range), &end) ||
       end > writer->text_bytes || start > end || !lies_in_parent(writer, start, end))
      return CXChildVisit_Continue;
   if (is_wrapper(cursor)) {
      visit_below(writer, cursor, writer->parent);
      return CXChildVisit_Continue;
   }
   const enum lift_kind own = kind_of(kind);
   if (writer->count >= LIFT_MAX_NODES ||
       !grow((void **)&writer->nodes, &writer->room, writer->count, LIFT_NODE_WORDS * sizeof *writer->nodes)) {
      writer->refused = "the text has too many expressions";
      return CXChildVisit_Break;
   }
   if (!place_of(clang_getCursorLocation(cursor), &name) || name < start || name > end)
      name = start;
   if (own == LIFT_MEMBER) /* when the type is not known yet, libclang gives the object's place */
      for (name = end; name > start && (isalnum((unsigned char)writer->text[name - 1]) || writer->text[name - 1] == '_');)
         name--;
   const uint32_t type = has_type(own) ? type_of(writer, cursor) : 0;
   const uint32_t declared = own == LIFT_NAME || own == LIFT_MEMBER || own == LIFT_CALL ? declared_at(cursor) : 0;
   const uint32_t words[LIFT_NODE_WORDS] = {own, start, end, name, writer->parent, declared, type};
   memcpy(&writer->nodes[(size_t)writer->count * LIFT_NODE_WORDS], words, sizeof words);
   writer->count++;
   visit_below(writer, cursor, writer->count);
   return CXChildVisit_Continue;
}

static void answer_tree(writer_t *writer, rkb_text_t *answer) {
   record_put_u32(answer, LIFT_PARSED);
   record_put_u32(answer, writer->type_count);
   for (uint32_t i = 0; i < writer->type_count; i++)
      record_put_text(answer, writer->types[i]);
   record_put_u32(answer, writer->count);
   for (size_t i = 0; i < (size_t)writer->count * LIFT_NODE_WORDS; i++)
      record_put_u32(answer, writer->nodes[i]);
}

void tree_write(CXTranslationUnit unit, const char *text, rkb_text_t *answer) {
   writer_t writer = {.text = text, .text_bytes = strlen(text)};
   clang_visitChildren(clang_getTranslationUnitCursor(unit), visit, &writer);
   if (writer.refused)
      kernel_unit_refuse(answer, writer.refused);
   else
      answer_tree(&writer, answer);
   for (uint32_t i = 0; i < writer.type_count; i++)
      free(writer.types[i]);
   free(writer.types);
   free(writer.nodes);
}
