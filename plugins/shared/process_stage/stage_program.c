/* The program behind a process stage (stage_program.h). */
#include "process_stage/stage_program.h"

#include <stdlib.h>
#include <string.h>
#include "process_stage/stage_answer.h"

#define LINE_LIMIT ((size_t)32 << 20) /* 64 candidates of 256 KiB, with room for escapes */

const rkb_option_t PROCESS_OPTIONS[4] = {
   {.name = "command",
    .type = RKB_OPT_STRINGS,
    .flags = RKB_OPT_REQUIRED,
    .offset = offsetof(process_config_t, command),
    .help = "The program and its arguments, as a list; a program without a slash is looked up on PATH."},
   {.name = "environment",
    .type = RKB_OPT_STRINGS,
    .offset = offsetof(process_config_t, environment),
    .fallback = "[]",
    .help = "Names of variables that the program gets besides PATH."},
   {.name = "folder",
    .type = RKB_OPT_PATH,
    .flags = RKB_OPT_REQUIRED,
    .offset = offsetof(process_config_t, folder),
    .help = "The program's working directory, against the pipeline's file; `.` is the folder that holds it."},
   {.name = "wait",
    .type = RKB_OPT_DURATION,
    .offset = offsetof(process_config_t, wait_ns),
    .fallback = "60s",
    .min = 0.001,
    .max = 86400,
    .help = "The longest wait for an answer; the stage's deadline may come sooner."},
};

static int read_greeting(void *argument, const char *line, size_t bytes, rkb_error_t *err) {
   (void)argument;
   return answer_check_greeting(line, bytes, PROCESS_PROTOCOL, err);
}

int stage_program_open(stage_program_t *program, const rkb_host_t *host, const process_config_t *config, const char *kind, json_t *setup,
                       rkb_error_t *err) {
   *program = (stage_program_t){.host = host,
                                .api = host->get_extension(host, RKB_EXT_CONVERSATION),
                                .random = host->get_extension(host, RKB_EXT_RANDOM)};
   json_t *greeting = json_pack("{s:i, s:s, s:s, s:o*}", "rkb_stage", PROCESS_PROTOCOL, "kind", kind, "id", host->instance_name, "setup",
                                setup);
   char *line = greeting ? json_dumps(greeting, JSON_COMPACT) : NULL;
   json_decref(greeting);
   if (!line)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   const rkb_conversation_spec_t spec = {.size = sizeof spec,
                                         .command = config->command,
                                         .environment = config->environment,
                                         .directory = config->folder,
                                         .greeting = line,
                                         .greeted = read_greeting,
                                         .wait_ns = config->wait_ns,
                                         .line_limit = LINE_LIMIT};
   const int status = program->api->open(host, &spec, &program->conversation, err);
   free(line);
   return status;
}

void stage_program_close(stage_program_t *program) {
   program->api->close(program->conversation);
}

typedef struct expected {
   json_int_t number;
   stage_answer_use_t use;
   void *argument;
} expected_t;

static int read_answer(void *argument, const char *line, size_t bytes, rkb_error_t *err) {
   const expected_t *expected = argument;
   json_t *answer = NULL;
   int status = answer_parse(line, bytes, expected->number, &answer, err);
   if (status == RKB_OK)
      status = expected->use(expected->argument, answer, err);
   json_decref(answer);
   return status;
}

/* Puts the subject of the question in front of the message. */
static int name_subject(const char *about, int status, rkb_error_t *err) {
   rkb_error_t told = *err;
   told.message[sizeof told.message - 1] = '\0';
   return rkb_fail(err, status, "%.80s: %.360s", about, told.message);
}

int stage_program_ask(stage_program_t *program, rkb_job_t job, json_t *question, const char *about, stage_answer_use_t use, void *argument,
                      rkb_error_t *err) {
   expected_t expected = {json_integer_value(json_object_get(question, "question")), use, argument};
   char *line = question ? json_dumps(question, JSON_COMPACT) : NULL;
   json_decref(question);
   if (!line)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   const int status = program->api->ask(program->host, program->conversation, job, line, read_answer, &expected, err);
   free(line);
   return status == RKB_OK || !about[0] ? status : name_subject(about, status, err);
}

json_int_t stage_program_seed(const stage_program_t *program, rkb_job_t job) {
   rkb_random_t stream = program->random->for_job(program->host, job, 0);
   /* 53 bits, so that JSON in every language keeps the number. */
   return (json_int_t)(program->random->next(&stream) >> 11);
}

int process_stage_create(const rkb_host_t *host, const process_config_t *config, const char *kind, void **self, rkb_error_t *err) {
   stage_program_t *me = malloc(sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   const int status = stage_program_open(me, host, config, kind, NULL, err);
   if (status != RKB_OK)
      free(me);
   else
      *self = me;
   return status;
}

void process_stage_destroy(void *self) {
   stage_program_close(self);
   free(self);
}
