/* Items are what stages pass to each other: a type name and a flat set of named values, immutable once emitted, reference counted. 
 * The core adds its own keys in an overlay, which shares everything else with the item below it, so that a source text is never
 * copied.  Any thread. */
#ifndef RKB_STAGE_ITEM_H
#define RKB_STAGE_ITEM_H

#include <rkb/plugin.h>

#define RKB_ITEM_VALUE_LIMIT (4u << 20) /* bytes of one value */
#define RKB_ITEM_FIELDS 256             /* values, and references, of one item */

rkb_item_t *rkb_item_new(const char *type);
/* Makes an item that answers with its own values first and with base's values otherwise.  Its references and type are base's. */
rkb_item_t *rkb_item_overlay(const rkb_item_t *base);
rkb_item_t *rkb_item_ref(const rkb_item_t *item);
void rkb_item_unref(rkb_item_t *item); /* NULL is accepted */
const char *rkb_item_type(const rkb_item_t *item);

int rkb_item_set_int(rkb_item_t *item, const char *key, int64_t value);
int rkb_item_set_real(rkb_item_t *item, const char *key, double value);
int rkb_item_set_text(rkb_item_t *item, const char *key, const char *text);
int rkb_item_set_json(rkb_item_t *item, const char *key,
                      const char *json); /* refused when it does not parse */
int rkb_item_set_blob(rkb_item_t *item, const char *key, const void *data, size_t bytes);

bool rkb_item_int(const rkb_item_t *item, const char *key, int64_t *value);
bool rkb_item_real(const rkb_item_t *item, const char *key, double *value);
const char *rkb_item_text(const rkb_item_t *item, const char *key);
const char *rkb_item_json(const rkb_item_t *item, const char *key);
const void *rkb_item_blob(const rkb_item_t *item, const char *key, size_t *bytes);

int rkb_item_add_reference(rkb_item_t *item, const char *role, const rkb_item_t *other);
uint32_t rkb_item_reference_count(const rkb_item_t *item, const char *role);
const rkb_item_t *rkb_item_reference(const rkb_item_t *item, const char *role, uint32_t index);

/* Visits the values that the item answers with, its own before its base's. */
enum rkb_value_kind { RKB_VALUE_INT, RKB_VALUE_REAL, RKB_VALUE_TEXT, RKB_VALUE_JSON, RKB_VALUE_BLOB };
typedef struct rkb_item_value {
   const char *key;
   uint32_t kind; /* enum rkb_value_kind */
   int64_t integer;
   double real;
   const void *data; /* of the other kinds */
   size_t bytes;
} rkb_item_value_t;
void rkb_item_each(const rkb_item_t *item, void (*visit)(void *argument, const rkb_item_value_t *value), void *argument);

/* The item below all overlays, as a stage made it.  Two overlays of one item share it. */
const rkb_item_t *rkb_item_bottom(const rkb_item_t *item);

#endif
