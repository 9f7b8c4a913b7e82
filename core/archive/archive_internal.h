/* Shared by the archive's files: its struct, transactions, and the names of its enumerations. */
#ifndef RKB_ARCHIVE_ARCHIVE_INTERNAL_H
#define RKB_ARCHIVE_ARCHIVE_INTERNAL_H

#include <pthread.h>
#include "archive/archive.h"
#include "archive/connection.h"
#include "archive/shared_rows.h"

struct rkb_archive {
   char *directory; /* NULL when the archive was opened by its file's path */
   char *path;      /* path of run.sqlite */
   int lock;        /* file descriptor; -1 when opened for reading */
   int64_t previous_writer;
   pthread_mutex_t write_mutex;
   rkb_connection_t *writer; /* NULL when opened for reading; guarded by write_mutex */
   pthread_mutex_t reader_mutex;
   rkb_connection_t *readers; /* idle connections; guarded by reader_mutex */
   rkb_shared_rows_t *shared; /* NULL when opened for reading, because another process may write then */
};

/* A write transaction.  begin takes the mutex.  end commits when status is RKB_OK and rolls back otherwise, then releases the mutex;
 * it returns status, or the failure of the commit. */
int rkb_archive_begin(rkb_archive_t *archive, rkb_error_t *err);
int rkb_archive_end(rkb_archive_t *archive, int status, rkb_error_t *err);

/* Takes a read connection.  It belongs to the calling thread until it is given back. */
int rkb_archive_take_reader(rkb_archive_t *archive, rkb_connection_t **reader, rkb_error_t *err);
void rkb_archive_give_reader(rkb_archive_t *archive, rkb_connection_t *reader);

/* A request's key, as strategies see it (rkb/strategy.h): its number in search, -(number + 1) in propose. */
int64_t rkb_request_key(uint32_t section, int64_t number);
uint32_t rkb_request_key_section(int64_t key);
int64_t rkb_request_key_number(int64_t key);

/* The spelling in the file.  Parsing an unknown name gives 0. */
const char *rkb_section_name(uint32_t section);
const char *rkb_answer_name(uint32_t answer);
const char *rkb_state_name(uint32_t state);
const char *rkb_promotion_name(uint32_t promotion);
const char *rkb_strategy_record_name(uint32_t what);
uint32_t rkb_answer_parse(const char *name);
uint32_t rkb_state_parse(const char *name);
uint32_t rkb_promotion_parse(const char *name);
uint32_t rkb_strategy_record_parse(const char *name);

int64_t rkb_wall_clock_ms(void); /* since 1970, UTC */

/* Binds a text of at most limit bytes.  A longer text is cut at a character boundary and marked with how much is missing.  If that
 * needs a copy, rkb_kept_free frees it after the statement has run. */
typedef struct rkb_kept {
   char *copies[4];
   int count;
} rkb_kept_t;
void rkb_bind_cut_text(rkb_statement_t *statement, rkb_kept_t *kept, const char *text, size_t limit);
/* The same for JSON.  Cut JSON would be invalid, so {"cut":true,"bytes":N} takes its place. */
void rkb_bind_cut_json(rkb_statement_t *statement, rkb_kept_t *kept, const char *json, size_t limit);
void rkb_kept_free(rkb_kept_t *kept);

#endif
