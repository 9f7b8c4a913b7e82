/* Names of a module and its nested scopes: a hash table whose chains lose their newest names when a scope
 * ends. */
#include "machine/ptx/ptx_reader.h"

#include <stdlib.h>
#include <string.h>

static uint32_t bucket_of(const char *text, size_t length) {
   uint32_t hash = 2166136261u; /* FNV-1a */
   for (size_t i = 0; i < length; i++)
      hash = (hash ^ (unsigned char)text[i]) * 16777619u;
   return (hash ^ hash >> 15) % PTX_BUCKETS;
}

void ptx_declare(ptx_reader_t *reader, const char *text, uint32_t kind, uint32_t index) {
   if (!text)
      return;
   uint32_t count = reader->name_count;
   if (count == reader->name_room) {
      uint32_t room = count ? 2 * count : 1024;
      ptx_name_t *larger = realloc(reader->names, room * sizeof *larger);
      if (!larger) {
         ptx_fail(reader, "out of memory for names");
         return;
      }
      reader->names = larger;
      reader->name_room = room;
   }
   uint32_t bucket = bucket_of(text, strlen(text));
   reader->names[count] = (ptx_name_t){text, kind, index, reader->depth, reader->buckets[bucket], bucket};
   reader->buckets[bucket] = count;
   reader->name_count = count + 1;
}

const ptx_name_t *ptx_find(const ptx_reader_t *reader, const char *text, size_t length) {
   for (uint32_t i = reader->buckets[bucket_of(text, length)]; i != PTX_NONE; i = reader->names[i].next) {
      const char *name = reader->names[i].text;
      if (strncmp(name, text, length) == 0 && name[length] == '\0')
         return &reader->names[i];
   }
   return NULL;
}

void ptx_enter(ptx_reader_t *reader) {
   if (reader->depth >= PTX_MAX_DEPTH)
      ptx_fail(reader, "scopes are nested more than %d deep", PTX_MAX_DEPTH);
   else
      reader->depth++;
}

/* A label that an inner scope uses and does not have is looked for in the next outer scope. */
void ptx_leave(ptx_reader_t *reader) {
   uint32_t top = reader->name_count;
   while (top && reader->names[top - 1].depth >= reader->depth) {
      const ptx_name_t *name = &reader->names[--top];
      reader->buckets[name->bucket] = name->next;
   }
   uint32_t count = reader->name_count;
   reader->name_count = top;
   reader->depth -= reader->depth > 0;
   for (uint32_t i = top; i < count && reader->function && reader->depth > 1; i++) {
      /* it is still there: leaving a scope moves nothing, and declaring overwrites only below i */
      ptx_name_t name = reader->names[i];
      if (name.kind == PTX_NAME_LABEL && reader->function->labels[name.index].statement == PTX_NONE)
         ptx_declare(reader, name.text, name.kind, name.index);
   }
}
