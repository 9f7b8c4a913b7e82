/* rkb-ptx-survey FILE.ptx: lists what the checking machine would need to execute a PTX file and does not
 * have.  It is a program of its own so that rkb does not load the machine; rkb doctor --ptx runs it.
 *
 * Prints one line for each opcode or feature that is missing, the most frequent first, with the first line
 * where it stands.  Exit: 0 nothing is missing, 1 something is, 2 the file cannot be read. */
#include "base/memory.h"
#include "base/usage.h"
#include "machine/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TEXT (256u << 20)

struct missing {
   char what[96], kernel[256];
   uint32_t line; /* the first line that has it */
   uint64_t count;
};

struct survey {
   struct missing *list;
   uint32_t count, room;
};

static void note(void *argument, const char *kernel, const char *what, uint32_t line) {
   struct survey *survey = argument;
   for (uint32_t n = 0; n < survey->count; n++)
      if (strcmp(survey->list[n].what, what) == 0) {
         survey->list[n].count++;
         return;
      }
   if (survey->count == survey->room) {
      const uint32_t room = survey->room ? 2 * survey->room : 64;
      survey->list = rkb_grow(survey->list, room, sizeof *survey->list);
      survey->room = room;
   }
   struct missing *entry = &survey->list[survey->count++];
   *entry = (struct missing){.line = line, .count = 1};
   snprintf(entry->what, sizeof entry->what, "%s", what);
   snprintf(entry->kernel, sizeof entry->kernel, "%s", kernel);
}

static int by_count(const void *left, const void *right) {
   const struct missing *a = left, *b = right;
   if (a->count != b->count)
      return a->count < b->count ? 1 : -1;
   return strcmp(a->what, b->what);
}

static char *read_file(const char *path, size_t *length) {
   FILE *file = fopen(path, "rb");
   size_t room = 1u << 16, used = 0, got;
   char *text = file ? rkb_try_uncleared(room, 1, NULL) : NULL;
   while (text && (got = fread(text + used, 1, room - used, file)) > 0) {
      used += got;
      if (used < room)
         continue;
      char *larger = room < MOST_TEXT ? rkb_try_grow(text, 2 * room, 1, NULL) : NULL;
      if (!larger) {
         free(text);
         text = NULL;
         errno = EFBIG;
         break;
      }
      text = larger;
      room *= 2;
   }
   if (text && ferror(file)) {
      free(text);
      text = NULL;
   }
   if (file)
      fclose(file);
   *length = used;
   return text;
}

static int report(const char *path, struct survey *survey) {
   if (survey->count == 0) {
      printf("%s: the checking machine executes every instruction of it\n", path);
      return 0;
   }
   qsort(survey->list, survey->count, sizeof *survey->list, by_count);
   printf("%s: the checking machine lacks %u opcode%s or features\n", path, survey->count,
          survey->count == 1 ? "" : "s");
   for (uint32_t n = 0; n < survey->count; n++)
      printf("  %-44s %6llu  first at line %u, in %s\n", survey->list[n].what,
             (unsigned long long)survey->list[n].count, survey->list[n].line, survey->list[n].kernel);
   return 1;
}

int main(int count, char **arguments) {
   struct survey survey = {0};
   rkb_error_t err = {0};
   uint32_t line = 0;
   size_t length = 0;
   int code = 2;
   const int over = rkb_usage(count, arguments, count == 2 ? 1 : -1,
                              "usage: rkb-ptx-survey FILE.ptx\nWhat the checking machine would need to execute the file and does not have; "
                              "'rkb doctor --ptx' runs this.\n");
   if (over >= 0)
      return over;
   char *text = read_file(arguments[1], &length);
   if (!text) {
      fprintf(stderr, "cannot read %s: %s\n", arguments[1], strerror(errno));
      return 2;
   }
   rkb_machine_module_t *module = rkb_machine_module_read(text, length);
   const char *problem = module ? rkb_machine_module_error(module, &line) : "no memory for the text";
   if (problem)
      printf("%s:%u: %s; what comes after it was not looked at\n", arguments[1], line, problem);
   else if (rkb_machine_unsupported(module, note, &survey, &err) != RKB_OK)
      fprintf(stderr, "%s\n", err.message);
   else
      code = report(arguments[1], &survey);
   rkb_machine_module_free(module);
   free(survey.list);
   free(text);
   return problem && module ? 1 : code;
}
