/* Little-endian byte records; see byte_record.h.  Owns nothing; any thread. */
#include "kernel/byte_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/memory.h"

static void put(unsigned char *out, uint64_t value, uint32_t bytes) {
   for (uint32_t i = 0; i < bytes; i++)
      out[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get(const unsigned char *in, uint32_t bytes) {
   uint64_t value = 0;
   for (uint32_t i = 0; i < bytes; i++)
      value |= (uint64_t)in[i] << (8 * i);
   return value;
}

void record_put_u32(rkb_text_t *out, uint32_t value) {
   unsigned char bytes[4];
   put(bytes, value, sizeof bytes);
   rkb_text_append(out, (const char *)bytes, sizeof bytes);
}

void record_put_u64(rkb_text_t *out, uint64_t value) {
   unsigned char bytes[8];
   put(bytes, value, sizeof bytes);
   rkb_text_append(out, (const char *)bytes, sizeof bytes);
}

void record_put_bytes(rkb_text_t *out, const void *data, size_t length) {
   record_put_u64(out, length);
   if (length)
      rkb_text_append(out, data, length);
}

void record_put_text(rkb_text_t *out, const char *text) {
   record_put_bytes(out, text, strlen(text));
}

static const unsigned char *take(record_reader_t *in, size_t length) {
   const unsigned char *start = in->data + in->at;
   if (in->bad || length > in->size - in->at) {
      in->bad = true;
      return NULL;
   }
   in->at += length;
   return start;
}

uint32_t record_u32(record_reader_t *in) {
   const unsigned char *bytes = take(in, 4);
   return bytes ? (uint32_t)get(bytes, 4) : 0;
}

uint64_t record_u64(record_reader_t *in) {
   const unsigned char *bytes = take(in, 8);
   return bytes ? get(bytes, 8) : 0;
}

const void *record_bytes(record_reader_t *in, size_t *length, size_t limit) {
   uint64_t stated = record_u64(in);
   const void *bytes;
   *length = 0;
   if (stated > limit)
      in->bad = true;
   bytes = take(in, in->bad ? 0 : (size_t)stated);
   if (!bytes)
      return NULL;
   *length = (size_t)stated;
   return bytes;
}

char *record_text(record_reader_t *in, size_t limit) {
   size_t length;
   const void *bytes = record_bytes(in, &length, limit);
   char *copy;
   if (!bytes)
      return NULL;
   if (memchr(bytes, 0, length)) {
      in->bad = true;
      return NULL;
   }
   copy = rkb_try_uncleared(length + 1, 1, NULL);
   if (!copy) {
      in->bad = true;
      return NULL;
   }
   memcpy(copy, bytes, length);
   copy[length] = '\0';
   return copy;
}

uint32_t record_count(record_reader_t *in, uint32_t limit, size_t size) {
   uint32_t count = record_u32(in);
   if (count > limit || (size && count > (in->size - in->at) / size))
      in->bad = true;
   return in->bad ? 0 : count;
}

bool record_write_all(int fd, const void *data, size_t length) {
   const char *at = data;
   while (length) {
      ssize_t written = write(fd, at, length);
      if (written < 0 && errno == EINTR)
         continue;
      if (written <= 0)
         return false;
      at += written;
      length -= (size_t)written;
   }
   return true;
}

bool record_read_all(int fd, void *data, size_t length) {
   char *at = data;
   while (length) {
      ssize_t got = read(fd, at, length);
      if (got < 0 && errno == EINTR)
         continue;
      if (got <= 0)
         return false;
      at += got;
      length -= (size_t)got;
   }
   return true;
}

void record_header(unsigned char header[WIRE_HEADER_BYTES], uint64_t length) {
   put(header, WIRE_MAGIC, 4);
   put(header + 4, WIRE_VERSION, 4);
   put(header + 8, length, 8);
}

bool record_header_length(const unsigned char header[WIRE_HEADER_BYTES], uint64_t limit, uint64_t *length) {
   *length = get(header + 8, 8);
   return get(header, 4) == WIRE_MAGIC && get(header + 4, 4) == WIRE_VERSION && *length <= limit;
}
