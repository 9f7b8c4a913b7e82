/* The fixture (llm_fixture.h). */
#include "llm_fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/file.h"

void provider_server_start(provider_server_t *server) {
   int input[2], output[2];
   assert_int_equal(pipe2(input, O_CLOEXEC), 0);
   assert_int_equal(pipe2(output, O_CLOEXEC), 0);
   snprintf(server->folder, sizeof server->folder, "/tmp/rkb-provider-XXXXXX");
   assert_non_null(mkdtemp(server->folder));
   server->process = fork();
   if (server->process == 0) {
      dup2(input[0], STDIN_FILENO);
      dup2(output[1], STDOUT_FILENO);
      execlp("python3", "python3", "-B", RKB_SOURCE_DIR "/tests/llm/server/provider_server.py",
             server->folder, RKB_SOURCE_DIR "/tests/llm/compatible", (char *)NULL);
      _exit(127);
   }
   close(input[0]);
   close(output[1]);
   server->keep_open = input[1];
   FILE *stream = fdopen(output[0], "r");
   assert_int_equal(fscanf(stream, "%d %d", &server->port, &server->tls_port), 2);
   fclose(stream);
}

void provider_server_stop(provider_server_t *server) {
   char command[64];
   close(server->keep_open);
   waitpid(server->process, NULL, 0);
   snprintf(command, sizeof command, "rm -rf '%s'", server->folder);
   assert_int_equal(system(command), 0);
}

static void note_over_budget(void *argument, const char *text) {
   service_t *service = argument;
   snprintf(service->over_budget, sizeof service->over_budget, "%s", text);
}

static int open_on_loop(service_t *service) {
   rkb_error_t *err = &service->error;
   int status = rkb_loop_new(&service->loop, err);
   if (status == RKB_OK)
      rkb_http_new(service->loop, NULL, &service->http, err);
   rkb_llm_options_t options = {.models = service->models,
                                .archive = service->archive,
                                .loop = service->loop,
                                .http = service->http,
                                .log = service->log,
                                .cost_limit = service->cost_limit,
                                .over_budget = note_over_budget,
                                .argument = service};
   return status == RKB_OK ? rkb_llm_open(&options, &service->llm, err) : status;
}

static void *turn(void *argument) {
   service_t *service = argument;
   int status = open_on_loop(service);
   pthread_mutex_lock(&service->mutex);
   service->opened = status == RKB_OK ? 1 : -1;
   pthread_cond_signal(&service->ready);
   pthread_mutex_unlock(&service->mutex);
   if (status == RKB_OK)
      rkb_loop_run(service->loop);
   rkb_llm_close(service->llm);
   rkb_http_free(service->http);
   rkb_loop_free(service->loop);
   return NULL;
}

static void open_archive(service_t *service, const char *directory) {
   rkb_error_t err = {0};
   const rkb_run_identity_t identity = {.name = "test",
                                        .pipeline_hash = "0",
                                        .task = "",
                                        .task_hash = "",
                                        .direction = "",
                                        .target = "",
                                        .objective = ""};
   if (directory) {
      service->directory = strdup(directory);
      assert_int_equal(rkb_archive_resume(directory, NULL, &service->archive, &err), RKB_OK);
      return;
   }
   char name[] = "/tmp/rkb-llm-XXXXXX";
   service->directory = strdup(mkdtemp(name));
   assert_int_equal(rkb_archive_create(service->directory, &identity, &service->archive, &err), RKB_OK);
}

void service_open(service_t *service, const char *models, double cost_limit, const char *directory) {
   rkb_error_t err = {0};
   memset(service, 0, sizeof *service);
   open_archive(service, directory);
   char *path = rkb_run_path_log(service->directory);
   assert_int_equal(rkb_log_open(RKB_LOG_ERROR + 1, false, path, &service->log, &err), RKB_OK);
   free(path);
   service->arena = rkb_arena_new(0);
   rkb_problems_init(&service->problems);
   const rkb_yaml_t *yaml =
      rkb_yaml_parse(service->arena, "models.yaml", models, strlen(models), 1, 1, &service->problems);
   service->models =
      yaml ? rkb_models_read(service->arena, yaml, NULL, cost_limit, NULL, NULL, &service->problems) : NULL;
   if (service->problems.errors) {
      rkb_text_t text;
      rkb_text_init(&text, 1 << 16);
      rkb_problems_write(&service->problems, &text);
      fail_msg("%s", rkb_text_get(&text));
   }
   service->cost_limit = cost_limit;
   pthread_mutex_init(&service->mutex, NULL);
   pthread_cond_init(&service->ready, NULL);
   assert_int_equal(pthread_create(&service->thread, NULL, turn, service), 0);
   pthread_mutex_lock(&service->mutex);
   while (!service->opened)
      pthread_cond_wait(&service->ready, &service->mutex);
   pthread_mutex_unlock(&service->mutex);
   if (service->opened < 0)
      fail_msg("%s", service->error.message);
}

void service_close(service_t *service) {
   rkb_loop_stop(service->loop);
   pthread_join(service->thread, NULL);
   pthread_cond_destroy(&service->ready);
   pthread_mutex_destroy(&service->mutex);
   rkb_archive_close(service->archive);
   rkb_log_close(service->log);
   rkb_problems_free(&service->problems);
   rkb_arena_free(service->arena);
}

void service_remove(service_t *service) {
   char command[256];
   snprintf(command, sizeof command, "rm -rf '%s'", service->directory);
   assert_int_equal(system(command), 0);
   free(service->directory);
}

rkb_llm_answer_t *service_ask(service_t *service, const char *model, int64_t request, int64_t child,
                              const char *text) {
   rkb_error_t err = {0};
   rkb_llm_answer_t *answer = NULL;
   rkb_llm_asker_t asker = {
      .stage = "stage", .section = RKB_SECTION_SEARCH, .request = request, .child = child};
   rkb_llm_question_t question = {
      .size = sizeof question, .model = model, .system = "Be brief.", .user = text, .temperature = -1};
   if (rkb_llm_ask(service->llm, &asker, &question, &answer, &err) != RKB_OK)
      fail_msg("%s", err.message);
   return answer;
}

pid_t run_start(const char *pipeline, const char *directory, bool resume, const char *jobs) {
   static const char program[] = RKB_BINARY_DIR "/bin/rkb-run";
   static const char secret[] = "0000000000000000000000000000000000000000000000000000000000000007";
   pid_t pid = fork();
   if (pid == 0) {
      char path[512];
      snprintf(path, sizeof path, "%s.log", directory);
      if (!freopen(path, "a", stderr) || !freopen("/dev/null", "w", stdout))
         _exit(126);
      execl(program, program, pipeline, resume ? "--resume" : "--out", directory, "--jobs", jobs, "--quiet",
            "--secret", secret, (char *)NULL);
      _exit(127);
   }
   return pid;
}

int run_finish(pid_t pid) {
   int status = 0;
   waitpid(pid, &status, 0);
   return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int run_count(const char *directory, const char *sql) {
   char *path = rkb_run_path_archive(directory);
   sqlite3 *database = NULL;
   sqlite3_stmt *statement = NULL;
   int count = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
                     sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK &&
                     sqlite3_step(statement) == SQLITE_ROW
                  ? sqlite3_column_int(statement, 0)
                  : 0;
   sqlite3_finalize(statement);
   sqlite3_close(database);
   free(path);
   return count;
}

void run_wait_until_asked(const char *directory) {
   for (int i = 0; i < 60000 && run_count(directory, "SELECT count(*) FROM call") == 0; i++)
      usleep(10000);
}

double service_number(const char *directory, const char *sql) {
   char *path = rkb_run_path_archive(directory);
   sqlite3 *database = NULL;
   sqlite3_stmt *statement = NULL;
   assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
   assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
   assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
   double value = sqlite3_column_double(statement, 0);
   sqlite3_finalize(statement);
   sqlite3_close(database);
   free(path);
   return value;
}
