/* The table of the keys under "models:". */
#include "llm/model_keys.h"

const char *const RKB_CACHE_CHOICES[] = {"off", "read", "read-write", NULL};

static const char *const providers[] = {"openai", "anthropic", "gemini", "openai-responses", "command", NULL};

const rkb_key_t RKB_MODEL_KEYS[] = {
   {"provider", RKB_KEYS_MODEL, NULL, providers, true, "the protocol that is spoken"},
   {"model", RKB_KEYS_MODEL, NULL, NULL, false,
    "the provider's name for it; required, but of `provider: command`"},
   {"key", RKB_KEYS_MODEL, NULL, NULL, false, "where the key is, never the key itself"},
   {"env", RKB_KEYS_MODEL_KEY, NULL, NULL, false, "the environment's variable that holds it"},
   {"file", RKB_KEYS_MODEL_KEY, NULL, NULL, false, "or the file, relative to this one"},
   {"base_url", RKB_KEYS_MODEL, "the provider's", NULL, false,
    "any server that speaks the protocol: `http://localhost:8000/v1` for vLLM, SGLang, Ollama, llama.cpp, OpenRouter, DeepSeek "
    "with `provider: openai`"},
   {"temperature", RKB_KEYS_MODEL, "not sent", NULL, false, "0 to 2; Anthropic: 0 to 1"},
   {"reasoning_effort", RKB_KEYS_MODEL, "not sent", NULL, false,
    "`low`, `medium`, `high`; Claude up to 4.5 and Gemini 2.5 get a thinking budget of an eighth, a quarter, half of the output "
    "limit"},
   {"max_output_tokens", RKB_KEYS_MODEL, "none", NULL, false,
    "bounds the whole output, reasoning included; needed where money is limited"},
   {"price", RKB_KEYS_MODEL, "from `pipelines/models/prices.yaml`", NULL, false,
    "`{input: 1.25, cached: 0.125, output: 10}`, USD for a million tokens"},
   {"limits", RKB_KEYS_MODEL, NULL, NULL, false,
    "how fast it may be asked: shared by all models at one address, the smallest counts"},
   {"concurrency", RKB_KEYS_MODEL_LIMITS, "8", NULL, false, "questions at once; 1 of `provider: command`"},
   {"requests_per_minute", RKB_KEYS_MODEL_LIMITS, "none", NULL, false, "questions begun in a minute"},
   {"tokens_per_minute", RKB_KEYS_MODEL_LIMITS, "none", NULL, false, "tokens reserved in a minute"},
   {"retries", RKB_KEYS_MODEL, "4", NULL, false, "tries after the first, 0 to 20"},
   {"backoff", RKB_KEYS_MODEL, "1s", NULL, false,
    "the pause before the first of them; it doubles to a minute at most, with jitter; `Retry-After` is obeyed, and where there is "
    "none the `retryDelay` of an error (Gemini)"},
   {"idle", RKB_KEYS_MODEL, "2m", NULL, false, "the longest silence of one attempt"},
   {"timeout", RKB_KEYS_MODEL, "15m", NULL, false, "the whole duration of one attempt"},
   {"stream", RKB_KEYS_MODEL, "true", NULL, false, "server-sent events; false: one reply"},
   {"cache", RKB_KEYS_MODEL, "off", RKB_CACHE_CHOICES, false,
    "replies of other runs, below `$XDG_CACHE_HOME/rkb/replies`"},
   {"record", RKB_KEYS_MODEL, "none", NULL, false, "a cassette to write"},
   {"replay", RKB_KEYS_MODEL, "none", NULL, false, "a cassette to answer from"},
   {"command", RKB_KEYS_MODEL, NULL, NULL, false,
    "of `provider: command`, `[program, argument, ...]`: gets the prompt on its standard input and writes the answer to its "
    "standard output"},
   {"env", RKB_KEYS_MODEL, "none", NULL, false,
    "of `provider: command`: names of the variables that its otherwise empty environment has"},
   {"cost_per_call", RKB_KEYS_MODEL, NULL, NULL, false,
    "of `provider: command`: USD, needed where money is limited"},
   {NULL, 0, NULL, NULL, false, NULL},
};
