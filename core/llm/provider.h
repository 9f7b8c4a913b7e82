/* The differences between providers' protocols: how a question is written and how a reply is read.  Pure functions over JSON; any thread.  http_exchange.c
 * sends the question. */
#ifndef RKB_LLM_PROVIDER_H
#define RKB_LLM_PROVIDER_H

#include <time.h>
#include "base/json.h"
#include "base/text.h"
#include "llm/model_entry.h"

/* A reply, as far as it has been read. */
typedef struct rkb_reply {
   rkb_text_t text;
   rkb_text_t refusal; /* the model's own words when it declines */
   /* The provider's error message, complete and possibly with keys; ask.c removes keys and shortens it. */
   rkb_text_t trouble;
   int64_t input_tokens, cached_tokens, output_tokens, reasoning_tokens; /* negative: not reported */
   uint64_t retry_after_ns; /* the wait that an error's body asks for; 0: none */
   bool usage_final;        /* the usage covers the whole reply */
   bool finished;           /* the protocol's end marker was seen */
   bool truncated, refused, filtered;
   bool failed;     /* an error came inside the stream */
   bool unreadable; /* the reply does not follow the protocol */
} rkb_reply_t;

/* A question about to be sent; everything is borrowed. */
typedef struct rkb_provider_request {
   const rkb_model_t *model;
   const rkb_llm_question_t *question;
   const char *key;       /* or NULL */
   const char *url;       /* as sent */
   const char *body;      /* as sent */
   time_t now;            /* the time of the request, for signatures that expire */
} rkb_provider_request_t;

enum rkb_address_from {
   RKB_ADDRESS_KNOWN,  /* base_url has a default */
   RKB_ADDRESS_REGION, /* base_url follows from region: */
   RKB_ADDRESS_GIVEN   /* the user must give base_url */
};

typedef struct rkb_provider {
   const char *name;     /* as in "provider:", and in the price table */
   const char *base_url; /* the default; with RKB_ADDRESS_REGION, REGION in it is replaced by the region */
   uint32_t address;     /* enum rkb_address_from */
   bool takes_key;       /* needs a key, unless the user gave base_url */
   bool whole_only;      /* its streams are not server-sent events, so replies come whole */
   bool no_output;       /* has no output tokens that are charged: embeddings */
   bool plain_effort;    /* has no field for reasoning_effort that all its models accept */
   /* Makes the request; NULL when memory is out. */
   json_t *(*body)(const rkb_model_t *model, const rkb_llm_question_t *question);
   /* Appends the path below base_url. */
   void (*path)(const rkb_model_t *model, rkb_text_t *out);
   /* Appends the path for a GET that shows whether the server has the model: a path that names the model, or one that lists all
    * models.  It is relative to base_url without its query.  NULL: no such path is known, and base_url itself is fetched. */
   void (*presence)(const rkb_model_t *model, bool by_name, rkb_text_t *out);
   /* The list of models is asked for first, because not every server of this protocol knows the other path. */
   bool lists_models;
   /* Appends headers as "Name: value" lines: the one with the key, and others that the protocol needs for this question. */
   void (*headers)(const rkb_provider_request_t *request, rkb_text_t *out);
   /* Read one event of a stream, or a whole reply.  They set members of reply, unreadable included. */
   void (*event)(rkb_reply_t *reply, const char *type, const char *data, size_t bytes);
   void (*whole)(rkb_reply_t *reply, const json_t *root);
} rkb_provider_t;

/* Functions that all of OpenAI's protocols share: presence and key (provider_openai.c). */
void rkb_openai_presence(const rkb_model_t *model, bool by_name, rkb_text_t *out);
void rkb_openai_headers(const rkb_provider_request_t *request, rkb_text_t *out);

extern const rkb_provider_t rkb_provider_openai, rkb_provider_anthropic, rkb_provider_gemini,
   rkb_provider_openai_responses, rkb_provider_azure, rkb_provider_bedrock, rkb_provider_embeddings, rkb_provider_command;

/* NULL-terminated. */
extern const rkb_provider_t *const rkb_providers[];

/* The names of all providers, as in "openai, anthropic or command"; static. */
const char *rkb_provider_choices(void);
/* Appends the whole URL: base_url, the provider's path, and then the query of base_url if it has one. */
void rkb_provider_url(const rkb_model_t *model, rkb_text_t *out);

void rkb_reply_init(rkb_reply_t *reply);
void rkb_reply_free(rkb_reply_t *reply);
/* Parses and reads a whole body. */
void rkb_reply_whole(rkb_reply_t *reply, const rkb_provider_t *provider, const char *body, size_t bytes);
/* Adds an error reply's message ({"error": {"message": ...}} in all these protocols), or else its body, to reply->trouble.  Also reads
 * how long the reply asks to wait. */
void rkb_reply_trouble(rkb_reply_t *reply, const char *body, size_t bytes);

/* Helpers for reading.  If a member is absent or has another type, they return "" or leave *value unchanged. */
const char *rkb_json_text_of(const json_t *object, const char *key);
void rkb_json_count_of(const json_t *object, const char *key, int64_t *value);
/* The most tokens the question may produce: its own limit, or its model's. */
int64_t rkb_question_output(const rkb_model_t *model, const rkb_llm_question_t *question);
double rkb_question_temperature(const rkb_model_t *model,
                                const rkb_llm_question_t *question); /* negative: not sent */

#endif
