/* Items as bytes (item_record.h): type, count, then key, kind and value of each.  Owns nothing but what it returns; any thread. */
#include "stage/item_record.h"

#include <stdlib.h>
#include <string.h>
#include "base/utf8.h"

enum { MOST_KEY = 255, LEAST_VALUE = 12 };

typedef struct writing {
   rkb_text_t *out; /* NULL: values are only counted */
   uint32_t count;
} writing_t;

static void write_value(void *argument, const rkb_item_value_t *value) {
   writing_t *writing = argument;
   uint64_t bits = (uint64_t)value->integer;
   writing->count++;
   if (!writing->out)
      return;
   record_put_text(writing->out, value->key);
   record_put_u32(writing->out, value->kind);
   if (value->kind == RKB_VALUE_REAL)
      memcpy(&bits, &value->real, sizeof bits);
   if (value->kind == RKB_VALUE_INT || value->kind == RKB_VALUE_REAL)
      record_put_u64(writing->out, bits);
   else
      record_put_bytes(writing->out, value->data, value->bytes);
}

void rkb_item_write(const rkb_item_t *item, rkb_text_t *out) {
   writing_t writing = {0};
   rkb_item_each(item, write_value, &writing);
   record_put_text(out, rkb_item_type(item));
   record_put_u32(out, writing.count);
   writing.out = out;
   rkb_item_each(item, write_value, &writing);
}

static bool is_utf8(const char *text) {
   for (size_t left = strlen(text), length; left; left -= length, text += length)
      if (!(length = rkb_utf8_character(text, left)))
         return false;
   return true;
}

static int read_words(record_reader_t *in, rkb_item_t *item, const char *key, uint32_t kind) {
   char *text = record_text(in, RKB_ITEM_VALUE_LIMIT);
   int status = text && is_utf8(text) ? RKB_OK : RKB_ERR_INVALID;
   if (status == RKB_OK)
      status = kind == RKB_VALUE_JSON ? rkb_item_set_json(item, key, text) : rkb_item_set_text(item, key, text);
   free(text);
   return status;
}

static int read_value(record_reader_t *in, rkb_item_t *item, const char *key) {
   const uint32_t kind = record_u32(in);
   size_t bytes;
   double real;
   if (kind == RKB_VALUE_INT || kind == RKB_VALUE_REAL) {
      const uint64_t bits = record_u64(in);
      memcpy(&real, &bits, sizeof real);
      return kind == RKB_VALUE_INT ? rkb_item_set_int(item, key, (int64_t)bits)
                                   : rkb_item_set_real(item, key, real);
   }
   if (kind == RKB_VALUE_TEXT || kind == RKB_VALUE_JSON)
      return read_words(in, item, key, kind);
   const void *data = record_bytes(in, &bytes, RKB_ITEM_VALUE_LIMIT);
   return kind == RKB_VALUE_BLOB && data ? rkb_item_set_blob(item, key, data, bytes) : RKB_ERR_INVALID;
}

rkb_item_t *rkb_item_read(record_reader_t *in) {
   char *type = record_text(in, MOST_KEY);
   const uint32_t count = record_count(in, RKB_ITEM_FIELDS, LEAST_VALUE);
   rkb_item_t *item = type && !in->bad ? rkb_item_new(type) : NULL;
   int status = item ? RKB_OK : RKB_ERR_INVALID;
   for (uint32_t i = 0; i < count && status == RKB_OK; i++) {
      char *key = record_text(in, MOST_KEY);
      status = key && is_utf8(key) ? read_value(in, item, key) : RKB_ERR_INVALID;
      free(key);
   }
   free(type);
   if (status == RKB_OK && !in->bad)
      return item;
   in->bad = true;
   rkb_item_unref(item);
   return NULL;
}
