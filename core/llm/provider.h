/* What differs between providers' protocols: how a question is written, and how a reply is read.  Pure
 * functions over JSON, any thread; the sending is http_exchange.c's. */
#ifndef RKB_LLM_PROVIDER_H
#define RKB_LLM_PROVIDER_H

#include "base/json.h"
#include "base/text.h"
#include "llm/model_entry.h"

/* A reply as far as it was read. */
typedef struct rkb_reply {
   rkb_text_t text;
   rkb_text_t refusal; /* the model's own words when it declines */
   rkb_text_t
      trouble; /* what the provider said went wrong; whole, keys and all: ask.c makes it fit for people */
   int64_t input_tokens, cached_tokens, output_tokens, reasoning_tokens; /* negative: not reported */
   uint64_t retry_after_ns; /* as an error's body asks, where headers do not; 0: it does not */
   bool usage_final;        /* the usage is that of the whole reply */
   bool finished;           /* the protocol's own end was seen */
   bool truncated, refused, filtered;
   bool failed;     /* an error inside the stream */
   bool unreadable; /* something that the protocol does not know */
} rkb_reply_t;

typedef struct rkb_provider {
   const char *name;     /* as in "provider:", and in the price table */
   const char *base_url; /* default, or NULL: must be given */
   bool takes_key;       /* a key is usual: its absence is an error unless base_url was given */
   /* The request; NULL when memory is out. */
   json_t *(*body)(const rkb_model_t *model, const rkb_llm_question_t *question);
   /* Path below base_url. */
   void (*path)(const rkb_model_t *model, rkb_text_t *out);
   /* "Name: value" of the header that carries the key, and others the protocol wants for that question, one a line. */
   void (*headers)(const rkb_model_t *model, const rkb_llm_question_t *question, const char *key,
                   rkb_text_t *out);
   /* One event of a stream, and a whole reply; set members of reply, unreadable included. */
   void (*event)(rkb_reply_t *reply, const char *type, const char *data, size_t bytes);
   void (*whole)(rkb_reply_t *reply, const json_t *root);
} rkb_provider_t;

extern const rkb_provider_t rkb_provider_openai, rkb_provider_anthropic, rkb_provider_gemini,
   rkb_provider_openai_responses, rkb_provider_command;

/* NULL-terminated. */
extern const rkb_provider_t *const rkb_providers[];

void rkb_reply_init(rkb_reply_t *reply);
void rkb_reply_free(rkb_reply_t *reply);
/* Parses a whole body and reads it. */
void rkb_reply_whole(rkb_reply_t *reply, const rkb_provider_t *provider, const char *body, size_t bytes);
/* Adds the message of an error reply of any of these protocols ({"error": {"message": ...}}), or its body, to
 * reply->trouble; and reads how long it asks to wait. */
void rkb_reply_trouble(rkb_reply_t *reply, const char *body, size_t bytes);

/* Helpers of the readers: absent and mistyped members give "", or leave *value. */
const char *rkb_json_text_of(const json_t *object, const char *key);
void rkb_json_count_of(const json_t *object, const char *key, int64_t *value);
/* Tokens the question may produce: its own, or its model's. */
int64_t rkb_question_output(const rkb_model_t *model, const rkb_llm_question_t *question);
double rkb_question_temperature(const rkb_model_t *model,
                                const rkb_llm_question_t *question); /* negative: not sent */

#endif
