/* Reads a labelled corpus (labelled_corpus.h). */
#include "cli/judge/labelled_corpus.h"

#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/memory.h"
#include "cli/judge/labelled_folder.h"

enum { MAX_TABLE_BYTES = 64 << 20, MAX_KERNEL_BYTES = 256 << 10, MAX_KERNELS = 200000 };
enum column { FILE_COLUMN, LABEL, TASK, DIRECTION, KIND, PART, COLUMNS };
static const char *const NAMES[COLUMNS] = {"file", "label", "task", "direction", "kind", "part"};

typedef struct reading {
   const char *path;
   char *folder;
   rkb_labelled_corpus_t *corpus;
   uint32_t room;
   int column_of[COLUMNS]; /* -1: absent */
   uint32_t line;
} reading_t;

static int fail(const reading_t *reading, rkb_error_t *err, const char *what, const char *word) {
   return rkb_fail(err, RKB_ERR_INVALID, "%.200s:%u: %s%.150s", reading->path, reading->line, what, word);
}

static char *field(char **rest) {
   char *begin = *rest, *tab = begin ? strchr(begin, '\t') : NULL;
   if (tab)
      *tab = '\0';
   *rest = tab ? tab + 1 : NULL;
   return begin;
}

static int read_heading(reading_t *reading, char *line, rkb_error_t *err) {
   int index = 0;
   for (int i = 0; i < COLUMNS; i++)
      reading->column_of[i] = -1;
   for (char *name = field(&line); name; name = field(&line), index++) {
      int which = 0;
      while (which < COLUMNS && strcmp(NAMES[which], name) != 0)
         which++;
      if (which == COLUMNS)
         return fail(
            reading, err,
            "there is no column of this name; file, label, task, direction, kind and part are: ", name);
      reading->column_of[which] = index;
   }
   for (int i = 0; i <= DIRECTION; i++)
      if (reading->column_of[i] < 0)
         return fail(reading, err, "the first line names the columns, and lacks: ", NAMES[i]);
   return RKB_OK;
}

static int read_text(const reading_t *reading, rkb_labelled_kernel_t *kernel, rkb_error_t *err) {
   rkb_error_t own = {0};
   char *text = NULL;
   size_t length = 0;
   if (rkb_file_read(kernel->path, MAX_KERNEL_BYTES, &text, &length, &own) != RKB_OK)
      return fail(reading, err, "", own.message);
   rkb_hash_text(text, length, kernel->hash);
   free(text);
   return RKB_OK;
}

static int read_row(reading_t *reading, char *line, rkb_error_t *err) {
   const char *values[COLUMNS] = {NULL};
   int index = 0;
   for (char *value = field(&line); value; value = field(&line), index++)
      for (int i = 0; i < COLUMNS; i++)
         if (reading->column_of[i] == index)
            values[i] = value;
   for (int i = 0; i <= DIRECTION; i++)
      if (!values[i] || !values[i][0])
         return fail(reading, err, "the row has no ", NAMES[i]);
   const bool wrong = strcmp(values[LABEL], "wrong") == 0;
   if (!wrong && strcmp(values[LABEL], "right") != 0)
      return fail(reading, err, "a label is right or wrong, not ", values[LABEL]);
   if (strcmp(values[DIRECTION], "forward") != 0 && strcmp(values[DIRECTION], "backward") != 0)
      return fail(reading, err, "a direction is forward or backward, not ", values[DIRECTION]);
   if (values[PART] && values[PART][0] && strcmp(values[PART], "tuned") != 0 &&
       strcmp(values[PART], "kept") != 0)
      return fail(reading, err, "a part is tuned or kept, not ", values[PART]);
   rkb_labelled_corpus_t *corpus = reading->corpus;
   if (corpus->count == MAX_KERNELS)
      return fail(reading, err, "a corpus has at most 200000 kernels", "");
   if (corpus->count == reading->room) {
      reading->room = reading->room ? reading->room * 2 : 64;
      corpus->list = rkb_grow(corpus->list, reading->room, sizeof *corpus->list);
   }
   rkb_labelled_kernel_t *kernel = &corpus->list[corpus->count++];
   *kernel =
      (rkb_labelled_kernel_t){.path = rkb_path_join(reading->folder, values[FILE_COLUMN]),
                              .task = rkb_duplicate(values[TASK]),
                              .direction = rkb_duplicate(values[DIRECTION]),
                              .kind = rkb_duplicate(values[KIND] && values[KIND][0] ? values[KIND] : "wrong"),
                              .wrong = wrong,
                              .kept = !values[PART] || strcmp(values[PART], "tuned") != 0};
   return read_text(reading, kernel, err);
}

static int by_subject(const void *a, const void *b) {
   const rkb_labelled_kernel_t *left = a, *right = b;
   int order = strcmp(left->task, right->task);
   if (!order)
      order = strcmp(left->direction, right->direction);
   return order ? order : strcmp(left->hash, right->hash);
}

/* Refuses equal texts, which are neighbours once the list is sorted. */
static int refuse_twins(const reading_t *reading, rkb_error_t *err) {
   const rkb_labelled_corpus_t *corpus = reading->corpus;
   for (uint32_t i = 1; i < corpus->count; i++)
      if (by_subject(&corpus->list[i - 1], &corpus->list[i]) == 0)
         return rkb_fail(err, RKB_ERR_INVALID,
                         "%.120s: two rows of one task have the same text: %.120s and %.120s", reading->path,
                         corpus->list[i - 1].path, corpus->list[i].path);
   return RKB_OK;
}

int rkb_labelled_corpus_read(const char *path, rkb_labelled_corpus_t *corpus, rkb_error_t *err) {
   reading_t reading = {.path = path, .corpus = corpus};
   char *text = NULL, *rest, *line;
   size_t length = 0;
   bool headed = false;
   *corpus = (rkb_labelled_corpus_t){0};
   const bool is_folder = rkb_labelled_folder_is(path);
   int status = is_folder ? rkb_labelled_folder_table(path, &text, err)
                          : rkb_file_read(path, MAX_TABLE_BYTES, &text, &length, err);
   if (status != RKB_OK)
      return status;
   char *absolute = realpath(path, NULL);
   reading.folder =
      is_folder ? rkb_duplicate(absolute ? absolute : path) : rkb_path_directory(absolute ? absolute : path);
   for (rest = text; status == RKB_OK && (line = strsep(&rest, "\n"));) {
      reading.line++;
      if (!line[0] || line[0] == '#')
         continue;
      status = headed ? read_row(&reading, line, err) : read_heading(&reading, line, err);
      headed = true;
   }
   if (status == RKB_OK && corpus->count == 0)
      status = fail(&reading, err, "there is no kernel in it", "");
   if (status == RKB_OK) {
      qsort(corpus->list, corpus->count, sizeof *corpus->list, by_subject);
      status = refuse_twins(&reading, err);
   }
   free(absolute);
   free(reading.folder);
   free(text);
   if (status != RKB_OK)
      rkb_labelled_corpus_free(corpus);
   return status;
}

static void free_kernel(rkb_labelled_kernel_t *kernel) {
   free(kernel->path);
   free(kernel->task);
   free(kernel->direction);
   free(kernel->kind);
}

void rkb_labelled_corpus_free(rkb_labelled_corpus_t *corpus) {
   for (uint32_t i = 0; i < corpus->count; i++)
      free_kernel(&corpus->list[i]);
   free(corpus->list);
   *corpus = (rkb_labelled_corpus_t){0};
}

typedef struct drawn {
   uint64_t rank;
   uint32_t index;
} drawn_t;

static int by_rank(const void *a, const void *b) {
   const drawn_t *left = a, *right = b;
   if (left->rank != right->rank)
      return left->rank < right->rank ? -1 : 1;
   return left->index < right->index ? -1 : 1;
}

/* The kernels in an order that depends only on seed and their texts; owned. */
static drawn_t *draw_order(const rkb_labelled_corpus_t *corpus, uint64_t seed) {
   drawn_t *drawn = rkb_allocate(corpus->count, sizeof *drawn);
   for (uint32_t i = 0; i < corpus->count; i++)
      drawn[i] = (drawn_t){.rank = rkb_hash64(corpus->list[i].hash, RKB_HASH_TEXT - 1, seed), .index = i};
   qsort(drawn, corpus->count, sizeof *drawn, by_rank);
   return drawn;
}

void rkb_labelled_corpus_divide(rkb_labelled_corpus_t *corpus, uint64_t seed) {
   uint32_t kept = 0, seen[2] = {0};
   for (uint32_t i = 0; i < corpus->count; i++)
      kept += corpus->list[i].kept;
   if (kept && kept < corpus->count)
      return;
   drawn_t *drawn = draw_order(corpus, seed);
   for (uint32_t i = 0; i < corpus->count; i++) {
      rkb_labelled_kernel_t *kernel = &corpus->list[drawn[i].index];
      kernel->kept = seen[kernel->wrong]++ % 2 == 1;
   }
   free(drawn);
}

rkb_labelled_corpus_t rkb_labelled_corpus_part(const rkb_labelled_corpus_t *corpus, bool kept) {
   rkb_labelled_corpus_t part = {.list = rkb_allocate(corpus->count + 1, sizeof *part.list)};
   for (uint32_t i = 0; i < corpus->count; i++)
      if (corpus->list[i].kept == kept)
         part.list[part.count++] = corpus->list[i];
   return part;
}

void rkb_labelled_corpus_sample(rkb_labelled_corpus_t *corpus, uint32_t count, uint64_t seed) {
   if (count >= corpus->count)
      return;
   drawn_t *drawn = draw_order(corpus, seed);
   bool *kept = rkb_allocate(corpus->count, sizeof *kept);
   for (uint32_t i = 0; i < count; i++)
      kept[drawn[i].index] = true;
   uint32_t left = 0;
   for (uint32_t i = 0; i < corpus->count; i++)
      if (kept[i])
         corpus->list[left++] = corpus->list[i];
      else
         free_kernel(&corpus->list[i]);
   corpus->count = left;
   free(kept);
   free(drawn);
}

static const char *name_of(const char *task) {
   const char *slash = strrchr(task, '/');
   return slash ? slash + 1 : task;
}

const rkb_labelled_kernel_t *rkb_labelled_corpus_find(const rkb_labelled_corpus_t *corpus, const char *task,
                                                      const char *direction, const char *hash) {
   for (uint32_t i = 0; i < corpus->count; i++) {
      const rkb_labelled_kernel_t *kernel = &corpus->list[i];
      if (strcmp(kernel->hash, hash) == 0 && strcmp(kernel->direction, direction) == 0 &&
          strcmp(name_of(kernel->task), name_of(task)) == 0)
         return kernel;
   }
   return NULL;
}
