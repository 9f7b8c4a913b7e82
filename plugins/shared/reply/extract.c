/* Finds the kernel in a reply (extract.h). */
#include "extract.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BLOCKS 64
#define MANIFEST "rkb-kernel:"

/* What is inside a fenced block, or the whole reply when it has no fence. */
typedef struct block {
   const char *text;
   size_t bytes;
   bool closed;
   bool manifest; /* holds "rkb-kernel:" inside a comment */
   bool bare;     /* holds it outside of a comment: the manifest has a block of its own */
   bool code;     /* holds "__global__" */
} block_t;

typedef struct blocks {
   block_t list[MOST_BLOCKS];
   uint32_t count;
} blocks_t;

static const char *find(const char *text, size_t bytes, const char *what) {
   return memmem(text, bytes, what, strlen(what));
}

static const char *line_end(const char *line, const char *end) {
   const char *newline = memchr(line, '\n', (size_t)(end - line));
   return newline ? newline : end;
}

/* Returns the length of the fence that a line begins with (CommonMark: up to three spaces, then three or more
 * of ` or ~), or 0. */
static size_t fence_of(const char *line, const char *end, char *mark, bool *alone) {
   size_t indent = 0, length = 0;
   while (line + indent < end && line[indent] == ' ' && indent < 3)
      indent++;
   line += indent;
   *mark = line < end ? *line : '\0';
   if (*mark != '`' && *mark != '~')
      return 0;
   while (line + length < end && line[length] == *mark)
      length++;
   *alone = true;
   for (const char *at = line + length; at < end; at++)
      *alone &= *at == ' ' || *at == '\t' || *at == '\r';
   return length >= 3 ? length : 0;
}

static void classify(block_t *block) {
   const char *manifest = find(block->text, block->bytes, MANIFEST);
   const char *comment = find(block->text, block->bytes, "/*");
   block->code = find(block->text, block->bytes, "__global__") != NULL;
   block->manifest = manifest && comment && comment < manifest &&
                     find(manifest, block->bytes - (size_t)(manifest - block->text), "*/");
   block->bare = !block->manifest && !block->code &&
                 (manifest ||
                  (find(block->text, block->bytes, "launches:") && find(block->text, block->bytes, "task:")));
}

static void add(blocks_t *blocks, const char *start, const char *end, bool closed) {
   if (blocks->count == MOST_BLOCKS)
      return;
   block_t *block = &blocks->list[blocks->count++];
   *block = (block_t){.text = start, .bytes = (size_t)(end - start), .closed = closed};
   classify(block);
}

static void find_blocks(const char *reply, size_t bytes, blocks_t *blocks) {
   const char *end = reply + bytes, *open = NULL;
   size_t open_length = 0;
   char open_mark = '\0';
   for (const char *line = reply; line < end;) {
      const char *stop = line_end(line, end), *next = stop < end ? stop + 1 : end;
      char mark;
      bool alone = false;
      size_t length = fence_of(line, stop, &mark, &alone);
      if (length && !open) {
         open = next;
         open_length = length;
         open_mark = mark;
      } else if (open && length >= open_length && mark == open_mark && alone) {
         add(blocks, open, line, true);
         open = NULL;
      }
      line = next;
   }
   if (open)
      add(blocks, open, end, false);
   if (!blocks->count && bytes)
      add(blocks, reply, end, true);
}

/* Cuts a reply without fences: from the manifest's comment to the last line that can end code. */
static void trim_bare(block_t *block) {
   const char *manifest = find(block->text, block->bytes, MANIFEST), *start = manifest;
   const char *end = block->text + block->bytes;
   while (start > block->text && strncmp(start, "/*", 2) != 0)
      start--;
   while (end > manifest && end[-1] != '}' && end[-1] != ';')
      end--;
   if (end > manifest) {
      block->bytes = (size_t)(end - start);
      block->text = start;
   }
}

static int refuse(rkb_error_t *err, const char *why) {
   return rkb_fail(err, RKB_ERR_INVALID, "%s", why);
}

static int keep(const block_t *block, char **source, rkb_error_t *err) {
   if (block->bytes > EXTRACT_MOST_BYTES)
      return refuse(err, "the kernel is larger than 256 KiB");
   *source = malloc(block->bytes + 2);
   if (!*source)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   memcpy(*source, block->text, block->bytes);
   size_t length = block->bytes;
   if (!length || (*source)[length - 1] != '\n')
      (*source)[length++] = '\n';
   (*source)[length] = '\0';
   return RKB_OK;
}

/* Joins a manifest in one block and code in another into one text. */
static int join(const block_t *manifest, const block_t *code, char **source, rkb_error_t *err) {
   bool headed = find(manifest->text, manifest->bytes, MANIFEST) != NULL;
   if (manifest->bytes + code->bytes > EXTRACT_MOST_BYTES)
      return refuse(err, "manifest and kernel together are larger than 256 KiB");
   if (find(manifest->text, manifest->bytes, "*/"))
      return refuse(err, "the manifest's block holds a comment's end but no whole comment");
   int length =
      asprintf(source, "/* %s%.*s%s*/\n%.*s%s", headed ? "" : "rkb-kernel: 1\n", (int)manifest->bytes,
               manifest->text, manifest->bytes && manifest->text[manifest->bytes - 1] == '\n' ? "" : "\n",
               (int)code->bytes, code->text, code->bytes && code->text[code->bytes - 1] == '\n' ? "" : "\n");
   return length < 0 ? rkb_fail(err, RKB_ERR_NOMEM, "out of memory") : RKB_OK;
}

int extract_kernel(const char *reply, size_t bytes, char **source, rkb_error_t *err) {
   blocks_t blocks = {.count = 0};
   block_t *whole = NULL, *manifest = NULL, *code = NULL;
   bool open_code = false;
   *source = NULL;
   if (memchr(reply, '\0', bytes))
      return refuse(err, "the reply holds a NUL byte");
   find_blocks(reply, bytes, &blocks);
   /* Of several blocks the last counts: a model that thinks aloud ends with what it decided. */
   for (uint32_t i = 0; i < blocks.count; i++) {
      block_t *block = &blocks.list[i];
      if (!block->closed) {
         open_code |= block->code || block->manifest || block->bare;
         continue;
      }
      if (block->manifest && block->code)
         whole = block;
      else if (block->bare || (block->manifest && !block->code))
         manifest = block;
      else if (block->code)
         code = block;
   }
   if (whole && whole->text == reply) {
      trim_bare(whole);
      classify(whole);
      if (!whole->code || !whole->manifest)
         return refuse(err, "the reply holds no whole kernel: what follows its manifest breaks off");
   }
   if (open_code)
      return refuse(err, "the reply ends inside a code block: it was cut off");
   if (whole)
      return keep(whole, source, err);
   if (manifest && code && manifest->bare)
      return join(manifest, code, source, err);
   if (manifest && code) {
      block_t both = *manifest;
      char *joined = NULL;
      if (asprintf(&joined, "%.*s\n%.*s", (int)manifest->bytes, manifest->text, (int)code->bytes,
                   code->text) < 0)
         return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
      both.text = joined;
      both.bytes = strlen(joined);
      int status = keep(&both, source, err);
      free(joined);
      return status;
   }
   if (code)
      return refuse(err, "the code has no manifest: no comment begins with 'rkb-kernel: 1'");
   if (manifest)
      return refuse(err, "there is a manifest and no kernel: no '__global__' function");
   return refuse(err, "the reply holds no kernel");
}
