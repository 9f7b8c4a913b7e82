/* Reads a PTX text into a module: directives, variables with their initialisers, functions (ptx_body.c reads
 * their bodies).  Accepts any text; where it cannot read it, the module holds a message and a line.  One
 * thread. */
#include "machine/ptx/ptx_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_LIMIT (64u << 20)

/* Functions ------------------------------------------------------------------------------------------ */

static void read_parameters(ptx_reader_t *reader, uint32_t **list, uint32_t *count) {
   if (!ptx_take(reader, "("))
      return;
   while (!ptx_failed(reader) && !ptx_at(reader, ")")) {
      uint32_t space = ptx_at(reader, ".reg") ? PTX_REGISTER : PTX_PARAM;
      if (space == PTX_REGISTER)
         ptx_fail(reader, "functions with register parameters are not known to the machine");
      ptx_expect(reader, ".param");
      uint32_t variable = ptx_read_variable(reader, space, false);
      if (variable == PTX_NONE || !PTX_GROW(reader, *list, *count))
         return;
      (*list)[(*count)++] = variable;
      if (!ptx_take(reader, ","))
         break;
   }
   ptx_expect(reader, ")");
}

static void read_function_directives(ptx_reader_t *reader, ptx_function_t *function) {
   while (reader->lexer.token.kind == PTX_TOKEN_DOTTED) {
      bool most = ptx_at(reader, ".maxntid"), required = ptx_at(reader, ".reqntid"),
           registers = ptx_at(reader, ".maxnreg"), cluster = ptx_at(reader, ".reqnctapercluster"),
           least = ptx_at(reader, ".minnctapersm");
      ptx_next(reader);
      uint32_t size[3] = {1, 1, 1}, count = 0;
      while (reader->lexer.token.kind == PTX_TOKEN_NUMBER) {
         uint64_t value = ptx_integer(reader);
         if (count < 3)
            size[count++] = (uint32_t)value;
         if (!ptx_take(reader, ","))
            break;
      }
      if (most)
         function->max_threads = size[0] * size[1] * size[2];
      if (registers)
         function->most_registers = size[0];
      if (least)
         function->least_blocks = size[0];
      if (cluster)
         memcpy(function->required_cluster, size, sizeof size);
      if (required)
         memcpy(function->required_block, size, sizeof size);
   }
}

/* A function may be declared, with other parameter names, before it is defined. */
static uint32_t enter_function(ptx_reader_t *reader, const char *name) {
   ptx_module_t *module = reader->module;
   const ptx_name_t *known = ptx_find(reader, name, strlen(name));
   if (known && known->kind == PTX_NAME_FUNCTION)
      return known->index;
   if (!PTX_GROW(reader, module->functions, module->function_count))
      return PTX_NONE;
   module->functions[module->function_count] = (ptx_function_t){.name = name};
   ptx_declare(reader, name, PTX_NAME_FUNCTION, module->function_count);
   return module->function_count++;
}

static void number_parameters(ptx_reader_t *reader, ptx_function_t *function) {
   uint32_t offset = 0;
   for (uint32_t i = 0; i < function->parameter_count; i++) {
      ptx_variable_t *variable = &reader->module->variables[function->parameters[i]];
      offset = (offset + variable->alignment - 1) & ~(variable->alignment - 1);
      variable->offset = offset;
      offset += (uint32_t)variable->bytes;
   }
   function->parameter_bytes = offset;
}

static void read_function(ptx_reader_t *reader, bool entry) {
   ptx_function_t read = {.entry = entry};
   ptx_enter(reader);
   /* Result and parameters are read into this function's frame, before it is known whether the name is new. */
   reader->function = &read;
   reader->function_index = PTX_NONE;
   reader->frame_bytes = 0;
   uint32_t first = reader->module->variable_count;
   if (!entry)
      read_parameters(reader, &read.results, &read.result_count);
   if (reader->lexer.token.kind != PTX_TOKEN_NAME)
      ptx_fail(reader, "a function has no name");
   read.name = ptx_text(reader);
   read_parameters(reader, &read.parameters, &read.parameter_count);
   read_function_directives(reader, &read);
   bool declared_only = ptx_take(reader, ";");
   uint32_t depth = reader->depth;
   reader->depth = 0; /* the function's own name belongs to the module, outside of its parameters' scope */
   uint32_t parameters = reader->name_count;
   uint32_t index = ptx_failed(reader) ? PTX_NONE : enter_function(reader, read.name);
   reader->depth = depth;
   if (index == PTX_NONE) {
      reader->function = NULL;
      return;
   }
   bool fresh = reader->name_count > parameters;
   if (!declared_only) {
      reader->function_index = index;
      for (uint32_t i = first; i < reader->module->variable_count; i++)
         reader->module->variables[i].function = index;
      if (entry)
         number_parameters(reader, &read);
      ptx_expect(reader, "{");
      ptx_read_body(reader);
      read.defined = true;
   }
   ptx_function_t *function = &reader->module->functions[index];
   if (function->defined && read.defined)
      ptx_fail(reader, "function '%.60s' is defined twice", read.name);
   if (!function->defined)
      *function = read;
   reader->function = NULL;
   /* Leaving a scope removes every name since its start, among them the function's own when it is new. */
   ptx_leave(reader);
   if (fresh && !ptx_failed(reader) && !ptx_find(reader, read.name, strlen(read.name)))
      ptx_declare(reader, read.name, PTX_NAME_FUNCTION, index);
}

/* Module scope ----------------------------------------------------------------------------------------- */

static void skip_section(ptx_reader_t *reader) {
   while (!ptx_at(reader, "{") && reader->lexer.token.kind != PTX_TOKEN_END)
      ptx_next(reader);
   uint32_t depth = 0;
   do {
      depth += ptx_at(reader, "{");
      depth -= ptx_at(reader, "}");
      ptx_next(reader);
   } while (depth && reader->lexer.token.kind != PTX_TOKEN_END);
}

static void read_file_directive(ptx_reader_t *reader) {
   ptx_module_t *module = reader->module;
   ptx_next(reader);
   uint32_t number = (uint32_t)ptx_integer(reader);
   if (reader->lexer.token.kind != PTX_TOKEN_STRING) {
      ptx_fail(reader, "a .file has no path");
      return;
   }
   const char *path = ptx_text(reader);
   if (PTX_GROW(reader, module->files, module->file_count))
      module->files[module->file_count++] = (ptx_file_t){number, path};
   while (ptx_take(reader, ","))
      ptx_integer(reader);
}

static uint32_t variable_space(ptx_reader_t *reader) {
   static const struct {
      const char *text;
      uint32_t space;
   } spaces[] = {{".global", PTX_GLOBAL}, {".const", PTX_CONST}, {".shared", PTX_SHARED}};
   for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
      if (ptx_take(reader, spaces[i].text))
         return spaces[i].space;
   return 0;
}

static void read_directive(ptx_reader_t *reader) {
   bool external = false;
   while (ptx_at(reader, ".visible") || ptx_at(reader, ".extern") || ptx_at(reader, ".weak") ||
          ptx_at(reader, ".common")) {
      external |= ptx_at(reader, ".extern");
      ptx_next(reader);
   }
   uint32_t space = variable_space(reader);
   if (space) {
      ptx_read_variable(reader, space, external);
      ptx_expect(reader, ";");
   } else if (ptx_take(reader, ".entry")) {
      read_function(reader, true);
   } else if (ptx_take(reader, ".func")) {
      while (ptx_take(reader, ".noreturn"))
         ;
      read_function(reader, false);
   } else if (ptx_at(reader, ".file")) {
      read_file_directive(reader);
   } else if (ptx_at(reader, ".section")) {
      skip_section(reader);
   } else if (ptx_take(reader, ".version")) {
      ptx_next(reader);
   } else if (ptx_take(reader, ".target")) {
      snprintf(reader->module->target, sizeof reader->module->target, "%.*s",
               (int)(reader->lexer.token.length & 31), reader->lexer.token.text);
      do
         ptx_next(reader);
      while (ptx_take(reader, ","));
   } else if (ptx_take(reader, ".address_size")) {
      if (ptx_integer(reader) != 64)
         ptx_fail(reader, "only 64-bit addresses are known to the machine");
   } else if (ptx_take(reader, ".pragma")) {
      ptx_next(reader);
      ptx_expect(reader, ";");
   } else if (!ptx_take(reader, ";")) {
      ptx_fail(reader, "'%.*s' begins nothing the machine knows at module scope",
               (int)(reader->lexer.token.length & 63), reader->lexer.token.text);
   }
}

ptx_module_t *ptx_module_read(const char *text, size_t bytes) {
   ptx_arena_t *arena = ptx_arena_new(PTX_MODULE_LIMIT);
   if (!arena)
      return NULL;
   ptx_module_t *module = ptx_arena_alloc(arena, sizeof *module);
   ptx_reader_t *reader = calloc(1, sizeof *reader);
   if (!module || !reader) {
      free(reader);
      ptx_arena_free(arena);
      return NULL;
   }
   module->arena = arena;
   reader->module = module;
   reader->arena = arena;
   memset(reader->buckets, 0xff, sizeof reader->buckets);
   if (bytes > TEXT_LIMIT) {
      ptx_lexer_start(&reader->lexer, text, 0);
      ptx_fail(reader, "the text is over %u MiB", TEXT_LIMIT >> 20);
   } else {
      ptx_lexer_start(&reader->lexer, text, bytes);
   }
   while (!ptx_failed(reader) && reader->lexer.token.kind != PTX_TOKEN_END)
      read_directive(reader);
   free(reader->names);
   free(reader);
   return module;
}

void ptx_module_free(ptx_module_t *module) {
   if (module)
      ptx_arena_free(module->arena);
}
