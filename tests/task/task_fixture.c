/* See task_fixture.h.  Test code: aborts when memory is out. */
#include "task_fixture.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"

rkb_task_t *fixture_load(const char *directory, const char *direction) {
   rkb_problems_t problems;
   rkb_text_t text;
   rkb_problems_init(&problems);
   rkb_task_t *task = rkb_task_load(directory, direction, 0, &problems);
   rkb_text_init(&text, 1 << 16);
   rkb_problems_write(&problems, &text);
   if (!task && !strstr(rkb_text_get(&text), "has no direction")) {
      fprintf(stderr, "%s", rkb_text_get(&text));
      abort();
   }
   rkb_text_free(&text);
   rkb_problems_free(&problems);
   return task;
}

char *fixture_write(const char *name, const char *task, const char *graph) {
   char directory[600], path[700];
   rkb_error_t err = {0};
   snprintf(directory, sizeof directory, "%s/tests/task/made/%s", RKB_BINARY_DIR, name);
   if (rkb_make_directories(directory, &err) != RKB_OK)
      abort();
   snprintf(path, sizeof path, "%s/task.yaml", directory);
   if (rkb_file_write(path, task, strlen(task), &err) != RKB_OK)
      abort();
   snprintf(path, sizeof path, "%s/reference.graph.yaml", directory);
   if (rkb_file_write(path, graph, strlen(graph), &err) != RKB_OK)
      abort();
   return strdup(directory);
}

char *fixture_line(FILE *file) {
   char *line = NULL;
   size_t room = 0;
   while (getline(&line, &room, file) >= 0) {
      line[strcspn(line, "\n")] = '\0';
      if (*line && *line != '#')
         return line;
   }
   free(line);
   return NULL;
}

static char *trimmed(char *text) {
   while (*text == ' ')
      text++;
   for (size_t length = strlen(text); length && text[length - 1] == ' '; length--)
      text[length - 1] = '\0';
   return text;
}

int fixture_split(char *text, const char *mark, char **parts, int most) {
   int count = 0;
   while (count < most) {
      char *end = strstr(text, mark);
      if (end)
         *end = '\0';
      parts[count++] = trimmed(text);
      if (!end)
         break;
      text = end + strlen(mark);
   }
   return count;
}

/* Integers stay below the smallest dim they pick from (7), or are 0 and 1 in masks. */
static const char *recipe(const char *init, const char *dtype) {
   if (strcmp(init, "integers") == 0)
      return strcmp(dtype, "uint8") == 0 ? "{kind: integers, low: 0, high: 2}"
                                         : "{kind: integers, low: 0, high: 7}";
   return strcmp(init, "positive") == 0 ? "{kind: positive}" : "{kind: normal}";
}

char *fixture_function(char *line, int number, const char **name) {
   char *fields[5], *inputs[8], *parts[4], directory[64];
   rkb_text_t task, graph, wanted, listed;
   int fields_found = fixture_split(line, "|", fields, 5);
   assert(fields_found >= 4);
   const char *only = fields_found == 5 ? fields[4] : NULL; /* dtype of an output without a gradient */
   int count = fixture_split(fields[1], ";", inputs, 8);
   rkb_text_init(&task, 1 << 16);
   rkb_text_init(&graph, 1 << 16);
   rkb_text_init(&wanted, 1 << 10);
   rkb_text_init(&listed, 1 << 10);
   rkb_text_format(&task, "rkb-task: 1\nname: made\ndirections: [%s]\ndims: {}\ntensors:\n",
                   only ? "forward" : "forward, backward");
   for (int i = 0; i < count; i++) {
      if (fixture_split(inputs[i], ":", parts, 4) != 4)
         abort();
      rkb_text_format(&task, "  %s: {role: in, dtype: %s, shape: \"%s\", init: %s}\n", parts[0], parts[1],
                      parts[2], recipe(parts[3], parts[1]));
      rkb_text_format(&listed, "%s%s", i ? ", " : "", parts[0]);
      if (strcmp(parts[1], "float32") == 0)
         rkb_text_format(&wanted, "%s%s", wanted.length ? ", " : "", parts[0]);
   }
   rkb_text_format(&task,
                   "  out: {role: out, dtype: %s, shape: \"%s\"}\nwants_grad: [%s]\ncases: {check: "
                   "[{name: one, dims: {}}]}\n",
                   only ? only : "float32", fields[3], only ? "" : rkb_text_get(&wanted));
   rkb_text_format(&graph,
                   "rkb-graph: 1\nnodes:\n  - {id: one, op: %s, in: [%s], attr: {%s}, out: [{name: out, "
                   "dtype: %s, shape: \"%s\"}]}\n",
                   fields[0], rkb_text_get(&listed), fields[2], only ? only : "float32", fields[3]);
   snprintf(directory, sizeof directory, "%03d_%s", number, fields[0]);
   char *path = fixture_write(directory, rkb_text_get(&task), rkb_text_get(&graph));
   *name = fields[0];
   rkb_text_free(&task);
   rkb_text_free(&graph);
   rkb_text_free(&wanted);
   rkb_text_free(&listed);
   return path;
}
