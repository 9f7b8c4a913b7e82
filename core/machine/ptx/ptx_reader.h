/* The reader's state, shared by its files: ptx_cursor.c (tokens), ptx_names.c (scopes), ptx_variables.c (variables),
 * ptx_body.c (functions), ptx_reader.c (module scope).  One reader, one thread. */
#ifndef RKB_MACHINE_PTX_PTX_READER_H
#define RKB_MACHINE_PTX_PTX_READER_H

#include "machine/ptx/module.h"
#include "machine/ptx/ptx_arena.h"
#include "machine/ptx/ptx_lexer.h"

enum ptx_name_kind { PTX_NAME_REGISTER = 1, PTX_NAME_VARIABLE, PTX_NAME_FUNCTION, PTX_NAME_LABEL };

typedef struct ptx_name {
   const char *text;
   uint32_t kind, index;
   uint32_t depth; /* the scope in which it was declared; 0 is the module */
   uint32_t next;  /* the next older name in its hash chain; PTX_NONE: there is none */
   uint32_t bucket;
} ptx_name_t;

#define PTX_MODULE_LIMIT (512u << 20) /* bytes of memory of one module */
#define PTX_BUCKETS 4096
#define PTX_MAX_DEPTH 64
#define PTX_MAX_REGISTERS 60000
#define PTX_MAX_STATEMENTS 400000
#define PTX_MAX_OPERANDS 128 /* of one instruction, or of a list: accumulators of wgmma.mma_async */

typedef struct ptx_reader {
   ptx_lexer_t lexer;
   ptx_module_t *module;
   ptx_arena_t *arena;
   ptx_name_t *names; /* a stack: leaving a scope removes names */
   uint32_t name_count, name_room, depth;
   uint32_t buckets[PTX_BUCKETS];
   ptx_function_t *function; /* the function that is being read, or NULL */
   uint32_t function_index;
   uint32_t frame_bytes; /* of the function: local variables and call parameters of one thread */
   ptx_place_t place;
} ptx_reader_t;

/* ptx_cursor.c */
/* Keeps the first error, and moves to the end of the text, so that every loop stops. */
void ptx_fail(ptx_reader_t *reader, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool ptx_failed(const ptx_reader_t *reader);
void ptx_next(ptx_reader_t *reader);
bool ptx_at(const ptx_reader_t *reader, const char *text);
bool ptx_take(ptx_reader_t *reader, const char *text);   /* consumes the token if it is this one */
void ptx_expect(ptx_reader_t *reader, const char *text); /* fails if it is another one */
char *ptx_text(ptx_reader_t *reader);                    /* copies and consumes the current token */
uint64_t ptx_integer(ptx_reader_t *reader);              /* reads a signed integer constant */
/* Parses a number token's bits; *kind becomes PTX_OPERAND_INTEGER, _FLOAT32 or _FLOAT64.  False when it is no number. */
bool ptx_number(const char *text, size_t length, uint8_t *kind, uint64_t *value);
#define PTX_GROW(reader, array, count) ptx_grow(reader, (void **)&(array), count, sizeof *(array))
bool ptx_grow(ptx_reader_t *reader, void **array, uint32_t count, size_t size);

/* ptx_names.c */
void ptx_declare(ptx_reader_t *reader, const char *text, uint32_t kind, uint32_t index);
const ptx_name_t *ptx_find(const ptx_reader_t *reader, const char *text, size_t length);
void ptx_enter(ptx_reader_t *reader);
void ptx_leave(ptx_reader_t *reader);

/* ptx_variables.c: reads a variable declaration from its state space on, with or without initialiser; ends
 * before ';' ',' or ')'.  PTX_NONE after a failure. */
uint32_t ptx_read_variable(ptx_reader_t *reader, uint32_t space, bool external);

/* ptx_body.c: reads from after '{' to past '}'. */
void ptx_read_body(ptx_reader_t *reader);

#endif
