/* The table of the keys under "models:". */
#include "llm/model_keys.h"

const char *const RKB_CACHE_CHOICES[] = {"off", "read", "read-write", NULL};

static const char *const providers[] = {"openai", "anthropic", "gemini", "openai-responses", "azure", "bedrock", "openai-embeddings", "command", NULL};

const rkb_key_t RKB_MODEL_KEYS[] = {
   {"provider", RKB_KEYS_MODEL, NULL, providers, true, "the protocol that the server speaks"},
   {"model", RKB_KEYS_MODEL, NULL, NULL, false,
    "the provider's name for the model; required, except with `provider: command`"},
   {"key", RKB_KEYS_MODEL, NULL, NULL, false, "where rkb finds the key, never the key itself"},
   {"env", RKB_KEYS_MODEL_KEY, NULL, NULL, false, "the environment variable that holds the key"},
   {"file", RKB_KEYS_MODEL_KEY, NULL, NULL, false, "or the file that holds it, relative to this one"},
   {"base_url", RKB_KEYS_MODEL, "the provider's", NULL, false,
    "any server that speaks the protocol: `http://localhost:8000/v1` for vLLM, SGLang, Ollama, llama.cpp, OpenRouter, DeepSeek "
    "with `provider: openai`; required with `provider: azure`, where it holds the deployment and its query"},
   {"region", RKB_KEYS_MODEL, NULL, NULL, false, "with `provider: bedrock`, required: the region, as in `us-east-1`"},
   {"temperature", RKB_KEYS_MODEL, "not sent", NULL, false, "0 to 2; Anthropic: 0 to 1"},
   {"reasoning_effort", RKB_KEYS_MODEL, "not sent", NULL, false,
    "`low`, `medium`, `high`; Claude up to 4.5 and Gemini 2.5 get a thinking budget of an eighth, a quarter, half of the output "
    "limit"},
   {"max_output_tokens", RKB_KEYS_MODEL, "none", NULL, false,
    "limit of the whole output, reasoning included; required if `limits.cost_usd` is set"},
   {"price", RKB_KEYS_MODEL, "from `pipelines/models/prices.yaml`", NULL, false,
    "USD for a million tokens, as in `{input: 1.25, cached: 0.125, output: 10}`"},
   {"limits", RKB_KEYS_MODEL, NULL, NULL, false,
    "how fast rkb may ask; all models at one address share the smallest limits"},
   {"concurrency", RKB_KEYS_MODEL_LIMITS, "8", NULL, false, "questions at once; 1 with `provider: command`"},
   {"requests_per_minute", RKB_KEYS_MODEL_LIMITS, "none", NULL, false, "questions started in a minute"},
   {"tokens_per_minute", RKB_KEYS_MODEL_LIMITS, "none", NULL, false, "tokens reserved in a minute"},
   {"retries", RKB_KEYS_MODEL, "4", NULL, false, "tries after the first, 0 to 20"},
   {"backoff", RKB_KEYS_MODEL, "1s", NULL, false,
    "the pause before the first retry; it doubles each time, to a minute at most, with jitter; `Retry-After`, or the `retryDelay` "
    "of an error (Gemini), takes precedence"},
   {"idle", RKB_KEYS_MODEL, "2m", NULL, false, "how long one attempt may stay silent"},
   {"timeout", RKB_KEYS_MODEL, "15m", NULL, false, "how long one attempt may take in all"},
   {"stream", RKB_KEYS_MODEL, "true", NULL, false, "true: server-sent events; false: one reply"},
   {"check", RKB_KEYS_MODEL, "true", NULL, false,
    "whether a new run, `--dry-run` and `rkb validate` ask the server for the model; false for a server that takes any name"},
   {"cache", RKB_KEYS_MODEL, "off", RKB_CACHE_CHOICES, false,
    "whether to use replies of other runs, below `$XDG_CACHE_HOME/rkb/replies`"},
   {"record", RKB_KEYS_MODEL, "none", NULL, false, "a cassette to write"},
   {"replay", RKB_KEYS_MODEL, "none", NULL, false, "a cassette to answer from"},
   {"command", RKB_KEYS_MODEL, NULL, NULL, false,
    "with `provider: command`: `[program, argument, ...]`; it gets the prompt on its standard input and writes the answer to its "
    "standard output"},
   {"env", RKB_KEYS_MODEL, "none", NULL, false,
    "with `provider: command`: names of the variables to pass on; the environment is empty otherwise"},
   {"cost_per_call", RKB_KEYS_MODEL, NULL, NULL, false,
    "with `provider: command`: USD; required if `limits.cost_usd` is set"},
   {NULL, 0, NULL, NULL, false, NULL},
};
