/* What the files of the archive share: its struct, transactions, and the names of its enumerations. */
#ifndef RKB_ARCHIVE_ARCHIVE_INTERNAL_H
#define RKB_ARCHIVE_ARCHIVE_INTERNAL_H

#include <pthread.h>
#include "archive/archive.h"
#include "archive/connection.h"

struct rkb_archive {
   char *directory; /* NULL when opened by the file's own path */
   char *path;      /* of run.sqlite */
   int lock;        /* descriptor, -1 when opened to read */
   int64_t previous_writer;
   pthread_mutex_t write_mutex;
   rkb_connection_t *writer; /* NULL when opened to read; under write_mutex */
   pthread_mutex_t reader_mutex;
   rkb_connection_t *readers; /* idle ones; under reader_mutex */
};

/* A write transaction: begin takes the mutex, end commits when status is RKB_OK, rolls back otherwise, and gives the
 * mutex back.  end returns what became of it all. */
int rkb_archive_begin(rkb_archive_t *archive, rkb_error_t *err);
int rkb_archive_end(rkb_archive_t *archive, int status, rkb_error_t *err);

/* A read connection, the calling thread's until given back. */
int rkb_archive_take_reader(rkb_archive_t *archive, rkb_connection_t **reader, rkb_error_t *err);
void rkb_archive_give_reader(rkb_archive_t *archive, rkb_connection_t *reader);

/* A request's key: its number in search, -(number + 1) in propose, as strategies see it (rkb/strategy.h). */
int64_t rkb_request_key(uint32_t section, int64_t number);
uint32_t rkb_request_key_section(int64_t key);
int64_t rkb_request_key_number(int64_t key);

/* Spelled as in the file; parsing an unknown one gives 0. */
const char *rkb_section_name(uint32_t section);
const char *rkb_answer_name(uint32_t answer);
const char *rkb_state_name(uint32_t state);
const char *rkb_promotion_name(uint32_t promotion);
const char *rkb_dialogue_name(uint32_t what);
uint32_t rkb_answer_parse(const char *name);
uint32_t rkb_state_parse(const char *name);
uint32_t rkb_promotion_parse(const char *name);
uint32_t rkb_dialogue_parse(const char *name);

int64_t rkb_wall_clock_ms(void); /* since 1970, UTC */

/* Binds a text of at most limit bytes; a longer one is cut at a character and marked with how much is missing.  The copy,
 * when one is needed, is freed by rkb_kept_free after the statement has run. */
typedef struct rkb_kept {
   char *copies[4];
   int count;
} rkb_kept_t;
void rkb_bind_cut_text(rkb_statement_t *statement, rkb_kept_t *kept, const char *text, size_t limit);
/* The same for JSON, which cannot be cut and stay JSON: {"cut":true,"bytes":N} takes its place. */
void rkb_bind_cut_json(rkb_statement_t *statement, rkb_kept_t *kept, const char *json, size_t limit);
void rkb_kept_free(rkb_kept_t *kept);

#endif
