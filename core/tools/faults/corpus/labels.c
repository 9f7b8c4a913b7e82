/* Reads and writes the table of labels. */
#include "tools/faults/corpus/labels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/memory.h"

enum { MOST_BYTES = 16 << 20, COLUMNS = 11 };

static const char head[] =
   "# id\thash\tlabel\tkind\tset\toracle\tfound\tcase\tfamily\tseed\tpermitted reasons\n";

static void copy(char *out, size_t size, const char *text) {
   snprintf(out, size, "%s", text);
}

label_t label_of(const fault_t *fault) {
   static const char *const kinds[] = {"value", "memory", "race", "barrier"};
   label_t label = {.name = "unlabelled", .oracle = "-", .found = "-", .the_case = "-", .family = "-"};
   copy(label.id, sizeof label.id, fault->id);
   copy(label.hash, sizeof label.hash, fault->hash);
   copy(label.kind, sizeof label.kind, kinds[fault->operator_of->kind]);
   copy(label.set, sizeof label.set, fault->kept_out ? "kept_out" : "tuned");
   copy(label.reasons, sizeof label.reasons, fault->operator_of->reasons);
   return label;
}

void labels_line(const label_t *l, char *out, size_t size) {
   snprintf(out, size, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%" PRIu64 "\t%s\n", l->id, l->hash, l->name,
            l->kind, l->set, l->oracle, l->found, l->the_case, l->family, l->seed, l->reasons);
}

const label_t *labels_find(const labels_t *labels, const char *id, const char *hash) {
   for (uint32_t i = 0; i < labels->count; i++)
      if (strcmp(labels->list[i].id, id) == 0 && strcmp(labels->list[i].hash, hash) == 0)
         return &labels->list[i];
   return NULL;
}

void labels_put(labels_t *labels, const label_t *label) {
   label_t *known = (label_t *)labels_find(labels, label->id, label->hash);
   if (known) {
      *known = *label;
      return;
   }
   if (labels->count == labels->room) {
      uint32_t room = labels->room ? 2 * labels->room : 1024;
      labels->list = rkb_grow(labels->list, room, sizeof *labels->list);
      labels->room = room;
   }
   labels->list[labels->count++] = *label;
}

static bool read_line(char *line, label_t *l) {
   char *field[COLUMNS], *rest = line;
   for (int i = 0; i < COLUMNS; i++)
      if ((field[i] = strsep(&rest, "\t")) == NULL)
         return false;
   *l = (label_t){.seed = strtoull(field[9], NULL, 10)};
   copy(l->id, sizeof l->id, field[0]);
   copy(l->hash, sizeof l->hash, field[1]);
   copy(l->name, sizeof l->name, field[2]);
   copy(l->kind, sizeof l->kind, field[3]);
   copy(l->set, sizeof l->set, field[4]);
   copy(l->oracle, sizeof l->oracle, field[5]);
   copy(l->found, sizeof l->found, field[6]);
   copy(l->the_case, sizeof l->the_case, field[7]);
   copy(l->family, sizeof l->family, field[8]);
   copy(l->reasons, sizeof l->reasons, field[10]);
   return true;
}

int labels_read(const char *path, labels_t *labels, rkb_error_t *err) {
   char *text = NULL, *rest, *line;
   size_t length;
   label_t label;
   int status = RKB_OK;
   *labels = (labels_t){0};
   if (!rkb_path_exists(path))
      return RKB_OK;
   status = rkb_file_read(path, MOST_BYTES, &text, &length, err);
   rest = text;
   while (status == RKB_OK && (line = strsep(&rest, "\n")) != NULL)
      /* Leaves out a line that is incomplete because the program was killed; its row is made again. */
      if (line[0] && line[0] != '#' && read_line(line, &label))
         labels_put(labels, &label);
   free(text);
   return status;
}

static int by_id(const void *a, const void *b) {
   return strcmp(((const label_t *)a)->id, ((const label_t *)b)->id);
}

int labels_write(const char *path, labels_t *labels, const char *remark, rkb_error_t *err) {
   rkb_text_t text;
   char line[1024];
   rkb_text_init(&text, MOST_BYTES);
   rkb_text_format(
      &text,
      "# Labels of the fault corpus, made without the checking machine: see label/label_faults.c.\n# %s\n",
      remark);
   rkb_text_add(&text, head);
   qsort(labels->list, labels->count, sizeof *labels->list, by_id);
   for (uint32_t i = 0; i < labels->count; i++) {
      labels_line(&labels->list[i], line, sizeof line);
      rkb_text_add(&text, line);
   }
   int status = text.cut ? rkb_fail(err, RKB_ERR_LIMIT, "the labels take more than %d bytes", MOST_BYTES)
                         : rkb_file_write(path, text.data, text.length, err);
   rkb_text_free(&text);
   return status;
}

void labels_free(labels_t *labels) {
   free(labels->list);
   *labels = (labels_t){0};
}
