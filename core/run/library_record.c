/* Reading a library before a run, and adding to it after (library_record.h). */
#include "run/library_record.h"

#include <rkb/items.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "kernel/kernel.h"
#include "run/run_state.h"
#include "stage/library_subject.h"

enum {
   READ = 64,       /* entries that a run keeps of a library: several prompts' worth for every limiter */
   READ_BYTES = 1 << 20, /* of source; written as JSON at most twice as much, which a document holds */
   ADDED = 4,       /* candidates that a run adds: the best, and others nearly as fast, which may have another structure */
   LOOKED_AT = 256  /* accepted candidates among which texts are told apart */
};

static void say(void *argument, const char *text) {
   rkb_run_t *run = argument;
   rkb_log_printf(run->options.log, RKB_LOG_WARN, "library", "%s", text);
}

/* Whether directory is a run's directory rather than a library folder. */
static bool is_run(const char *directory) {
   char *path = rkb_run_path_archive(directory);
   const bool is = rkb_path_exists(path);
   free(path);
   return is;
}

/* Reads from the archive which entries its run read; *was_read is false when it read none. */
static int read_archived(rkb_archive_t *archive, bool *was_read, rkb_library_t *library, rkb_error_t *err) {
   char *hash = rkb_archive_get_fact(archive, "library"), *text = NULL;
   int status = RKB_OK;
   *was_read = hash != NULL;
   if (hash)
      status = rkb_archive_get_document(archive, hash, &text, err);
   if (hash && status == RKB_OK)
      status = rkb_library_from_text(text, library, err);
   free(text);
   free(hash);
   return status;
}

static int read_of_run(const char *directory, rkb_library_t *library, rkb_error_t *err) {
   rkb_archive_t *archive = NULL;
   bool was_read = false;
   int status = rkb_archive_open(directory, &archive, err);
   if (status == RKB_OK)
      status = read_archived(archive, &was_read, library, err);
   if (status == RKB_OK && !was_read)
      status = rkb_fail(err, RKB_ERR_INVALID, "the run in %.200s read no library", directory);
   rkb_archive_close(archive);
   return status;
}

static int read_fresh(rkb_run_t *run, rkb_error_t *err) {
   const char *folder = run->options.library;
   rkb_elite_t subject;
   if (is_run(folder))
      return read_of_run(folder, &run->library, err);
   rkb_library_subject(run->pipeline, &subject);
   int status = rkb_library_make(folder, err);
   if (status == RKB_OK)
      status = rkb_library_read(folder, say, run, &run->library, err);
   if (status == RKB_OK)
      rkb_library_keep_nearest(&run->library, &subject, READ, READ_BYTES);
   return status;
}

static int keep(rkb_run_t *run, rkb_error_t *err) {
   char hash[65], *text = rkb_library_to_text(&run->library);
   int status = text ? rkb_archive_put_document(run->archive, text, hash, err) : rkb_fail_memory(err, 0);
   if (status == RKB_OK)
      status = rkb_archive_set_fact(run->archive, "library", hash, err);
   free(text);
   return status;
}

int rkb_library_record_open(rkb_run_t *run, rkb_error_t *err) {
   bool was_read = false;
   int status = RKB_OK;
   if (run->options.library && !run->pipeline->task)
      return rkb_fail(err, RKB_ERR_INVALID, "--library: the pipeline has no task");
   if (!run->archive)
      return run->options.library ? rkb_fail(err, RKB_ERR_INVALID, "a run without a directory keeps nothing, so it cannot read a library")
                                  : RKB_OK;
   rkb_archive_counts_t counts = {0};
   if (run->options.resume)
      status = rkb_archive_count(run->archive, &counts, err);
   if (status == RKB_OK && counts.requests) {
      status = read_archived(run->archive, &was_read, &run->library, err);
   } else if (status == RKB_OK && run->options.library) { /* a new run, or one that was killed before its first request */
      status = read_fresh(run, err);
      if (status == RKB_OK)
         status = keep(run, err);
      was_read = true;
   }
   if (status == RKB_OK && was_read)
      run->runtime.library = &run->library;
   return status;
}

/* Adds one accepted candidate to the library folder as an entry. */
static int add(rkb_run_t *run, int64_t number, rkb_error_t *err) {
   rkb_candidate_record_t *record = NULL;
   rkb_limiter_t limiter = {0};
   char word[RKB_ELITE_MOST_WORD] = "", identity[RKB_HASH_TEXT];
   const char *device = rkb_runtime_device_class(&run->runtime);
   rkb_elite_t elite;
   int status = rkb_archive_load_candidate(run->archive, number, &record, err);
   if (status != RKB_OK)
      return status;
   if (rkb_limiter_of_slowest(record->measurements, record->measurement_count, NULL, &limiter))
      rkb_library_limiter(&limiter, word, sizeof word);
   rkb_library_subject(run->pipeline, &elite);
   elite.limiter = word;
   elite.measured_on = device ? device : "";
   elite.score = record->objective;
   elite.made_by = record->operator_id;
   elite.candidate = number;
   elite.source = record->source;
   elite.source_hash = record->source_hash;
   elite.tune = record->tune;
   status = rkb_library_add(run->options.library, &elite, identity, err);
   if (status == RKB_OK)
      rkb_log_printf(run->options.log, RKB_LOG_INFO, "library", "candidate %lld is entry %s", (long long)number, identity);
   rkb_candidate_record_free(record);
   return status;
}

static bool seen(const rkb_archive_rows_t *rows, const uint32_t *chosen, uint32_t count, const char *source_hash) {
   for (uint32_t i = 0; i < count; i++)
      if (strcmp(rkb_archive_rows_at(rows, chosen[i])->source_hash, source_hash) == 0)
         return true;
   return false;
}

static int add_best(rkb_run_t *run, rkb_error_t *err) {
   const rkb_archive_query_t query = {
      .size = sizeof query, .order = RKB_ARCHIVE_BY_OBJECTIVE, .limit = LOOKED_AT, .standing = RKB_ACCEPT};
   rkb_archive_rows_t *rows = NULL;
   uint32_t chosen[ADDED], count = 0;
   int status = rkb_archive_query(run->archive, INT64_MAX, &query, &rows, err);
   for (uint32_t i = 0; status == RKB_OK && count < ADDED && i < rkb_archive_rows_count(rows); i++) {
      const rkb_archive_row_t *row = rkb_archive_rows_at(rows, i);
      if (seen(rows, chosen, count, row->source_hash))
         continue;
      chosen[count++] = i;
      status = add(run, row->number, err);
   }
   rkb_archive_rows_free(rows);
   return status;
}

void rkb_library_record_add(rkb_run_t *run) {
   rkb_error_t err = {0};
   const char *folder = run->options.library;
   if (!folder || !run->archive || run->ending.status != RKB_OK || run->ending.kind == RKB_ENDED_INTERRUPTED || is_run(folder) ||
       !run->pipeline->verified_by_execution || !run->pipeline->objective)
      return;
   int status = rkb_library_make(folder, &err);
   if (status == RKB_OK)
      status = add_best(run, &err);
   if (status != RKB_OK)
      rkb_runtime_note(&run->runtime, "library", "nothing more was added to the library: %s", err.message);
}
