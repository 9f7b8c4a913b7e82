/* Items (item.h).  A value is one allocation that holds key and bytes.  Items have few values, so look-up is linear. */
#include "stage/item.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "base/memory.h"

typedef struct field {
   struct field *next;
   uint32_t kind;
   uint32_t key_bytes; /* with the NUL */
   size_t bytes;
   int64_t integer;
   double real;
   char text[]; /* key, NUL, value, NUL */
} field_t;

typedef struct reference {
   struct reference *next;
   rkb_item_t *item;
   char role[];
} reference_t;

struct rkb_item {
   atomic_uint references;
   uint32_t field_count, reference_count;
   rkb_item_t *base;      /* the item below, for an overlay */
   rkb_item_t *next_dead; /* links the worklist of rkb_item_unref */
   field_t *fields;
   reference_t *first_reference, *last_reference;
   char type[];
};

rkb_item_t *rkb_item_new(const char *type) {
   size_t bytes = strlen(type) + 1;
   rkb_item_t *item = rkb_allocate(1, sizeof *item + bytes);
   atomic_init(&item->references, 1);
   memcpy(item->type, type, bytes);
   return item;
}

rkb_item_t *rkb_item_overlay(const rkb_item_t *base) {
   rkb_item_t *item = rkb_item_new(base->type);
   item->base = rkb_item_ref(base);
   return item;
}

rkb_item_t *rkb_item_ref(const rkb_item_t *item) {
   rkb_item_t *writable = (rkb_item_t *)item;
   atomic_fetch_add_explicit(&writable->references, 1, memory_order_relaxed);
   return writable;
}

static void let_go(rkb_item_t *item, rkb_item_t **dead) {
   if (item && atomic_fetch_sub_explicit(&item->references, 1, memory_order_acq_rel) == 1) {
      item->next_dead = *dead;
      *dead = item;
   }
}

/* A candidate keeps its parents, so the last reference to a long line of descent frees thousands of items: a worklist,
 * because recursion would exhaust a worker's stack. */
void rkb_item_unref(rkb_item_t *item) {
   rkb_item_t *dead = NULL;
   let_go(item, &dead);
   while (dead) {
      rkb_item_t *gone = dead;
      dead = gone->next_dead;
      let_go(gone->base, &dead);
      while (gone->first_reference) {
         reference_t *reference = gone->first_reference;
         gone->first_reference = reference->next;
         let_go(reference->item, &dead);
         free(reference);
      }
      while (gone->fields) {
         field_t *field = gone->fields;
         gone->fields = field->next;
         free(field);
      }
      free(gone);
   }
}

const char *rkb_item_type(const rkb_item_t *item) {
   return item->type;
}

const rkb_item_t *rkb_item_bottom(const rkb_item_t *item) {
   while (item->base)
      item = item->base;
   return item;
}

static field_t **find_own(const rkb_item_t *item, const char *key) {
   field_t **link = (field_t **)&item->fields;
   while (*link && strcmp((*link)->text, key) != 0)
      link = &(*link)->next;
   return link;
}

static const field_t *find(const rkb_item_t *item, const char *key, enum rkb_value_kind kind) {
   for (; item; item = item->base) {
      const field_t *field = *find_own(item, key);
      if (field)
         return field->kind == kind ? field : NULL;
   }
   return NULL;
}

/* Stores a value of `bytes` bytes under key and replaces an older one.  The value is copied from data, or zeroed when data is
 * NULL. */
static int put(rkb_item_t *item, const char *key, enum rkb_value_kind kind, const void *data, size_t bytes,
               field_t **out) {
   size_t key_bytes = strlen(key) + 1;
   if (bytes > RKB_ITEM_VALUE_LIMIT || key_bytes > 256)
      return RKB_ERR_LIMIT;
   field_t **link = find_own(item, key);
   if (!*link && item->field_count >= RKB_ITEM_FIELDS)
      return RKB_ERR_LIMIT;
   field_t *field = rkb_grow(NULL, sizeof *field + key_bytes + bytes + 1, 1);
   *field = (field_t){.kind = kind, .key_bytes = (uint32_t)key_bytes, .bytes = bytes};
   memcpy(field->text, key, key_bytes);
   if (bytes)
      memcpy(field->text + key_bytes, data, bytes);
   field->text[key_bytes + bytes] = '\0';
   if (*link) {
      field_t *old = *link;
      field->next = old->next;
      free(old);
   } else {
      item->field_count++;
   }
   *link = field;
   if (out)
      *out = field;
   return RKB_OK;
}

int rkb_item_set_int(rkb_item_t *item, const char *key, int64_t value) {
   field_t *field;
   int status = put(item, key, RKB_VALUE_INT, NULL, 0, &field);
   if (status == RKB_OK)
      field->integer = value;
   return status;
}

int rkb_item_set_real(rkb_item_t *item, const char *key, double value) {
   field_t *field;
   int status = put(item, key, RKB_VALUE_REAL, NULL, 0, &field);
   if (status == RKB_OK)
      field->real = value;
   return status;
}

int rkb_item_set_text(rkb_item_t *item, const char *key, const char *text) {
   return put(item, key, RKB_VALUE_TEXT, text, strlen(text), NULL);
}

int rkb_item_set_json(rkb_item_t *item, const char *key, const char *json) {
   size_t length = strlen(json);
   if (length > RKB_ITEM_VALUE_LIMIT)
      return RKB_ERR_LIMIT;
   if (strcmp(json, "{}") != 0) {
      rkb_error_t ignored;
      json_t *value = rkb_json_parse(json, length, &ignored);
      if (!value)
         return RKB_ERR_INVALID;
      json_decref(value);
   }
   return put(item, key, RKB_VALUE_JSON, json, length, NULL);
}

int rkb_item_set_blob(rkb_item_t *item, const char *key, const void *data, size_t bytes) {
   return put(item, key, RKB_VALUE_BLOB, data, bytes, NULL);
}

bool rkb_item_int(const rkb_item_t *item, const char *key, int64_t *value) {
   const field_t *field = find(item, key, RKB_VALUE_INT);
   if (field)
      *value = field->integer;
   return field != NULL;
}

bool rkb_item_real(const rkb_item_t *item, const char *key, double *value) {
   const field_t *field = find(item, key, RKB_VALUE_REAL);
   if (field)
      *value = field->real;
   return field != NULL;
}

static const char *value_of(const field_t *field) {
   return field ? field->text + field->key_bytes : NULL;
}

const char *rkb_item_text(const rkb_item_t *item, const char *key) {
   return value_of(find(item, key, RKB_VALUE_TEXT));
}

const char *rkb_item_json(const rkb_item_t *item, const char *key) {
   return value_of(find(item, key, RKB_VALUE_JSON));
}

const void *rkb_item_blob(const rkb_item_t *item, const char *key, size_t *bytes) {
   const field_t *field = find(item, key, RKB_VALUE_BLOB);
   if (field)
      *bytes = field->bytes;
   return value_of(field);
}

void rkb_item_each(const rkb_item_t *item, void (*visit)(void *argument, const rkb_item_value_t *value), void *argument) {
   for (const rkb_item_t *at = item; at; at = at->base)
      for (const field_t *field = at->fields; field; field = field->next) {
         const rkb_item_t *above = item;
         while (above != at && !*find_own(above, field->text))
            above = above->base;
         const rkb_item_value_t value = {.key = field->text,
                                         .kind = field->kind,
                                         .integer = field->integer,
                                         .real = field->real,
                                         .data = value_of(field),
                                         .bytes = field->bytes};
         if (above == at)
            visit(argument, &value);
      }
}

int rkb_item_add_reference(rkb_item_t *item, const char *role, const rkb_item_t *other) {
   size_t bytes = strlen(role) + 1;
   if (item->reference_count >= RKB_ITEM_FIELDS || bytes > 256)
      return RKB_ERR_LIMIT;
   reference_t *reference = rkb_allocate(1, sizeof *reference + bytes);
   reference->next = NULL;
   reference->item = rkb_item_ref(other);
   memcpy(reference->role, role, bytes);
   if (item->last_reference)
      item->last_reference->next = reference;
   else
      item->first_reference = reference;
   item->last_reference = reference;
   item->reference_count++;
   return RKB_OK;
}

uint32_t rkb_item_reference_count(const rkb_item_t *item, const char *role) {
   uint32_t count = 0;
   for (; item; item = item->base)
      for (const reference_t *reference = item->first_reference; reference; reference = reference->next)
         count += strcmp(reference->role, role) == 0;
   return count;
}

const rkb_item_t *rkb_item_reference(const rkb_item_t *item, const char *role, uint32_t index) {
   for (; item; item = item->base)
      for (const reference_t *reference = item->first_reference; reference; reference = reference->next)
         if (strcmp(reference->role, role) == 0 && index-- == 0)
            return reference->item;
   return NULL;
}
