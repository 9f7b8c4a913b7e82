/* The table of a pipeline file's keys, and the checks that need nothing else. */
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
    "of every random stream; the same seed gives the same archive, times apart, whatever the number of cores"},
   {"task", RKB_KEYS_FILE, NULL, NULL, false, "a task directory, relative to the file, or the name of a shipped task; or `--task DIR`"},
   {"direction", RKB_KEYS_FILE, "the task's first", NULL, false, "`forward` or `backward`; or `--direction`"},
   {"target", RKB_KEYS_FILE, NULL, NULL, false, "a device profile, `devices/<name>.yaml`; or `--target`"},
   {"objective", RKB_KEYS_FILE, NULL, NULL, false, "what is made small, and over which cases"},
   {"minimise", RKB_KEYS_OBJECTIVE, NULL, NULL, true,
    "measurements, `[<entry id>.<name>, ...]`: the first that the pipeline can give ranks candidates"},
   {"over", RKB_KEYS_OBJECTIVE, "bench", RKB_OVER_CHOICES, false, "the task's cases that count"},
   {"combine", RKB_KEYS_OBJECTIVE, "geomean", RKB_COMBINE_CHOICES, false, "how their values become one"},
   {"limits", RKB_KEYS_FILE, "none", NULL, false, "when a run ends (the first one that is reached counts), and what one compile may use"},
   {"candidates", RKB_KEYS_LIMITS, "none", NULL, false, "so many, duplicates not counted"},
   {"generations", RKB_KEYS_LIMITS, "none", NULL, false, "so many times `window` search requests"},
   {"stale", RKB_KEYS_LIMITS, "none", NULL, false,
    "so many search requests in a row without a better candidate"},
   {"wall", RKB_KEYS_LIMITS, "none", NULL, false, "a duration: `30s`, `10m`, `2h`"},
   {"compile", RKB_KEYS_LIMITS, "8s", NULL, false,
    "processor time that compiling one candidate may use, `limit.time` beyond it; more on a slow or busy machine"},
   {"cost_usd", RKB_KEYS_LIMITS, "none", NULL, false,
    "dollars for language models, reserved before they are spent"},
   {"models", RKB_KEYS_FILE, "none", NULL, false,
    "language models by name (docs/language-models.md); stages refer to the names"},
   {"plugins", RKB_KEYS_FILE, "none", NULL, false, "shared objects to load besides those found (below)"},
   {"propose", RKB_KEYS_FILE, NULL, NULL, false, "a list of translators that give the first candidates"},
   {"screen", RKB_KEYS_FILE, NULL, NULL, false,
    "a list of verifiers and profilers that need no GPU, cheap ones first"},
   {"promote", RKB_KEYS_FILE, "all go on", NULL, false,
    "which candidates go on to `evaluate`, as in `{keep: 4, of: 8, by: model.predicted_us}`"},
   {"keep", RKB_KEYS_PROMOTE, NULL, NULL, true, "the best so many"},
   {"of", RKB_KEYS_PROMOTE, NULL, NULL, true, "of each so many search requests; divides `window`"},
   {"by", RKB_KEYS_PROMOTE, NULL, NULL, true, "a measurement that the screen gives"},
   {"evaluate", RKB_KEYS_FILE, NULL, NULL, false, "a list of stages for those that were promoted: on a GPU"},
   {"search", RKB_KEYS_FILE, "no search", NULL, false, "how new candidates are asked for"},
   {"window", RKB_KEYS_SEARCH, SPELL(RKB_DEFAULT_WINDOW), NULL, false,
    "requests in flight: request n sees the results of those up to n - `window`"},
   {"operators", RKB_KEYS_SEARCH, NULL, NULL, true, "a list of the mutators and translators that it asks"},
   {"matrix", RKB_KEYS_FILE, NULL, NULL, false,
    "paths with lists of values; `rkb validate` lists and checks the combinations, each is run with `--set`"},
   {"extends", RKB_KEYS_FILE, NULL, NULL, false, "the file, or the name of a shipped pipeline, that this one differs from (below)"},
   {"set", RKB_KEYS_FILE, NULL, NULL, false, "values by path, put over what `extends` gave"},
   {"remove", RKB_KEYS_FILE, NULL, NULL, false, "ids of entries that are left out of what `extends` gave"},
   {"insert", RKB_KEYS_FILE, NULL, NULL, false,
    "a list of entries that are added to it, each with its place:"},
   {"after", RKB_KEYS_INSERT, NULL, NULL, false, "the id of the entry before it"},
   {"before", RKB_KEYS_INSERT, NULL, NULL, false, "or the id of the entry behind it"},
   {"into", RKB_KEYS_INSERT, NULL, NULL, false,
    "or the list it becomes the last of: propose, screen, evaluate, operators"},
   {"stage", RKB_KEYS_INSERT, NULL, NULL, true, "the entry"},

   {"use", RKB_KEYS_ENTRY | RKB_KEYS_SEARCH, NULL, NULL, true,
    "which stage: `<owner>.<kind>.<name>`; `rkb plugins` lists them"},
   {"id", RKB_KEYS_ENTRY | RKB_KEYS_SEARCH, "the last word of `use`", NULL, false,
    "its name in `needs`, `--set`, measurements (`model.predicted_us`) and the archive; two equal ones are an error"},
   {"with", RKB_KEYS_ENTRY | RKB_KEYS_SEARCH, NULL, NULL, false,
    "the stage's own options: `rkb help STAGE`, docs/options.md"},
   {"needs", RKB_KEYS_STAGE, "the entry before", NULL, false,
    "ids that must be through; `[]`: the start of its section, so that stages run side by side"},
   {"only", RKB_KEYS_STAGE, "all that passed", RKB_ONLY_CHOICES, false,
    "a list: the candidates it sees, by standing so far"},
   {"sample", RKB_KEYS_STAGE, "0", NULL, false,
    "share of what `only` leaves out that runs as shadow, candidates that were built and rejected among it"},
   {"shadow", RKB_KEYS_STAGE, "false", NULL, false, "runs and is recorded, and decides nothing"},
   {"on_unknown", RKB_KEYS_STAGE, "pass", RKB_UNKNOWN_CHOICES, false,
    "whether its unknown verdict ends a candidate"},
   {"jobs", RKB_KEYS_ENTRY, "one a core", NULL, false, "how many at a time"},
   {"deadline", RKB_KEYS_ENTRY, SPELL(RKB_DEFAULT_DEADLINE_MINUTES) "m", NULL, false,
    "for one job; past it the job is cancelled"},
   {"retries", RKB_KEYS_ENTRY, SPELL(RKB_DEFAULT_RETRIES), NULL, false,
    "of a broken tool, never of a wrong kernel"},
   {"requests", RKB_KEYS_PROPOSED, SPELL(RKB_DEFAULT_REQUESTS), NULL, false, "how often it is asked"},
   {"weight", RKB_KEYS_OPERATOR, SPELL(RKB_DEFAULT_WEIGHT), NULL, false,
    "how often it is asked, against the others"},
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
