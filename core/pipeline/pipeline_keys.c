/* The table of a pipeline file's keys, and the checks that need only the table. */
#include "pipeline/pipeline_keys.h"

#include <string.h>
#include <rkb/items.h>
#include "base/text.h"

#define SPELL_VALUE(x) #x
#define SPELL(x) SPELL_VALUE(x)

const char *const RKB_BUILD_MEASURES[] = {"registers",   "shared_bytes", "local_bytes",
                                          "spill_bytes", "kernels",      NULL};
const char *const RKB_OVER_CHOICES[] = {"bench", "check", NULL};
const char *const RKB_COMBINE_CHOICES[] = {"geomean", "mean", "max", "sum", NULL};
const char *const RKB_UNKNOWN_CHOICES[] = {"pass", "stop", NULL};
const char *const RKB_ONLY_CHOICES[] = {RKB_ACCEPT, RKB_SUSPECT, RKB_UNKNOWN, NULL};

const rkb_key_t RKB_PIPELINE_KEYS[] = {
   {"rkb", RKB_KEYS_FILE, NULL, NULL, true, "the format's version: `rkb: 1`"},
   {"name", RKB_KEYS_FILE, "the file's name", NULL, false,
    "of the run; its directory is `runs/<name>-<UTC time>`"},
   {"seed", RKB_KEYS_FILE, SPELL(RKB_DEFAULT_SEED), NULL, false,
    "seed of what is proposed; the same seed and secret give the same archive, except for times, on any number of cores"},
   {"task", RKB_KEYS_FILE, NULL, NULL, false,
    "a task directory, relative to the file, or the name of a shipped task; or `--task DIR`"},
   {"direction", RKB_KEYS_FILE, "the task's first", NULL, false, "`forward` or `backward`; or `--direction`"},
   {"target", RKB_KEYS_FILE, NULL, NULL, false, "a device profile, `devices/<name>.yaml`; or `--target`"},
   {"objective", RKB_KEYS_FILE, NULL, NULL, false, "what to minimise, and over which cases"},
   {"minimise", RKB_KEYS_OBJECTIVE, NULL, NULL, true,
    "measurements, `[<entry id>.<name>, ...]`; the first one that the pipeline gives ranks the candidates"},
   {"over", RKB_KEYS_OBJECTIVE, "bench", RKB_OVER_CHOICES, false, "the cases of the task that count"},
   {"combine", RKB_KEYS_OBJECTIVE, "geomean", RKB_COMBINE_CHOICES, false,
    "how the cases' values become one value"},
   {"least", RKB_KEYS_OBJECTIVE, "none", NULL, false,
    "a measurement that says how low the objective can get, as in `model.least_us`; for `limits.within`"},
   {"limits", RKB_KEYS_FILE, "none", NULL, false,
    "when a run ends (at the first limit that it reaches), and what one compile and one check may use"},
   {"candidates", RKB_KEYS_LIMITS, "none", NULL, false,
    "the search ends once it was told of so many candidates, not counting duplicates; what it had asked for by then, up to `window` requests, is tried too"},
   {"calls", RKB_KEYS_LIMITS, "none", NULL, false, "most answered questions to language models"},
   {"generations", RKB_KEYS_LIMITS, "none", NULL, false,
    "most generations; a generation is `window` search requests"},
   {"stale", RKB_KEYS_LIMITS, "none", NULL, false,
    "most search requests in a row without a better candidate"},
   {"within", RKB_KEYS_LIMITS, "none", NULL, false,
    "ends a search whose best candidate is this close to `objective.least`: `0.03` is three percent above it"},
   {"wall", RKB_KEYS_LIMITS, "none", NULL, false, "longest time: `30s`, `10m`, `2h`"},
   {"compile", RKB_KEYS_LIMITS, "80s", NULL, false,
    "processor time that compiling one candidate may use; beyond it the verdict is `unknown tool.compile_time`"},
   {"execute", RKB_KEYS_LIMITS, "90s", NULL, false,
    "work that the checking machine may spend on one candidate, in seconds of a usual processor; checks that it leaves out "
    "then give `unknown limit.budget`"},
   {"execute_memory", RKB_KEYS_LIMITS, "4GiB", NULL, false,
    "memory that the process which checks one candidate may have for each of its threads; beyond it the verdict is `unknown tool.limit`"},
   {"cost_usd", RKB_KEYS_LIMITS, "none", NULL, false,
    "most dollars for language models; rkb reserves them before it spends them"},
   {"models", RKB_KEYS_FILE, "none", NULL, false,
    "language models by name (docs/language-models.md), for stages to refer to"},
   {"workers", RKB_KEYS_FILE, "this machine's GPUs", NULL, false,
    "a list of machines whose GPUs the run measures on, or whose cores it screens on (docs/workers.md), each a command as a list or a mapping; may change on resume"},
   {"command", RKB_KEYS_WORKER, "this machine", NULL, false,
    "the words that start `rkb-worker` there, as in `[ssh, gpu-host, rkb-worker]`; the device's number is appended. With `device: none` the words that start `rkb-screen-worker`"},
   {"count", RKB_KEYS_WORKER, "all", NULL, false,
    "how many of its GPUs to use, from the first on; with `device: none` how many candidates to screen there at the same time (default 1)"},
   {"device", RKB_KEYS_WORKER, "any", NULL, false,
    "the class that its GPUs must be of, as in `NVIDIA H200`; `none` for a machine that screens: it builds and judges candidates and needs no GPU"},
   {"environment", RKB_KEYS_WORKER, "none", NULL, false,
    "names of variables that the command gets, as in `[HOME, SSH_AUTH_SOCK]`"},
   {"plugins", RKB_KEYS_FILE, "none", NULL, false,
    "shared objects to load in addition to those that rkb finds (below)"},
   {"propose", RKB_KEYS_FILE, NULL, NULL, false, "a list of translators that give the first candidates"},
   {"screen", RKB_KEYS_FILE, NULL, NULL, false,
    "a list of verifiers and profilers that need no GPU, cheap ones first"},
   {"promote", RKB_KEYS_FILE, "all continue", NULL, false,
    "which candidates continue to `evaluate`, as in `{keep: 4, of: 8, by: model.predicted_us}`"},
   {"keep", RKB_KEYS_PROMOTE, NULL, NULL, true, "how many candidates to promote, the best first"},
   {"of", RKB_KEYS_PROMOTE, NULL, NULL, true, "from how many search requests; must divide `window`"},
   {"by", RKB_KEYS_PROMOTE, NULL, NULL, true, "the measurement that decides, from the screen"},
   {"evaluate", RKB_KEYS_FILE, NULL, NULL, false,
    "a list of stages for promoted candidates; they may use a GPU"},
   {"search", RKB_KEYS_FILE, "no search", NULL, false, "the strategy that asks for new candidates"},
   {"window", RKB_KEYS_SEARCH, SPELL(RKB_DEFAULT_WINDOW), NULL, false,
    "requests in flight; request n sees the results of requests up to n - `window`"},
   {"operators", RKB_KEYS_SEARCH, NULL, NULL, true,
    "a list of the mutators and translators that the strategy asks"},
   {"arms", RKB_KEYS_FILE, NULL, NULL, false,
    "what a sweep compares: names, each with paths and values, as in `{narrow: {search.window: 4}, plain: {}}`"},
   {"matrix", RKB_KEYS_FILE, NULL, NULL, false,
    "paths with lists of values: a sweep runs every combination, `rkb validate` lists them"},
   {"seeds", RKB_KEYS_FILE, NULL, NULL, false,
    "the seeds of a sweep: a list, or how many, from `seed` on; every combination runs with each"},
   {"extends", RKB_KEYS_FILE, NULL, NULL, false,
    "the file, or the name of a shipped pipeline, that this file changes (below)"},
   {"set", RKB_KEYS_FILE, NULL, NULL, false, "values by path; they replace those of the extended file"},
   {"remove", RKB_KEYS_FILE, NULL, NULL, false, "ids of entries to remove from the extended file"},
   {"insert", RKB_KEYS_FILE, NULL, NULL, false,
    "a list of entries to add to the extended file, each with its place:"},
   {"after", RKB_KEYS_INSERT, NULL, NULL, false, "the id of the entry to put it after"},
   {"before", RKB_KEYS_INSERT, NULL, NULL, false, "or the id of the entry to put it before"},
   {"into", RKB_KEYS_INSERT, NULL, NULL, false,
    "or the list to append it to: propose, screen, evaluate, operators"},
   {"stage", RKB_KEYS_INSERT, NULL, NULL, true, "the entry"},

   {"use", RKB_KEYS_ENTRY | RKB_KEYS_SEARCH, NULL, NULL, true,
    "which stage: `<owner>.<kind>.<name>`; `rkb plugins` lists them"},
   {"id", RKB_KEYS_ENTRY | RKB_KEYS_SEARCH, "the last word of `use`", NULL, false,
    "the entry's name in `needs`, `--set`, measurements (`model.predicted_us`) and the archive; it must be unique"},
   {"with", RKB_KEYS_ENTRY | RKB_KEYS_SEARCH, NULL, NULL, false,
    "the stage's own options: `rkb help STAGE`, docs/options.md"},
   {"needs", RKB_KEYS_STAGE, "the entry before", NULL, false,
    "ids of entries that must finish first; with `[]` it starts with its section, so stages run side by side"},
   {"only", RKB_KEYS_STAGE, "all that passed", RKB_ONLY_CHOICES, false,
    "a list: which candidates it sees, by their standing so far; `[]` switches it off"},
   {"sample", RKB_KEYS_STAGE, "0", NULL, false,
    "share of the candidates outside `only` that it also sees, as shadow; they include rejected candidates whose build ran"},
   {"shadow", RKB_KEYS_STAGE, "false", NULL, false,
    "true: it runs and its results are recorded, but it decides nothing"},
   {"on_unknown", RKB_KEYS_STAGE, "pass", RKB_UNKNOWN_CHOICES, false,
    "whether its verdict unknown stops a candidate"},
   {"jobs", RKB_KEYS_ENTRY, "one a core", NULL, false, "how many jobs at a time"},
   {"deadline", RKB_KEYS_ENTRY, SPELL(RKB_DEFAULT_DEADLINE_MINUTES) "m", NULL, false,
    "time for one job; after it, rkb cancels the job"},
   {"retries", RKB_KEYS_ENTRY, SPELL(RKB_DEFAULT_RETRIES), NULL, false,
    "how often to try again after a tool broke; a wrong kernel is never tried again"},
   {"requests", RKB_KEYS_PROPOSED, SPELL(RKB_DEFAULT_REQUESTS), NULL, false, "how many requests it gets"},
   {"weight", RKB_KEYS_OPERATOR, SPELL(RKB_DEFAULT_WEIGHT), NULL, false,
    "how often the strategy asks it, relative to the others; an operator with weight 0 is left out"},
   {NULL, 0, NULL, NULL, false, NULL},
};

void rkb_pipeline_keys_only(const rkb_yaml_t *map, const char *what, uint32_t of, rkb_problems_t *problems) {
   rkb_keys_only(RKB_PIPELINE_KEYS, map, what, of, problems);
}

int32_t rkb_pipeline_choice(const rkb_yaml_t *node, const char *key, const char *const *choices,
                            rkb_problems_t *problems) {
   const char *text;
   rkb_text_t list;
   if (!rkb_yaml_scalar(node, key, &text, problems))
      return -1;
   rkb_text_init(&list, 256);
   for (int32_t i = 0; choices[i]; i++) {
      if (strcmp(choices[i], text) == 0) {
         rkb_text_free(&list);
         return i;
      }
      rkb_text_format(&list, "%s%s", i == 0 ? "" : choices[i + 1] ? ", " : " or ", choices[i]);
   }
   rkb_problem(problems, node->place, "%s is '%.60s'; write %s", key, text, rkb_text_get(&list));
   rkb_text_free(&list);
   return -1;
}
