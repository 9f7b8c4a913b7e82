/* rkb/ext/llm.h - questions to the language models that a pipeline lists under "models:".  Extension "rkb.llm/2"; absent
 * where the pipeline lists none.
 *
 * A question is answered once and for good: its reply is committed to the run's archive before anybody sees it, and asking
 * the same again (after a kill, say) gives the stored reply.  What it can cost at most is reserved, durably, before anything
 * is sent, and limits.cost_usd is never overrun.  Retries, rate limits and money are behind this interface.
 */
#ifndef RKB_EXT_LLM_H
#define RKB_EXT_LLM_H

#include <rkb/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKB_EXT_LLM "rkb.llm/2"

/* How a question ended. */
enum rkb_llm_outcome {
   RKB_LLM_ANSWERED = 1,  /* a whole reply */
   RKB_LLM_TRUNCATED,     /* the reply stops at the output limit; text holds what there is */
   RKB_LLM_REFUSED,       /* the model declined; text holds its words, if any */
   RKB_LLM_FILTERED,      /* the provider's content filter withheld the reply or cut it */
   RKB_LLM_REJECTED,      /* the provider does not take the request: bad key, unknown model, malformed; never retried */
   RKB_LLM_UNREACHABLE,   /* no reply after all retries: network, server errors, rate limits */
   RKB_LLM_UNREADABLE,    /* a reply that is not what the protocol says, or larger than the limit */
   RKB_LLM_OVER_BUDGET,   /* its reservation does not fit under limits.cost_usd any more; nothing was sent */
   RKB_LLM_CANCELLED      /* the job was cancelled or its deadline passed */
};

typedef struct rkb_llm_question {
   uint32_t size;
   uint32_t child;          /* which of the job's questions this is, from 0: part of what names it in the archive */
   const char *model;       /* a name under "models:" */
   const char *system;      /* or NULL */
   const char *user;
   const char *provenance;  /* JSON of rkb_prompt_api_t.fill, or NULL: kept with the call */
   double temperature;      /* negative: as the model's entry says */
   int64_t most_output_tokens; /* 0: as the model's entry says */
} rkb_llm_question_t;

typedef struct rkb_llm_answer {
   uint32_t size;
   uint32_t outcome;        /* enum rkb_llm_outcome */
   const char *text;        /* never NULL; well-formed UTF-8 */
   size_t text_bytes;
   const char *message;     /* one sentence for a person unless the outcome is RKB_LLM_ANSWERED, "" then */
   int64_t input_tokens, cached_tokens, output_tokens, reasoning_tokens; /* negative: not reported */
   double worth_usd;        /* what the reply costs at the model's price, whether or not it was paid now */
   double paid_usd;         /* charged to this run for all its attempts */
   bool estimated;          /* some attempt reported no usage and was charged whole */
   bool replayed;           /* not sent: from the archive, the cache or a cassette */
   double seconds;          /* of the attempt that gave the reply; negative: not known */
} rkb_llm_answer_t;

typedef struct rkb_llm_model {
   const char *name, *provider, *model;
   double input_usd, cached_usd, output_usd; /* per token */
   int64_t most_output_tokens;
} rkb_llm_model_t;

typedef struct rkb_llm_api {
   uint32_t size;
   uint32_t reserved;

   /* Asks and waits, retries and rate limits included; ends early when the job is cancelled or its deadline nears.  RKB_OK
    * means that *answer (owned, free) tells how it ended; any other status is a failure of this program's own: memory, the
    * archive.  [worker] */
   int (*ask)(const rkb_host_t *host, rkb_job_t job, const rkb_llm_question_t *question, rkb_llm_answer_t **answer,
              rkb_error_t *err);
   void (*free)(rkb_llm_answer_t *answer); /* NULL is accepted */

   /* By name; NULL when the pipeline lists no such model.  Until destroy.  [any] */
   const rkb_llm_model_t *(*model)(const rkb_host_t *host, const char *name);
} rkb_llm_api_t;

/* "answered", "truncated", ... */
static inline const char *rkb_llm_outcome_name(uint32_t outcome) {
   static const char *const names[] = {"", "answered", "truncated", "refused", "filtered", "rejected", "unreachable",
                                       "unreadable", "over_budget", "cancelled"};
   return outcome < sizeof names / sizeof names[0] ? names[outcome] : "";
}

#ifdef __cplusplus
}
#endif
#endif
