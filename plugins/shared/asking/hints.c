/* Hints by class of operation, for the slot "hints": advice that a person who knows GPUs would give before reading any code. */
#include <string.h>
#include "context.h"

typedef struct hint {
   const char *words[6]; /* the hint is for references whose text has any of these */
   const char *text;
} hint_t;

static const hint_t HINTS[] = {
   {{"softmax", "log_softmax", "cross_entropy", "attention", NULL},
    "Softmax: keep a running maximum and rescale the running sum when it grows, so that one pass over a row "
    "is enough; subtract the "
    "maximum before every exponential."},
   {{"layer_norm", "group_norm", "batch_norm", "rsqrt", "rms", NULL},
    "Normalisation: each row is read once for its statistics and once for the result; keep it in registers "
    "or shared memory in between "
    "when it fits. Sum in float32, by shuffles inside a warp and one number a warp through shared memory."},
   {{"linear", "matmul", "bmm", "@", NULL},
    "Matrix product: tile through shared memory, several outputs a thread in registers, neighbouring threads "
    "reading neighbouring "
    "addresses; fuse the bias and the activation into the store."},
   {{"conv2d", "conv1d", NULL},
    "Convolution: treat it as a matrix product over (input channel, window) without storing the unfolded "
    "input; keep the filter tile in "
    "shared memory and mind the borders."},
   {{"max_pool", "avg_pool", NULL},
    "Pooling: one output a thread, neighbouring threads on neighbouring outputs; fuse it with what comes "
    "before."},
   {{"relu", "gelu", "silu", "sigmoid", "tanh", NULL},
    "Elementwise work is bound by memory: fuse it into the kernel that produces or reads the values, and "
    "move 16 bytes a thread where "
    "alignment and length allow."},
   {{"embedding", "gather", "cross_entropy", NULL},
    "Indices are int64 and come from data: never assume that they are sorted or distinct."},
   {{"sum(", "mean(", "amax", NULL},
    "Reduction: first inside a thread over several elements, then inside a warp by shuffles, then across "
    "warps; atomics on floats make "
    "the result depend on the order."},
};

void context_add_hints(context_t *context) {
   const rkb_task_api_t *task = context->services->task;
   const char *reference = task ? task->info(context->host)->reference : "";
   for (uint32_t i = 0; i < sizeof HINTS / sizeof HINTS[0]; i++)
      for (const char *const *word = HINTS[i].words; *word; word++)
         if (strstr(reference, *word)) {
            context_add(context, "hints", HINTS[i].text, NULL, -(int32_t)i, false);
            break;
         }
}
