/* The log: levels, long and hostile lines, hooks; many threads write at once. */
#include "check.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Standard error goes to a file while a test looks at it. */
static char folder[] = "/tmp/rkb-log-XXXXXX";
static char *errors_path, *log_path;
static int real_errors;

static int make_folder(void **state) {
   (void)state;
   if (!mkdtemp(folder))
      return -1;
   errors_path = rkb_path_join(folder, "errors");
   log_path = rkb_path_join(folder, "log.jsonl");
   return 0;
}

static int remove_folder(void **state) {
   (void)state;
   unlink(errors_path);
   unlink(log_path);
   free(errors_path);
   free(log_path);
   return rmdir(folder);
}

static rkb_log_t *open_log(int level, bool json) {
   rkb_error_t err;
   rkb_log_t *log;
   unlink(log_path);
   fflush(stderr);
   real_errors = dup(STDERR_FILENO);
   assert_non_null(freopen(errors_path, "w", stderr));
   assert_int_equal(rkb_log_open(level, json, log_path, &log, &err), RKB_OK);
   return log;
}

static char *close_log(rkb_log_t *log, const char *path) {
   rkb_error_t err;
   char *data;
   size_t length;
   rkb_log_close(log);
   fflush(stderr);
   dup2(real_errors, STDERR_FILENO);
   close(real_errors);
   assert_int_equal(rkb_file_read(path, 1 << 24, &data, &length, &err), RKB_OK);
   return data;
}

static void levels_decide_where_a_line_goes(void **state) {
   (void)state;
   rkb_log_t *log = open_log(RKB_LOG_WARN, false);
   assert_int_equal(rkb_log_level(log), RKB_LOG_WARN);
   rkb_log_write(log, RKB_LOG_TRACE, "engine", NULL, 0, "traced");
   rkb_log_write(log, RKB_LOG_DEBUG, "engine", NULL, 0, "debugged");
   rkb_log_printf(log, RKB_LOG_WARN, "engine", "warned %d", 1);
   char *lines = close_log(log, log_path);
   assert_null(strstr(lines, "traced"));
   assert_non_null(strstr(lines, "debugged"));
   assert_non_null(strstr(lines, "warned 1"));
   free(lines);
   rkb_error_t err;
   size_t length;
   assert_int_equal(rkb_file_read(errors_path, 1 << 20, &lines, &length, &err), RKB_OK);
   assert_null(strstr(lines, "debugged"));
   assert_non_null(strstr(lines, "warn  engine: warned 1\n"));
   free(lines);
}

static void json_lines_survive_any_bytes(void **state) {
   (void)state;
   rkb_error_t err;
   rkb_log_t *log = open_log(RKB_LOG_ERROR, true);
   rkb_log_write(log, RKB_LOG_INFO, "a\"b", "c\\d", 12, "line\nbreak \x1b[2J \xff \xc3\xa9 \xc2\x9b end");
   char *line = close_log(log, log_path);
   json_t *value = rkb_json_parse(line, strlen(line), &err);
   assert_non_null(value);
   assert_string_equal(json_string_value(json_object_get(value, "who")), "a\"b");
   assert_string_equal(json_string_value(json_object_get(value, "file")), "c\\d");
   assert_int_equal(json_integer_value(json_object_get(value, "line")), 12);
   assert_string_equal(json_string_value(json_object_get(value, "text")),
                       "line\nbreak \x1b[2J \xef\xbf\xbd \xc3\xa9 \xc2\x9b end");
   assert_null(strchr(line, '\x1b'));
   json_decref(value);
   free(line);
}

static void long_lines_are_cut_and_marked(void **state) {
   (void)state;
   rkb_error_t err;
   char *text = malloc(100001);
   memset(text, '"', 100000);
   text[100000] = '\0';
   rkb_log_t *log = open_log(RKB_LOG_INFO, false);
   rkb_log_write(log, RKB_LOG_INFO, "w", NULL, 0, text);
   rkb_log_printf(log, RKB_LOG_INFO, "w", "%s", text);
   char *lines = close_log(log, log_path);
   char *second = strchr(lines, '\n') + 1;
   assert_in_range(second - lines, 4000, 4096);
   second[-1] = '\0';
   assert_in_range(strlen(second), 4000, 4096);
   json_t *value = rkb_json_parse(lines, strlen(lines), &err);
   assert_non_null(value);
   assert_true(json_is_true(json_object_get(value, "cut")));
   json_decref(value);
   free(lines);
   free(text);
}

static void *write_many(void *log) {
   for (int i = 0; i < 500; i++)
      rkb_log_printf(log, RKB_LOG_INFO, "thread", "a line of some length, number %d", i);
   return NULL;
}

static void lines_of_threads_never_mix(void **state) {
   (void)state;
   pthread_t threads[4];
   rkb_error_t err;
   rkb_log_t *log = open_log(RKB_LOG_ERROR, false);
   for (int i = 0; i < 4; i++)
      assert_int_equal(pthread_create(&threads[i], NULL, write_many, log), 0);
   for (int i = 0; i < 4; i++)
      pthread_join(threads[i], NULL);
   char *lines = close_log(log, log_path);
   int count = 0;
   for (char *line = lines, *end; *line; line = end + 1, count++) {
      end = strchr(line, '\n');
      json_t *value = rkb_json_parse(line, (size_t)(end - line), &err);
      assert_non_null(value);
      json_decref(value);
   }
   assert_int_equal(count, 2000);
   free(lines);
}

static void count_call(void *count) {
   ++*(int *)count;
}

static void hooks_surround_text_lines(void **state) {
   (void)state;
   int calls = 0;
   rkb_log_t *log = open_log(RKB_LOG_INFO, false);
   rkb_log_set_hooks(log, count_call, count_call, &calls);
   rkb_log_write(log, RKB_LOG_INFO, "w", NULL, 0, "shown");
   rkb_log_write(log, RKB_LOG_DEBUG, "w", NULL, 0, "not shown");
   free(close_log(log, log_path));
   assert_int_equal(calls, 2);
}

static void a_log_that_cannot_be_opened_says_why(void **state) {
   (void)state;
   rkb_error_t err;
   rkb_log_t *log;
   assert_int_equal(rkb_log_open(RKB_LOG_INFO, false, "/nowhere/log", &log, &err), RKB_ERR_IO);
   assert_string_equal(err.message, "cannot open the log /nowhere/log: No such file or directory");
   rkb_log_close(NULL);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(levels_decide_where_a_line_goes),
                                      cmocka_unit_test(json_lines_survive_any_bytes),
                                      cmocka_unit_test(long_lines_are_cut_and_marked),
                                      cmocka_unit_test(lines_of_threads_never_mix),
                                      cmocka_unit_test(hooks_surround_text_lines),
                                      cmocka_unit_test(a_log_that_cannot_be_opened_says_why)};
   return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
