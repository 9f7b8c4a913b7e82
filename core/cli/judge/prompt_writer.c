/* Asks a model for another prompt (prompt_writer.h). */
#include "cli/judge/prompt_writer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/shipped_files.h"
#include "llm/llm.h"
#include "pipeline/pipeline.h"
#include "prompt/prompt.h"

enum { MAX_PROMPT = 256 << 10 };
static const char BEGIN[] = "<prompt>\n", END[] = "\n</prompt>", STAGE[] = "prompt_writer";

/* The language model service for one question and the objects that it needs, opened in this order. */
typedef struct desk {
   rkb_arena_t *arena;
   rkb_models_t *models;
   rkb_archive_t *archive;
   rkb_log_t *log;
   rkb_loop_t *loop;
   rkb_http_t *http;
   rkb_llm_t *llm;
   rkb_llm_asker_t asker;
   rkb_llm_question_t question;
   rkb_llm_answer_t *answer;
   int status;
   rkb_error_t error;
} desk_t;

static int open_models(desk_t *desk, const rkb_prompt_writer_t *writer, rkb_error_t *err) {
   rkb_problems_t problems;
   const rkb_pipeline_options_t options = {.path = writer->pipeline};
   rkb_problems_init(&problems);
   desk->models = rkb_pipeline_read_models(desk->arena, &options, writer->model, writer->cost_usd, &problems);
   int status = rkb_problems_error(&problems, err);
   rkb_problems_free(&problems);
   if (status == RKB_OK && !rkb_models_find(desk->models, writer->model))
      status = rkb_fail(err, RKB_ERR_INVALID, "%s names no model '%s'", writer->pipeline, writer->model);
   return status;
}

static int open_archive(desk_t *desk, const rkb_prompt_writer_t *writer, rkb_error_t *err) {
   const rkb_run_identity_t identity = {.name = STAGE,
                                        .pipeline_hash = "",
                                        .task = "",
                                        .task_hash = "",
                                        .direction = "",
                                        .target = "",
                                        .objective = ""};
   char *database = rkb_run_path_archive(writer->directory);
   int status = rkb_make_directories(writer->directory, err);
   if (status == RKB_OK)
      status = rkb_path_exists(database)
                  ? rkb_archive_resume(writer->directory, NULL, &desk->archive, err)
                  : rkb_archive_create(writer->directory, &identity, &desk->archive, err);
   free(database);
   return status;
}

static int open_desk(desk_t *desk, const rkb_prompt_writer_t *writer, rkb_error_t *err) {
   desk->arena = rkb_arena_new(0);
   int status = open_models(desk, writer, err);
   if (status == RKB_OK)
      status = open_archive(desk, writer, err);
   if (status == RKB_OK)
      status = rkb_log_open(RKB_LOG_WARN, false, NULL, &desk->log, err);
   if (status == RKB_OK)
      status = rkb_loop_new(&desk->loop, err);
   if (status == RKB_OK && rkb_models_need_http(desk->models))
      status = rkb_http_new(desk->loop, NULL, &desk->http, err);
   const rkb_llm_options_t options = {.models = desk->models,
                                      .archive = desk->archive,
                                      .loop = desk->loop,
                                      .http = desk->http,
                                      .log = desk->log,
                                      .cost_limit = writer->cost_usd};
   return status == RKB_OK ? rkb_llm_open(&options, &desk->llm, err) : status;
}

static void close_desk(desk_t *desk) {
   rkb_llm_answer_free(desk->answer);
   rkb_llm_close(desk->llm);
   rkb_http_free(desk->http);
   rkb_loop_free(desk->loop);
   rkb_log_close(desk->log);
   rkb_archive_close(desk->archive);
   rkb_arena_free(desk->arena);
}

static void stop_loop(void *argument) {
   rkb_loop_stop(argument);
}

/* [runs on its own thread] */
static void *ask(void *argument) {
   desk_t *desk = argument;
   desk->status = rkb_llm_ask(desk->llm, &desk->asker, &desk->question, &desk->answer, &desk->error);
   if (rkb_loop_post(desk->loop, stop_loop, desk->loop) != RKB_OK)
      rkb_end_without_memory(0); /* otherwise the loop would never end */
   return NULL;
}

static int ask_and_wait(desk_t *desk, rkb_error_t *err) {
   pthread_t thread;
   if (pthread_create(&thread, NULL, ask, desk) != 0)
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "no thread for the question to the writer");
   rkb_loop_run(desk->loop);
   pthread_join(thread, NULL);
   if (desk->status != RKB_OK) {
      *err = desk->error;
      return desk->status;
   }
   if (desk->answer->outcome != RKB_LLM_ANSWERED)
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "the writer gave no prompt: %.300s", desk->answer->message);
   return RKB_OK;
}

/* Fills the question from the shipped prompts/rejudge.md. */
static int fill(const rkb_prompt_writer_t *writer, uint32_t round, const char *prompt,
                const rkb_mistake_t *mistakes, uint32_t count, rkb_filled_prompt_t **filled,
                rkb_error_t *err) {
   rkb_slot_entry_t entries[RKB_MAX_SLOT_ENTRIES] = {0},
                    before = {.text = prompt, .label = "the judge's prompt", .fenced = true};
   char *folder = rkb_find_data("pipelines"),
        *path = folder ? rkb_path_join(folder, "prompts/rejudge.md") : NULL, *text = NULL;
   char hash[RKB_HASH_TEXT];
   size_t length = 0;
   uint32_t shown = count < RKB_MAX_SLOT_ENTRIES ? count : RKB_MAX_SLOT_ENTRIES;
   for (uint32_t i = 0; i < shown; i++)
      entries[i] = (rkb_slot_entry_t){.text = mistakes[i].text, .label = mistakes[i].label, .fenced = true};
   int status =
      path ? rkb_file_read(path, MAX_PROMPT, &text, &length, err)
           : rkb_fail(err, RKB_ERR_UNAVAILABLE, "the shipped pipelines/prompts/rejudge.md is not there");
   if (status == RKB_OK) {
      const rkb_slot_value_t values[] = {{.name = "prompt", .entries = &before, .count = 1},
                                         {.name = "mistakes", .entries = entries, .count = shown}};
      rkb_random_t marker = rkb_random_stream(writer->seed, STAGE, round, 0);
      rkb_hash_text(text, length, hash);
      const rkb_prompt_t file = {.path = path, .text = text, .hash = hash};
      status = rkb_prompt_fill(&file, values, 2, &marker, filled, err);
   }
   free(text);
   free(path);
   free(folder);
   return status;
}

/* Checks that the text is a prompt whose slots all occur in another prompt. */
static int check(const char *text, const char *other, rkb_error_t *err) {
   const char *names[RKB_MAX_SLOTS + 1] = {NULL};
   rkb_arena_t *arena = rkb_arena_new(0);
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   const rkb_template_t *before = rkb_template_parse(arena, "the best prompt so far", other, NULL, &problems);
   for (uint32_t i = 0; before && i < before->slot_count; i++)
      names[i] = before->slots[i].name;
   if (before)
      rkb_template_parse(arena, "the written prompt", text, names, &problems);
   int status = rkb_problems_error(&problems, err);
   rkb_problems_free(&problems);
   rkb_arena_free(arena);
   return status == RKB_OK ? RKB_OK : RKB_ERR_UNAVAILABLE;
}

/* The prompt in a reply: between the last <prompt> and the </prompt> after it, or NULL. */
static char *find_prompt(const char *reply) {
   const char *begin = NULL, *end;
   for (const char *at = strstr(reply, BEGIN); at; at = strstr(at + 1, BEGIN))
      begin = at + strlen(BEGIN);
   end = begin ? strstr(begin, END) : NULL;
   return end && end - begin < MAX_PROMPT ? rkb_duplicate_part(begin, (size_t)(end - begin) + 1) : NULL;
}

int rkb_prompt_writer_ask(const rkb_prompt_writer_t *writer, uint32_t round, const char *prompt,
                          const rkb_mistake_t *mistakes, uint32_t count, char **written, rkb_error_t *err) {
   rkb_filled_prompt_t *filled = NULL;
   desk_t desk = {0};
   *written = NULL;
   int status = fill(writer, round, prompt, mistakes, count, &filled, err);
   if (status == RKB_OK)
      status = open_desk(&desk, writer, err);
   if (status == RKB_OK) {
      desk.asker = (rkb_llm_asker_t){.stage = STAGE, .section = RKB_SECTION_SEARCH, .request = round};
      desk.question = (rkb_llm_question_t){.size = sizeof desk.question,
                                           .model = writer->model,
                                           .system = filled->system,
                                           .user = filled->user,
                                           .provenance = filled->provenance,
                                           .temperature = -1};
      status = ask_and_wait(&desk, err);
   }
   if (status == RKB_OK) {
      *written = find_prompt(desk.answer->text);
      status = *written ? check(*written, prompt, err)
                        : rkb_fail(err, RKB_ERR_UNAVAILABLE,
                                   "the writer's reply has no prompt between <prompt> and </prompt>");
   }
   if (status != RKB_OK) {
      free(*written);
      *written = NULL;
   }
   close_desk(&desk);
   rkb_prompt_filled_free(filled);
   return status;
}
