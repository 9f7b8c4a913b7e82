/* One entry under "models:": the model's address, its limits and its prices.  Immutable once read; any thread. */
#ifndef RKB_LLM_MODEL_ENTRY_H
#define RKB_LLM_MODEL_ENTRY_H

#include "llm/llm.h"

struct rkb_provider;
struct rkb_cassette;

enum rkb_cache_use { RKB_CACHE_OFF, RKB_CACHE_READ, RKB_CACHE_READ_WRITE };

/* Where a key comes from; never the key itself. */
typedef struct rkb_key_source {
   const char *environment; /* name of a variable, or NULL */
   const char *file;        /* absolute path, or NULL */
   rkb_place_t place;
} rkb_key_source_t;

typedef struct rkb_model_limits {
   int64_t concurrency;                            /* questions at once */
   int64_t requests_per_minute, tokens_per_minute; /* 0: no limit */
} rkb_model_limits_t;

typedef struct rkb_model {
   rkb_llm_model_t face; /* first member: what plugins see */
   const struct rkb_provider *provider;
   const char *base_url; /* without a slash at the end of its path, with a query if the entry has one; NULL for command */
   const char *region;   /* region, for providers that have regions; or NULL */
   rkb_key_source_t key;
   bool own_address; /* base_url is the provider's own */
   bool check;       /* whether the server is asked for the model before a run */
   bool needs_key;   /* the service at base_url accepts no question without a key */
   bool has_price;
   double temperature;           /* negative: not sent */
   const char *reasoning_effort; /* or NULL */
   bool stream;
   rkb_model_limits_t limits;
   int64_t retries;
   uint64_t backoff_ns; /* before the first retry; doubles each time */
   uint64_t idle_ns, total_ns;
   uint32_t cache;                    /* enum rkb_cache_use */
   const char *const *command;        /* arguments, NULL-terminated, or NULL */
   const char *const *environment;    /* variables that the command gets, NULL-terminated, or NULL */
   double cost_per_call;              /* USD; negative: not stated */
   const struct rkb_cassette *replay; /* answers instead of the provider; or NULL */
   const char *record;                /* file to which exchanges are written; or NULL */
   uint32_t index;
   bool unused; /* no stage names it: it needs no key and cannot be asked */
   rkb_place_t place;
} rkb_model_t;

struct rkb_models {
   rkb_model_t *list;
   uint32_t count;
};

/* The price of a model, looked up in pipelines/models/prices.yaml; false when it is not there (prices.c). */
typedef struct rkb_price {
   double input_usd, cached_usd, output_usd; /* per token */
} rkb_price_t;
typedef struct rkb_prices rkb_prices_t;
/* Loads the table.  Returns NULL after adding problems when it is invalid.  A missing file gives an empty table. */
rkb_prices_t *rkb_prices_load(rkb_arena_t *arena, void (*depends)(void *, const char *), void *argument,
                              rkb_problems_t *problems);
bool rkb_prices_find(const rkb_prices_t *prices, const char *provider, const char *model, rkb_price_t *price);
/* {input: 3, cached: 0.3, output: 15}, USD per million tokens. */
bool rkb_price_read(const rkb_yaml_t *yaml, rkb_price_t *price, rkb_problems_t *problems);

/* The most input tokens that a body of this size can have: no tokeniser makes more tokens than bytes, and each message adds a few. */
static inline int64_t rkb_model_most_input(size_t body_bytes, uint32_t messages) {
   return (int64_t)body_bytes + 16 * (int64_t)messages;
}

#endif
