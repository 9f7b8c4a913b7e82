/* Reads workers: the machines whose GPUs a run measures on, and those whose cores it screens on (pipeline.h).  Loop thread. */
#include "pipeline/pipeline_parts.h"

#include <string.h>

enum { MAX_WORKERS = 64, MAX_WORDS = 30, MAX_VARIABLES = 15, MAX_DEVICES = 256 };

/* A list of texts, NULL-terminated in the arena; NULL with a problem. */
static const char *const *read_words(const rkb_pipeline_t *pipeline, const rkb_yaml_t *list, const char *what,
                                     uint32_t most, rkb_problems_t *problems) {
   if (!rkb_yaml_expect(list, RKB_YAML_LIST, what, problems))
      return NULL;
   if (list->count < 1 || list->count > most) {
      rkb_problem(problems, list->place, "%s takes 1 to %u words, as in [ssh, gpu-host, rkb-worker]", what,
                  most);
      return NULL;
   }
   const char **words = rkb_arena_array(pipeline->arena, list->count + 1, sizeof *words);
   for (uint32_t i = 0; i < list->count; i++)
      if (!rkb_yaml_scalar(list->items[i], what, &words[i], problems))
         return NULL;
   return words;
}

/* Reads a worker: a mapping, or only its command. */
static void read_worker(const rkb_pipeline_t *pipeline, const rkb_yaml_t *yaml, rkb_pipeline_worker_t *worker,
                        rkb_problems_t *problems) {
   const rkb_yaml_t *command = yaml;
   *worker = (rkb_pipeline_worker_t){.count = 0};
   if (yaml->kind != RKB_YAML_LIST) {
      const rkb_yaml_t *count, *environment, *device;
      int64_t value;
      if (!rkb_yaml_expect(yaml, RKB_YAML_MAP, "workers", problems))
         return;
      rkb_pipeline_keys_only(yaml, "a worker", RKB_KEYS_WORKER, problems);
      command = rkb_yaml_get(yaml, "command");
      count = rkb_yaml_get(yaml, "count");
      environment = rkb_yaml_get(yaml, "environment");
      device = rkb_yaml_get(yaml, "device");
      if (!rkb_yaml_is_null(count) && rkb_yaml_int(count, "count", &value, problems)) {
         if (value < 1 || value > MAX_DEVICES)
            rkb_problem(problems, count->place, "count must be from 1 to %d", MAX_DEVICES);
         else
            worker->count = (uint32_t)value;
      }
      if (!rkb_yaml_is_null(environment))
         worker->environment = read_words(pipeline, environment, "environment", MAX_VARIABLES, problems);
      if (!rkb_yaml_is_null(device) && rkb_yaml_scalar(device, "device", &worker->device, problems) &&
          strcmp(worker->device, "none") == 0) {
         worker->device = NULL;
         worker->screens = true;
      }
   }
   if (!rkb_yaml_is_null(command))
      worker->command = read_words(pipeline, command, "command", MAX_WORDS, problems);
}

bool rkb_pipeline_workers_read(rkb_pipeline_t *pipeline, rkb_problems_t *problems) {
   const rkb_yaml_t *workers = rkb_yaml_get(pipeline->root, "workers");
   const uint32_t before = problems->errors;
   if (rkb_yaml_is_null(workers) || !rkb_yaml_expect(workers, RKB_YAML_LIST, "workers", problems))
      return problems->errors == before;
   if (workers->count < 1 || workers->count > MAX_WORKERS) {
      rkb_problem(problems, workers->place, "workers takes 1 to %d machines", MAX_WORKERS);
      return false;
   }
   pipeline->workers = rkb_arena_array(pipeline->arena, workers->count, sizeof *pipeline->workers);
   pipeline->worker_count = workers->count;
   for (uint32_t i = 0; i < workers->count; i++)
      read_worker(pipeline, workers->items[i], &pipeline->workers[i], problems);
   return problems->errors == before;
}
