/* Sketches of embeddings (embedding.h).  A note has "\nembedding by NAME: " and two hexadecimal digits for each sum. */
#include "embedding.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#define HEAD "\nembedding by "
#define MOST_TEXT 24000 /* bytes that are embedded: about 8,000 tokens, which is what such models read */

/* SplitMix64 (Steele, Lea, Flood, 'Fast splittable pseudorandom number generators', 2014): the signs of one number in all sums. */
static uint64_t signs_of(uint64_t index) {
   uint64_t z = (index + 1) * 0x9e3779b97f4a7c15ull;
   z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
   z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
   return z ^ (z >> 31);
}

bool embedding_read(const char *text, embedding_t *embedding) {
   double sums[EMBEDDING_SUMS] = {0}, most = 0;
   json_t *root = json_loads(text, 0, NULL);
   const json_t *number;
   size_t index;
   bool right = json_array_size(root) > 0;
   json_array_foreach(root, index, number) {
      const uint64_t signs = signs_of(index);
      right = right && json_is_number(number) && isfinite(json_number_value(number));
      for (int i = 0; right && i < EMBEDDING_SUMS; i++)
         sums[i] += signs >> i & 1 ? json_number_value(number) : -json_number_value(number);
   }
   json_decref(root);
   for (int i = 0; i < EMBEDDING_SUMS; i++)
      most = fmax(most, fabs(sums[i]));
   embedding->known = right && most > 0 && isfinite(most);
   for (int i = 0; i < EMBEDDING_SUMS; i++)
      embedding->sums[i] = embedding->known ? (signed char)lrint(127 * sums[i] / most) : 0;
   return embedding->known;
}

double embedding_cosine(const embedding_t *one, const embedding_t *other) {
   int64_t product = 0, own = 0, others = 0;
   for (int i = 0; i < EMBEDDING_SUMS; i++) {
      product += one->sums[i] * other->sums[i];
      own += one->sums[i] * one->sums[i];
      others += other->sums[i] * other->sums[i];
   }
   return own && others ? (double)product / sqrt((double)own * (double)others) : 0;
}

int embedding_ask(context_t *context, const rkb_llm_api_t *llm, const char *model, const char *text, uint32_t child, embedding_t *embedding,
                  rkb_error_t *err) {
   rkb_llm_answer_t *answer = NULL;
   size_t bytes = strlen(text) < MOST_TEXT ? strlen(text) : MOST_TEXT;
   while (bytes && ((unsigned char)text[bytes] & 0xc0) == 0x80)
      bytes--; /* cut off no part of a character */
   const rkb_llm_question_t question = {.size = sizeof question,
                                        .child = EMBEDDING_CHILD + child,
                                        .model = model,
                                        .user = context_format(context, "%.*s", (int)bytes, text),
                                        .temperature = -1};
   *embedding = (embedding_t){0};
   int status = llm->ask(context->host, context->job, &question, &answer, err);
   if (status != RKB_OK)
      return status;
   if (answer->outcome == RKB_LLM_CANCELLED)
      status = rkb_fail(err, RKB_ERR_CANCELLED, "%s", answer->message);
   else if (answer->outcome != RKB_LLM_ANSWERED || !embedding_read(answer->text, embedding))
      rkb_warn(context->host, "no embedding: model %.60s, %s: %.200s", model, rkb_llm_outcome_name(answer->outcome),
               answer->outcome == RKB_LLM_ANSWERED ? "its reply is no list of numbers" : answer->message);
   embedding->worth_usd = answer->worth_usd;
   llm->free(answer);
   return status;
}

const char *embedding_note(context_t *context, const char *model, const embedding_t *embedding) {
   char digits[2 * EMBEDDING_SUMS + 1] = "";
   for (int i = 0; i < EMBEDDING_SUMS; i++)
      snprintf(digits + 2 * (size_t)i, 3, "%02x", (unsigned char)embedding->sums[i]);
   return context_format(context, HEAD "%.60s: %s", model, digits);
}

static bool read_note(const char *note, const char *model, embedding_t *embedding) {
   char head[128];
   snprintf(head, sizeof head, HEAD "%.60s: ", model);
   const char *at = note && strncmp(note, "model ", 6) == 0 ? strstr(note, head) : NULL;
   if (!at || strspn(at + strlen(head), "0123456789abcdef") != 2 * EMBEDDING_SUMS)
      return false;
   at += strlen(head);
   for (int i = 0; i < EMBEDDING_SUMS; i++) {
      unsigned value = 0;
      sscanf(at + 2 * (size_t)i, "%2x", &value);
      embedding->sums[i] = (signed char)value;
   }
   return embedding->known = true;
}

const rkb_archive_row_t *embedding_repeated(const context_t *context, const char *model, const embedding_t *embedding, double least, double *cosine) {
   const rkb_archive_api_t *archive = context->services->archive;
   const uint32_t rows = embedding->known && archive && context->rows ? archive->rows_count(context->rows) : 0;
   const rkb_archive_row_t *found = NULL;
   *cosine = 0;
   for (uint32_t i = 0; i < rows; i++) {
      const rkb_archive_row_t *row = archive->rows_at(context->rows, i);
      embedding_t other;
      const double near = read_note(row->note, model, &other) ? embedding_cosine(embedding, &other) : -1;
      if (near < least || (found && near <= *cosine))
         continue;
      *cosine = near;
      found = row;
   }
   return found;
}
