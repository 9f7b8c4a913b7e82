/* Opens and closes an archive; runs its transactions and its pool of readers.  Owns the lock and every connection.
 * [any]: writers take write_mutex; a reader connection belongs to one thread while it is taken. */
#include "archive/archive_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/file.h"
#include "base/memory.h"
#include "archive/run_identity.h"
#include "archive/run_lock.h"
#include "archive/schema.h"
#include "base/shipped_files.h"

/* Size limit of the rows in memory; later rows are read from the file for each query. */
#define SHARED_BYTES ((size_t)1 << 30)

static rkb_archive_t *archive_new(const char *directory, const char *path) {
   rkb_archive_t *archive = rkb_allocate(1, sizeof *archive);
   archive->lock = -1;
   archive->directory = directory ? rkb_duplicate(directory) : NULL;
   archive->path = rkb_duplicate(path);
   pthread_mutex_init(&archive->write_mutex, NULL);
   pthread_mutex_init(&archive->reader_mutex, NULL);
   return archive;
}

void rkb_archive_close(rkb_archive_t *archive) {
   if (!archive)
      return;
   while (archive->readers) {
      rkb_connection_t *reader = archive->readers;
      archive->readers = reader->next;
      rkb_connection_close(reader);
   }
   rkb_shared_rows_free(archive->shared);
   rkb_connection_close(archive->writer); /* closing the last connection checkpoints and removes the log */
   rkb_lock_give(archive->lock);
   pthread_mutex_destroy(&archive->reader_mutex);
   pthread_mutex_destroy(&archive->write_mutex);
   free(archive->path);
   free(archive->directory);
   free(archive);
}

/* Makes an archive object that holds the lock and has no connection yet. */
static int open_locked(const char *directory, rkb_archive_t **archive, rkb_error_t *err) {
   char *path = rkb_run_path_archive(directory);
   char *lock_path = rkb_run_path_lock(directory);
   rkb_archive_t *opened = archive_new(directory, path);
   opened->shared = rkb_shared_rows_new(SHARED_BYTES);
   int status = rkb_lock_take(lock_path, &opened->lock, &opened->previous_writer, err);
   free(lock_path);
   free(path);
   if (status != RKB_OK) {
      rkb_archive_close(opened);
      return status;
   }
   *archive = opened;
   return RKB_OK;
}

static int store_identity(rkb_archive_t *archive, const rkb_run_identity_t *identity, rkb_error_t *err) {
   int status = rkb_archive_begin(archive, err);
   if (status != RKB_OK)
      return status;
   return rkb_archive_end(archive, rkb_identity_store(archive->writer, identity, err), err);
}

static int compare_or_store(rkb_archive_t *archive, const rkb_run_identity_t *identity, rkb_error_t *err) {
   bool present = false;
   int status = rkb_identity_present(archive->writer, &present, err);
   if (status != RKB_OK)
      return status;
   return present ? rkb_identity_compare(archive->writer, identity, err)
                  : store_identity(archive, identity, err);
}

int rkb_archive_create(const char *directory, const rkb_run_identity_t *identity, rkb_archive_t **archive,
                       rkb_error_t *err) {
   rkb_archive_t *opened = NULL;
   int status = open_locked(directory, &opened, err);
   if (status != RKB_OK)
      return status;
   if (rkb_path_exists(opened->path))
      status = rkb_fail(err, RKB_ERR_INVALID,
                        "%s holds a run already; use --resume to continue it, or another --out", directory);
   if (status == RKB_OK)
      status = rkb_connection_open(opened->path, RKB_CONNECTION_CREATE, &opened->writer, err);
   if (status == RKB_OK)
      status = rkb_archive_migrate(opened->writer, rkb_archive_steps, rkb_archive_version, err);
   if (status == RKB_OK)
      status = store_identity(opened, identity, err);
   if (status != RKB_OK) {
      rkb_archive_close(opened);
      return status;
   }
   *archive = opened;
   return RKB_OK;
}

static int holds_no_run(const char *directory, rkb_error_t *err) {
   if (errno == EACCES) /* from opening the database file */
      return rkb_fail(err, RKB_ERR_INVALID, "cannot look into %s: %s", directory, strerror(errno));
   char *hint = rkb_path_exists(directory) ? NULL : rkb_shipped_hint("runs", directory);
   int status = rkb_fail(err, RKB_ERR_INVALID, "%s holds no run: there is no run.sqlite in it%s", directory,
                         hint ? hint : "");
   free(hint);
   return status;
}

int rkb_archive_resume(const char *directory, const rkb_run_identity_t *identity, rkb_archive_t **archive,
                       rkb_error_t *err) {
   rkb_archive_t *opened = NULL;
   char *path = rkb_run_path_archive(directory);
   bool exists = path && rkb_path_exists(path);
   int status;
   if (!exists) {
      status = holds_no_run(directory, err);
      free(path);
      return status;
   }
   free(path);
   status = open_locked(directory, &opened, err);
   if (status != RKB_OK)
      return status;
   status = rkb_connection_open(opened->path, RKB_CONNECTION_WRITE, &opened->writer, err);
   if (status == RKB_OK)
      status = rkb_archive_check_resumable(opened->writer, err);
   if (status == RKB_OK)
      status = rkb_archive_migrate(opened->writer, rkb_archive_steps, rkb_archive_version, err);
   if (status == RKB_OK && identity)
      status = compare_or_store(opened, identity, err);
   if (status != RKB_OK) {
      rkb_archive_close(opened);
      return status;
   }
   *archive = opened;
   return RKB_OK;
}

int rkb_archive_open(const char *directory, rkb_archive_t **archive, rkb_error_t *err) {
   struct stat facts;
   rkb_archive_t *opened = NULL;
   rkb_connection_t *reader = NULL;
   bool is_file = stat(directory, &facts) == 0 && S_ISREG(facts.st_mode);
   char *path = is_file ? rkb_duplicate(directory) : rkb_run_path_archive(directory);
   int status = RKB_OK;
   opened = archive_new(is_file ? NULL : directory, path);
   if (!rkb_path_exists(path))
      status = holds_no_run(directory, err);
   if (status == RKB_OK)
      status = rkb_archive_take_reader(opened, &reader, err);
   if (status == RKB_OK) {
      rkb_error_t refused = {0};
      status = rkb_archive_check_version(reader, &refused);
      if (status != RKB_OK)
         rkb_fail(err, status, "%.200s: %s", directory, refused.message);
      rkb_archive_give_reader(opened, reader);
   }
   free(path);
   if (status != RKB_OK) {
      rkb_archive_close(opened);
      return status;
   }
   *archive = opened;
   return RKB_OK;
}

int64_t rkb_archive_previous_writer(const rkb_archive_t *archive) {
   return archive->previous_writer;
}

const char *rkb_archive_directory(const rkb_archive_t *archive) {
   return archive->directory ? archive->directory : archive->path;
}

int rkb_archive_begin(rkb_archive_t *archive, rkb_error_t *err) {
   int status;
   if (!archive->writer)
      return rkb_fail(err, RKB_ERR_INVALID, "the archive %s is open for reading only", archive->path);
   pthread_mutex_lock(&archive->write_mutex);
   rkb_statement_t statement = rkb_statement_begin(archive->writer, RKB_SQL_BEGIN);
   status = rkb_statement_finish(&statement, err);
   if (status != RKB_OK)
      pthread_mutex_unlock(&archive->write_mutex);
   return status;
}

int rkb_archive_end(rkb_archive_t *archive, int status, rkb_error_t *err) {
   if (status == RKB_OK) {
      rkb_statement_t statement = rkb_statement_begin(archive->writer, RKB_SQL_COMMIT);
      status = rkb_statement_finish(&statement, err);
   }
   /* Some failures (a full disk) have already rolled back; a second rollback would be an error. */
   if (status != RKB_OK && !sqlite3_get_autocommit(archive->writer->database))
      sqlite3_exec(archive->writer->database, "ROLLBACK", NULL, NULL, NULL);
   pthread_mutex_unlock(&archive->write_mutex);
   return status;
}

int rkb_archive_take_reader(rkb_archive_t *archive, rkb_connection_t **reader, rkb_error_t *err) {
   rkb_connection_t *taken;
   pthread_mutex_lock(&archive->reader_mutex);
   taken = archive->readers;
   if (taken)
      archive->readers = taken->next;
   pthread_mutex_unlock(&archive->reader_mutex);
   if (!taken)
      return rkb_connection_open(archive->path, RKB_CONNECTION_READ, reader, err);
   taken->next = NULL;
   *reader = taken;
   return RKB_OK;
}

void rkb_archive_give_reader(rkb_archive_t *archive, rkb_connection_t *reader) {
   pthread_mutex_lock(&archive->reader_mutex);
   reader->next = archive->readers;
   archive->readers = reader;
   pthread_mutex_unlock(&archive->reader_mutex);
}
