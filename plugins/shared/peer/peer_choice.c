/* Chooses the kernel that a candidate is compared with.  No state; any worker. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rkb/ext/schedule.h>
#include "seed_peer.h"
#include "seed_files/seed_files.h"

typedef struct line {
   const char *text; /* in the text that the set is of, without the blanks at the ends */
   size_t length;
} line_t;

typedef struct line_set {
   line_t *lines; /* sorted */
   size_t count;
} line_set_t;

/* In some order.  Lines are compared as they are: an author could make two with one hash. */
static int compare_lines(const void *left, const void *right) {
   const line_t *x = left, *y = right;
   return x->length != y->length ? (x->length > y->length) - (x->length < y->length)
                                 : memcmp(x->text, y->text, x->length);
}

static line_t trimmed(const char *line, size_t length) {
   while (length && (*line == ' ' || *line == '\t')) {
      line++;
      length--;
   }
   while (length && (line[length - 1] == ' ' || line[length - 1] == '\t' || line[length - 1] == '\r'))
      length--;
   return (line_t){line, length};
}

/* Lines of three characters and fewer tell nothing. */
static bool lines_of(const char *text, line_set_t *set) {
   size_t room = 1;
   for (const char *at = text; *at; at++)
      room += *at == '\n';
   *set = (line_set_t){.lines = malloc(room * sizeof *set->lines)};
   for (const char *at = text; set->lines && *at;) {
      const size_t length = strcspn(at, "\n");
      const line_t line = trimmed(at, length);
      if (line.length > 3)
         set->lines[set->count++] = line;
      at += length + (at[length] == '\n');
   }
   if (set->lines)
      qsort(set->lines, set->count, sizeof *set->lines, compare_lines);
   return set->lines != NULL;
}

/* Returns the share of the text's lines that the set has too. */
static double share_of(const char *text, const line_set_t *set) {
   line_set_t own;
   size_t common = 0;
   if (!lines_of(text, &own))
      return 1;
   for (size_t i = 0; i < own.count; i++)
      common += bsearch(&own.lines[i], set->lines, set->count, sizeof *set->lines, compare_lines) != NULL;
   const double share = own.count ? (double)common / (double)own.count : 1;
   free(own.lines);
   return share;
}

char *peer_choose(const char *directory, const char *source, char **text, char *none, size_t none_size) {
   seed_files_t files;
   rkb_error_t err = {0};
   line_set_t lines;
   char *path = NULL;
   double least = 2;
   *text = NULL;
   if (seed_files_find(directory, NULL, &files, &err) != RKB_OK) {
      snprintf(none, none_size, "%.150s", err.message);
      return NULL;
   }
   const bool made = lines_of(source, &lines);
   for (uint32_t i = 0; made && i < files.count; i++) {
      char *other = NULL;
      if (seed_file_read(files.paths[i], &other, &err) != RKB_OK || strcmp(other, source) == 0 ||
          share_of(other, &lines) >= least) {
         free(other);
         continue;
      }
      least = share_of(other, &lines);
      free(*text);
      free(path);
      *text = other;
      path = strdup(files.paths[i]);
   }
   if (!path)
      snprintf(none, none_size, "the task has no other kernel in '%.120s'", directory);
   free(lines.lines);
   seed_files_free(&files);
   return path;
}

/* The generator writes all of them, so where it wrote the candidate too, peer and candidate may share one of
 * its faults. */
char *peer_write(const rkb_host_t *host, const char *source, char **text, char *none, size_t none_size) {
   static const char *const starts[] = {"together", "suited", "apart"}; /* the plainest comes first */
   const rkb_schedule_api_t *schedule = host->get_extension(host, RKB_EXT_SCHEDULE);
   const char *chosen = NULL;
   double least = 2;
   line_set_t lines;
   *text = NULL;
   if (!schedule || !lines_of(source, &lines))
      return NULL;
   for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
      char *other = NULL;
      rkb_error_t err = {0};
      const int status = schedule->start(host, starts[i], &other, &err);
      const double share = status == RKB_OK && other && strcmp(other, source) != 0 ? share_of(other, &lines) : 2;
      if (status != RKB_OK && !chosen)
         snprintf(none, none_size, "the task has no other kernel, and none was written: %.120s", err.message);
      if (share < least) {
         free(*text);
         *text = strdup(other);
         chosen = starts[i];
         least = share;
      }
      schedule->free_text(other);
   }
   free(lines.lines);
   char *name = NULL;
   if (*text && asprintf(&name, "the graph's %s", chosen) < 0)
      name = NULL;
   if (!name) {
      free(*text);
      *text = NULL;
   }
   return name;
}
