/* Votes (vote.h). */
#include "vote.h"

#include <jansson.h>
#include <string.h>

#define MOST_TRIES 4096

static void copy(char *out, size_t size, const json_t *text) {
   const char *from = json_string_value(text);
   snprintf(out, size, "%s", from ? from : "");
   size_t length = strlen(out);
   while (length && ((unsigned char)out[length - 1] & 0xc0) == 0x80)
      length--;
   if (from && strlen(from) >= size && length && (unsigned char)out[length - 1] >= 0xc0)
      out[length - 1] = '\0'; /* no half character where it was cut */
}

/* The last object in the reply that has a verdict.  Judges think aloud, and code has braces too: every '{'
 * from the end on is tried.  Owned; NULL when there is none. */
static json_t *find_answer(const char *reply, size_t bytes) {
   const char *at = reply + bytes;
   for (int tries = 0; tries < MOST_TRIES; tries++) {
      at = memrchr(reply, '{', (size_t)(at - reply));
      if (!at)
         break;
      json_t *root =
         json_loadb(at, bytes - (size_t)(at - reply), JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, NULL);
      if (json_is_object(root) && json_object_get(root, "verdict"))
         return root;
      json_decref(root);
   }
   return NULL;
}

static double severity_of(const json_t *said) {
   double severity = json_is_number(said) ? json_number_value(said) : 1;
   return severity < 0 ? 0 : severity > 1 ? 1 : severity;
}

bool vote_read(const char *reply, size_t bytes, vote_t *vote) {
   vote->verdict = VOTE_ABSTAINS;
   vote->confidence = vote->severity = 0;
   vote->line[0] = vote->why[0] = '\0';
   json_t *root = find_answer(reply, bytes);
   const char *verdict = json_string_value(json_object_get(root, "verdict"));
   const json_t *confidence = json_object_get(root, "confidence");
   bool understood =
      verdict &&
      (strcmp(verdict, "right") == 0 || strcmp(verdict, "wrong") == 0 || strcmp(verdict, "unsure") == 0) &&
      json_is_number(confidence) && json_number_value(confidence) >= 0 && json_number_value(confidence) <= 1;
   if (understood) {
      vote->verdict = strcmp(verdict, "right") == 0   ? VOTE_RIGHT
                      : strcmp(verdict, "wrong") == 0 ? VOTE_WRONG
                                                      : VOTE_ABSTAINS;
      vote->confidence = json_number_value(confidence);
      if (vote->verdict == VOTE_WRONG)
         vote->severity = severity_of(json_object_get(root, "severity"));
      copy(vote->line, sizeof vote->line, json_object_get(root, "line"));
      copy(vote->why, sizeof vote->why, json_object_get(root, "why"));
   }
   json_decref(root);
   return understood;
}

vote_result_t vote_count(const vote_t *votes, uint32_t count, bool weighted, double least) {
   vote_result_t result = {0};
   double sums[3] = {0}, best = -1, confidence = 0;
   uint32_t heads[3] = {0};
   for (uint32_t i = 0; i < count; i++) {
      uint32_t verdict = votes[i].confidence < least ? VOTE_ABSTAINS : votes[i].verdict;
      heads[verdict]++;
      sums[verdict] += weighted ? votes[i].weight * votes[i].confidence : 1;
   }
   result.right = heads[VOTE_RIGHT];
   result.wrong = heads[VOTE_WRONG];
   result.abstained = heads[VOTE_ABSTAINS];
   if (sums[VOTE_RIGHT] != sums[VOTE_WRONG])
      result.verdict = sums[VOTE_RIGHT] > sums[VOTE_WRONG] ? VOTE_RIGHT : VOTE_WRONG;
   if (result.verdict == VOTE_ABSTAINS)
      return result;
   result.share = sums[result.verdict] / (sums[VOTE_RIGHT] + sums[VOTE_WRONG]);
   for (uint32_t i = 0; i < count; i++) {
      if (votes[i].verdict != result.verdict || votes[i].confidence < least)
         continue;
      confidence += votes[i].confidence;
      if (votes[i].confidence > best) {
         best = votes[i].confidence;
         result.speaker = i;
      }
   }
   result.confidence = confidence / heads[result.verdict];
   return result;
}

bool vote_numbers(const vote_t *votes, uint32_t count, double *probability, double *severity) {
   double weights = 0;
   *probability = *severity = 0;
   for (uint32_t i = 0; i < count; i++) {
      const vote_t *vote = &votes[i];
      const double right = vote->verdict == VOTE_RIGHT   ? vote->confidence
                           : vote->verdict == VOTE_WRONG ? 1 - vote->confidence
                                                         : 0.5;
      weights += vote->weight;
      *probability += vote->weight * right;
      *severity += vote->weight * vote->severity;
   }
   if (weights <= 0)
      return false;
   *probability /= weights;
   *severity /= weights;
   return true;
}

uint32_t vote_line(const char *source, const char *quoted) {
   while (*quoted == ' ' || *quoted == '\t' || *quoted == '\n')
      quoted++;
   size_t length = strcspn(quoted, "\n");
   while (length && strchr(" \t\r", quoted[length - 1]))
      length--;
   const char *at = length ? memmem(source, strlen(source), quoted, length) : NULL;
   uint32_t line = 1;
   for (const char *byte = source; at && byte < at; byte++)
      line += *byte == '\n';
   return at ? line : 0;
}
