/* A mutator: one call of a precise function, drawn by chance, becomes the fast one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rkb/ext/kernel.h>
#include <rkb/ext/random.h>
#include <rkb/items.h>

enum { MOST_CALLS = 256 };

typedef struct fast_call {
   const rkb_host_t *host;
   const rkb_kernel_api_t *kernel;
   const rkb_random_api_t *random;
} fast_call_t;

static int fast_call_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   (void)config;
   fast_call_t *me = malloc(sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   *me = (fast_call_t){host, host->get_extension(host, RKB_EXT_KERNEL), host->get_extension(host, RKB_EXT_RANDOM)};
   *self = me;
   return RKB_OK;
}

/* Tokens, not text: a name in a comment or a string is no call. */
static uint32_t find_calls(const fast_call_t *me, const char *source, rkb_token_t calls[MOST_CALLS]) {
   uint32_t count = 0, found = 0;
   rkb_tokens_t *tokens = me->kernel->tokens(source, strlen(source));
   const rkb_token_t *token = tokens ? me->kernel->tokens_at(tokens, &count) : NULL;
   for (uint32_t i = 0; i < count && found < MOST_CALLS; i++)
      if (token[i].kind == RKB_TOKEN_IDENTIFIER && token[i].length == 4 &&
          (memcmp(source + token[i].start, "expf", 4) == 0 || memcmp(source + token[i].start, "logf", 4) == 0))
         calls[found++] = token[i];
   if (tokens)
      me->kernel->tokens_free(tokens);
   return found;
}

static int fast_call_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const fast_call_t *me = self;
   const rkb_item_t *parent = me->host->item_reference(me->host, in, "parent", 0);
   const char *source = parent ? me->host->item_text(me->host, parent, "source") : NULL;
   rkb_token_t calls[MOST_CALLS];
   if (!source)
      return rkb_fail(err, RKB_ERR_INVALID, "a parent is needed");
   const uint32_t count = find_calls(me, source, calls);
   if (!count)
      return RKB_OK; /* nothing to try: no candidate, and no failure either */
   rkb_random_t stream = me->random->for_job(me->host, job, 0);
   const rkb_token_t *call = &calls[me->random->below(&stream, count)];
   char note[64], *text = malloc(strlen(source) + 3);
   if (!text)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   sprintf(text, "%.*s__%s", (int)call->start, source, source + call->start);
   snprintf(note, sizeof note, "__%.4s in line %u", source + call->start, call->line);
   const int status =
      rkb_emit_candidate(me->host, job, text, me->host->item_json(me->host, parent, "tune"), note, &parent, 1);
   free(text);
   return status == RKB_OK ? RKB_OK : rkb_fail(err, status, "cannot emit the candidate");
}

static void fast_call_destroy(void *self) {
   free(self);
}

static const rkb_stage_t fast_call = {
   .size = sizeof(rkb_stage_t), .kind = RKB_MUTATOR, .flags = RKB_STAGE_DETERMINISTIC,
   .id = "outside.mutator.fast_call", .summary = "One precise call becomes the fast one.",
   .accepts = (const char *const[]){RKB_ITEM_REQUEST, NULL},
   .emits = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .create = fast_call_create, .run = fast_call_run, .destroy = fast_call_destroy,
   .needs = (const char *const[]){RKB_EXT_KERNEL, RKB_EXT_RANDOM, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD, .name = "fast_call", .version = "1.0", .stages = (const rkb_stage_t *const[]){&fast_call, NULL},
};
