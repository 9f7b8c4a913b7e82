/* Writes cassettes (cassette.h) as YAML with block texts, so that a person can read and change a conversation. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "llm/cassette.h"

static const char header[] =
   "# Exchanges with language models as rkb recorded them; keys and headers are not in it.  Replay with\n"
   "# models: {NAME: {replay: THIS FILE}}.\n"
   "rkb-cassette: 1\n"
   "origin: recorded\n"
   "exchanges:\n";

/* Whether a block text preserves the text: it keeps every byte except carriage returns and control characters.  Other texts are quoted
 * with escapes. */
static bool block_keeps(const char *text) {
   for (const unsigned char *at = (const unsigned char *)text; *at; at++)
      if ((*at < ' ' && *at != '\n' && *at != '\t') || *at == 0x7f || (*at == 0xc2 && at[1] == 0x85) ||
          (*at == 0xe2 && at[1] == 0x80 && (at[2] == 0xa8 || at[2] == 0xa9)) ||
          (*at == 0xef && at[1] == 0xbb && at[2] == 0xbf))
         return false;
   return *text != '\0';
}

static void write_quoted(rkb_text_t *out, const char *text) {
   rkb_text_add(out, "\"");
   for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
      if (*at == '"' || *at == '\\')
         rkb_text_format(out, "\\%c", *at);
      else if (*at == '\n')
         rkb_text_add(out, "\\n");
      else if (*at < ' ' || *at == 0x7f)
         rkb_text_format(out, "\\x%02x", *at);
      else if (*at == 0xc2 && at[1] == 0x85)
         rkb_text_add(out, "\\N"), at++;
      else if (*at == 0xe2 && at[1] == 0x80 && (at[2] == 0xa8 || at[2] == 0xa9))
         rkb_text_add(out, at[2] == 0xa8 ? "\\L" : "\\P"), at += 2;
      else if (*at == 0xef && at[1] == 0xbb && at[2] == 0xbf)
         rkb_text_add(out, "\\uFEFF"), at += 2;
      else
         rkb_text_append(out, (const char *)at, 1);
   }
   rkb_text_add(out, "\"\n");
}

static void write_text(rkb_text_t *out, const char *key, const char *text) {
   size_t length = strlen(text);
   rkb_text_format(out, "    %s: ", key);
   if (!block_keeps(text)) {
      write_quoted(out, text);
      return;
   }
   rkb_text_add(out, text[length - 1] == '\n' ? "|2+\n" : "|2-\n");
   for (const char *line = text; *line;) {
      const char *end = strchrnul(line, '\n');
      if (end > line) {
         rkb_text_add(out, "      ");
         rkb_text_append(out, line, (size_t)(end - line));
      }
      rkb_text_add(out, "\n");
      line = *end ? end + 1 : end;
   }
}

static void write_exchange(rkb_text_t *out, const rkb_model_t *model, const rkb_cassette_question_t *question,
                           const rkb_reply_t *reply) {
   const int64_t counts[] = {reply->input_tokens, reply->cached_tokens, reply->output_tokens,
                             reply->reasoning_tokens};
   static const char *const names[] = {"input", "cached", "output", "reasoning"};
   const char *ended = reply->refused     ? "refused"
                       : reply->filtered  ? "filtered"
                       : reply->truncated ? "truncated"
                                          : "answered";
   bool some = false;
   rkb_text_format(out, "  - key: \"%s\"\n", question->key);
   write_text(out, "stage", question->stage);
   write_text(out, "model", model->face.model);
   if (question->system && question->system[0])
      write_text(out, "system", question->system);
   write_text(out, "user", question->user);
   write_text(out, "reply",
              reply->refused && !reply->text.length ? rkb_text_get(&reply->refusal)
                                                    : rkb_text_get(&reply->text));
   rkb_text_format(out, "    ended: %s\n    usage: {", ended);
   for (int i = 0; i < 4; i++)
      if (counts[i] >= 0) {
         rkb_text_format(out, "%s%s: %lld", some ? ", " : "", names[i], (long long)counts[i]);
         some = true;
      }
   rkb_text_add(out, "}\n");
}

int rkb_cassette_record(const char *path, const rkb_model_t *model, const rkb_cassette_question_t *question,
                        const rkb_reply_t *reply, rkb_error_t *err) {
   rkb_text_t text;
   struct stat about;
   int status = RKB_OK;
   rkb_text_init(&text, 3 * (size_t)RKB_ARCHIVE_MAX_REPLY);
   int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
   if (file < 0 || flock(file, LOCK_EX) != 0 || fstat(file, &about) != 0) {
      status = rkb_fail(err, RKB_ERR_IO, "cannot write the cassette %.200s: %s", path, strerror(errno));
      goto close;
   }
   if (about.st_size == 0)
      rkb_text_add(&text, header);
   write_exchange(&text, model, question, reply);
   if (text.cut)
      status = rkb_fail(err, RKB_ERR_LIMIT, "an exchange is too large for a cassette");
   else if (write(file, text.data, text.length) != (ssize_t)text.length)
      status = rkb_fail(err, RKB_ERR_IO, "cannot write the cassette %.200s: %s", path, strerror(errno));
close:
   if (file >= 0)
      close(file);
   rkb_text_free(&text);
   return status;
}
