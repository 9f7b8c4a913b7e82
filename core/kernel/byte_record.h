/* Little-endian byte records: frames between this program and rkb-compiler, cache entries, plans.  Writing appends to an
 * rkb_text_t, whose limit applies.  Reading never goes past the end and remembers the first fault.  Any thread. */
#ifndef RKB_KERNEL_BYTE_RECORD_H
#define RKB_KERNEL_BYTE_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include "base/text.h"

void record_put_u32(rkb_text_t *out, uint32_t value);
void record_put_u64(rkb_text_t *out, uint64_t value);
void record_put_bytes(rkb_text_t *out, const void *data, size_t length); /* u64 length, the bytes */
void record_put_text(rkb_text_t *out, const char *text);

typedef struct record_reader {
   const unsigned char *data;
   size_t size, at;
   bool bad; /* an item was missing or over its limit; every later read gives zeros */
} record_reader_t;

uint32_t record_u32(record_reader_t *in);
uint64_t record_u64(record_reader_t *in);
/* Returns a pointer into the record; NULL and *length 0 when bad. */
const void *record_bytes(record_reader_t *in, size_t *length, size_t limit);
/* A malloc'd and NUL-terminated copy of a text.  A text with a NUL in it marks the record as bad.  NULL when
 * the record is bad or memory is out. */
char *record_text(record_reader_t *in, size_t limit);
/* Reads a count and checks that the remaining bytes could hold that many items of at least `size` bytes. */
uint32_t record_count(record_reader_t *in, uint32_t limit, size_t size);

/* Sends and receives whole frames over file descriptors: u32 magic, u32 version, u64 length, payload.  There
 * is no time limit. */
#define WIRE_MAGIC 0x6b726b72u /* "rkrk" */
#define WIRE_VERSION 1u
enum { WIRE_HEADER_BYTES = 16 };
bool record_write_all(int fd, const void *data, size_t length);
bool record_read_all(int fd, void *data, size_t length);
void record_header(unsigned char header[WIRE_HEADER_BYTES], uint64_t length);
/* False when magic or version differ or length is over limit. */
bool record_header_length(const unsigned char header[WIRE_HEADER_BYTES], uint64_t limit, uint64_t *length);

#endif
