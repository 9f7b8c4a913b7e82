/* Writes a few plans with their inputs into a file, and runs rkb-play-plans on it under compute-sanitizer.
 * Owns the file during a call. */
#include "tools/faults/label/sanitizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/file.h"
#include "tools/faults/label/plans_file.h"

enum { MOST_WATCHED = 4, SECONDS = 60 };
#define WATCHED_WORK 3e6 /* most operations of a case, because the tools make kernels a hundred times slower */

const char *const sanitizer_tools[SANITIZER_TOOLS] = {"memcheck", "racecheck", "synccheck", "initcheck"};

bool sanitizer_there(void) {
   char *player = rkb_find_program("rkb-play-plans");
   bool there = player && system("compute-sanitizer --version >/dev/null 2>&1") == 0;
   free(player);
   return there;
}

static void put(FILE *file, uint64_t number) {
   fwrite(&number, sizeof number, 1, file);
}

static void put_bytes(FILE *file, const void *bytes, uint64_t length) {
   put(file, length);
   fwrite(bytes, 1, length, file);
}

static int put_plan(FILE *file, const attempt_t *attempt, const subject_case_t *c, rkb_error_t *err) {
   case_names_t names = {attempt->subject->task, c->of};
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   void *bytes = NULL;
   size_t length = 0;
   uint32_t count = 0;
   int status = rkb_plan_make(attempt->manifest, "{}", attempt->build, attempt->device, c->of,
                              case_names_find, &names, &plan, &finding, err);
   if (status == RKB_OK && !plan)
      status = rkb_fail(err, RKB_ERR_INVALID, "no plan: %s", finding.message);
   if (status == RKB_OK)
      status = rkb_plan_write(plan, &bytes, &length, err);
   if (status == RKB_OK) {
      put_bytes(file, bytes, length);
      for (uint32_t t = 0; t < c->of->tensor_count; t++)
         count += c->trials[0].tensors[t] != NULL;
      put(file, count);
      for (uint32_t t = 0; t < c->of->tensor_count; t++)
         if (c->trials[0].tensors[t]) {
            put(file, t);
            put_bytes(file, c->trials[0].tensors[t], c->of->tensors[t].bytes);
         }
   }
   free(bytes);
   rkb_plan_free(plan);
   return status;
}

/* Chooses the largest cases within the allowed work, so that there is more than one warp, and more than one
 * turn of a loop. */
static uint32_t choose(const subject_t *subject, const subject_case_t **chosen) {
   uint32_t count = 0;
   for (uint32_t i = subject->case_count; i-- > 0 && count < MOST_WATCHED;)
      if (subject->cases[i].of->operations <= WATCHED_WORK || i == 0)
         chosen[count++] = &subject->cases[i];
   return count;
}

static int write_plans(const char *path, const attempt_t *attempt, rkb_error_t *err) {
   const subject_case_t *chosen[MOST_WATCHED];
   uint32_t count = choose(attempt->subject, chosen);
   FILE *file = fopen(path, "wb");
   int status = file ? RKB_OK : rkb_fail(err, RKB_ERR_IO, "cannot write %s", path);
   if (!file)
      return status;
   put(file, PLANS_FILE_MAGIC);
   put(file, count);
   put_bytes(file, attempt->build->cubin, attempt->build->cubin_bytes);
   for (uint32_t i = 0; i < count && status == RKB_OK; i++)
      status = put_plan(file, attempt, chosen[i], err);
   if (fclose(file) != 0 && status == RKB_OK)
      status = rkb_fail(err, RKB_ERR_IO, "cannot write %s", path);
   return status;
}

/* Looks for lines such as "========= Error: Race reported between Write access at ..." and "========= Invalid
 * __shared__ read of size 4 ...". */
static void read_report(FILE *report, bool *ended, bool *error, char *what, size_t size) {
   char line[512];
   unsigned long errors;
   while (fgets(line, sizeof line, report)) {
      const char *text = strncmp(line, "========= ", 10) == 0 ? line + 10 : NULL;
      const char *count = text ? strstr(text, "SUMMARY: ") : NULL;
      if (count) {
         const char *hazards = strchr(count, '(');
         *ended = true;
         if (sscanf(hazards ? hazards + 1 : count + 9, "%lu error", &errors) == 1 && errors > 0)
            *error = true;
         continue;
      }
      if (!text || what[0] || strncmp(text, "COMPUTE-SANITIZER", 17) == 0 || text[0] == ' ')
         continue;
      snprintf(what, size, "%.*s", (int)strcspn(text, "\n\t"), text);
   }
}

static int watch(const char *path, uint32_t tool, bool *error, char *what, size_t size, rkb_error_t *err) {
   char command[2048];
   bool ended = false;
   char *player = rkb_find_program("rkb-play-plans");
   if (!player)
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "rkb-play-plans is not beside this program");
   snprintf(command, sizeof command,
            "exec env -u LD_LIBRARY_PATH timeout -s KILL %d compute-sanitizer --tool %s '%s' '%s' 2>&1",
            SECONDS, sanitizer_tools[tool], player, path);
   free(player);
   FILE *report = popen(command, "re");
   if (!report)
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "cannot run compute-sanitizer");
   *error = false;
   what[0] = '\0';
   read_report(report, &ended, error, what, size);
   pclose(report);
   return ended ? RKB_OK
                : rkb_fail(err, RKB_ERR_UNAVAILABLE, "%s did not end: %.100s", sanitizer_tools[tool], what);
}

int sanitizer_try(const attempt_t *attempt, uint32_t tool, bool *error, char *what, size_t size,
                  rkb_error_t *err) {
   char path[] = "/tmp/rkb-plans-XXXXXX";
   int file = mkstemp(path);
   if (file < 0)
      return rkb_fail(err, RKB_ERR_IO, "cannot make a file in /tmp");
   close(file);
   int status = write_plans(path, attempt, err);
   if (status == RKB_OK)
      status = watch(path, tool, error, what, size, err);
   unlink(path);
   return status;
}
