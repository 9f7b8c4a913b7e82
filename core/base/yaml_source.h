/* The bytes behind a YAML document.  Finds bytes that libyaml must not see, and converts libyaml's places (lines, columns and
 * offsets in characters, from 0) to ours (from 1, columns in bytes).  Private to yaml.c.  One thread at a time. */
#ifndef RKB_BASE_YAML_SOURCE_H
#define RKB_BASE_YAML_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include "base/problems.h"

typedef struct rkb_yaml_source {
   const char *file; /* borrowed, like bytes */
   const char *bytes;
   size_t length;
   uint32_t first_line, first_column;
   uint32_t *offsets; /* byte offset of every 64th character; NULL while every character is one byte */
   size_t offset_count;
} rkb_yaml_source_t;

void rkb_yaml_source_open(rkb_yaml_source_t *source, const char *file, const char *bytes, size_t length,
                          uint32_t first_line, uint32_t first_column);
void rkb_yaml_source_close(rkb_yaml_source_t *source);

/* Reports a document that is too large, and the first invalid byte.  Returns true when there is nothing to report. */
bool rkb_yaml_source_check(const rkb_yaml_source_t *source, rkb_problems_t *problems);

/* Converts a libyaml mark to a place. */
rkb_place_t rkb_yaml_source_place(const rkb_yaml_source_t *source, size_t index, size_t line, size_t column);

/* The byte at a place of this document, 0 outside it. */
char rkb_yaml_source_byte(const rkb_yaml_source_t *source, rkb_place_t place);

#endif
