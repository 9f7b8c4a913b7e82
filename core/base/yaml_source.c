/* The bytes of a YAML document and the places in it.  Owns the table of offsets. */
#include "base/yaml_source.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "base/yaml.h"

#define STRIDE 64u

/* The length of the character at byte.  An invalid byte counts as one character; the parser never reads that far. */
static size_t character_at(const rkb_yaml_source_t *source, size_t byte) {
   size_t bytes = rkb_utf8_character(source->bytes + byte, source->length - byte);
   return bytes ? bytes : 1;
}

void rkb_yaml_source_open(rkb_yaml_source_t *source, const char *file, const char *bytes, size_t length,
                          uint32_t first_line, uint32_t first_column) {
   *source = (rkb_yaml_source_t){
      .file = file, .bytes = bytes, .length = length, .first_line = first_line, .first_column = first_column};
   size_t byte = 0;
   while (byte < length && (unsigned char)bytes[byte] < 0x80)
      byte++;
   if (byte == length || length > RKB_YAML_MAX_BYTES)
      return;
   source->offsets = rkb_allocate(length / STRIDE + 1, sizeof *source->offsets);
   size_t index = 0;
   for (byte = 0; byte < length; byte += character_at(source, byte), index++) {
      if (index % STRIDE == 0)
         source->offsets[source->offset_count++] = (uint32_t)byte;
   }
}

void rkb_yaml_source_close(rkb_yaml_source_t *source) {
   free(source->offsets);
   source->offsets = NULL;
}

/* Whether libyaml accepts a character beyond printable ASCII (its reader.c follows YAML 1.1, production c-printable). */
static bool printable(const unsigned char *c, size_t bytes) {
   if (bytes == 1)
      return (c[0] >= 0x20 && c[0] < 0x7f) || c[0] == '\t' || c[0] == '\n' || c[0] == '\r';
   if (bytes == 2)
      return c[0] != 0xc2 || c[1] >= 0xa0 || c[1] == 0x85;
   return !(bytes == 3 && c[0] == 0xef && c[1] == 0xbf && c[2] >= 0xbe);
}

static rkb_place_t place_at(const rkb_yaml_source_t *source, uint32_t line, size_t column) {
   uint32_t shift = line == 0 ? source->first_column - 1 : 0;
   return (rkb_place_t){source->file, source->first_line + line, (uint32_t)column + 1 + shift};
}

bool rkb_yaml_source_check(const rkb_yaml_source_t *source, rkb_problems_t *problems) {
   uint32_t line = 0;
   size_t line_start = 0;
   if (source->length > RKB_YAML_MAX_BYTES) {
      rkb_problem(problems, (rkb_place_t){source->file, 0, 0},
                  "larger than 1 MiB; no file of this kind needs that");
      return false;
   }
   for (size_t byte = 0; byte < source->length;) {
      const unsigned char *c = (const unsigned char *)source->bytes + byte;
      size_t bytes = rkb_utf8_character(source->bytes + byte, source->length - byte);
      if (bytes == 0 || !printable(c, bytes)) {
         const char *what = bytes == 0 ? "is not UTF-8" : "is a control character";
         rkb_problem(problems, place_at(source, line, byte - line_start),
                     "byte 0x%02x %s; save the file as plain UTF-8 text", c[0], *c == 0 ? "is NUL" : what);
         return false;
      }
      byte += bytes;
      if (*c == '\n' || (*c == '\r' && !(byte < source->length && c[1] == '\n'))) {
         line++;
         line_start = byte;
      }
   }
   return true;
}

static size_t byte_of(const rkb_yaml_source_t *source, size_t index) {
   if (!source->offsets)
      return index;
   size_t slot = index / STRIDE;
   if (slot >= source->offset_count)
      slot = source->offset_count - 1;
   size_t byte = source->offsets[slot];
   for (size_t i = slot * STRIDE; i < index && byte < source->length; i++)
      byte += character_at(source, byte);
   return byte;
}

rkb_place_t rkb_yaml_source_place(const rkb_yaml_source_t *source, size_t index, size_t line, size_t column) {
   if (column > index)
      column = index;
   return place_at(source, (uint32_t)line, byte_of(source, index) - byte_of(source, index - column));
}

char rkb_yaml_source_byte(const rkb_yaml_source_t *source, rkb_place_t place) {
   const char *line = source->bytes, *end = source->bytes + source->length;
   for (uint32_t i = source->first_line; line && i < place.line; i++) {
      line = memchr(line, '\n', (size_t)(end - line));
      line = line ? line + 1 : NULL;
   }
   uint32_t shift = place.line == source->first_line ? source->first_column : 1;
   if (!line || place.column - shift >= (size_t)(end - line))
      return 0;
   return line[place.column - shift];
}
