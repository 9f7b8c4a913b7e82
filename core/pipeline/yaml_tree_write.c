/* Writes a tree as YAML that reads back to the same tree; the run directory keeps it as pipeline.yaml. */
#include "pipeline/yaml_tree.h"

#include <string.h>

/* Whether a scalar needs no quotes, because every reader takes it as this text. */
static bool plain(const rkb_yaml_t *node) {
   if (node->quoted || !node->length)
      return false;
   for (size_t i = 0; i < node->length; i++) {
      unsigned char at = (unsigned char)node->text[i];
      bool word =
         (at >= '0' && at <= '9') || (at >= 'a' && at <= 'z') || (at >= 'A' && at <= 'Z') || at == '_';
      if (!word && !(i && strchr("./+-", at)) &&
          !(i == 0 && node->length > 1 && (at == '-' || at == '/' || at == '.')))
         return false;
   }
   return true;
}

static void write_scalar(const rkb_yaml_t *node, rkb_text_t *out) {
   if (plain(node)) {
      rkb_text_append(out, node->text, node->length);
      return;
   }
   if (rkb_yaml_is_null(node)) {
      rkb_text_add(out, "~");
      return;
   }
   rkb_text_add(out, "\"");
   for (size_t i = 0; i < node->length; i++) {
      unsigned char at = (unsigned char)node->text[i];
      if (at == '"' || at == '\\')
         rkb_text_format(out, "\\%c", at);
      else if (at == '\n')
         rkb_text_add(out, "\\n");
      else if (at < 0x20 || at == 0x7f)
         rkb_text_format(out, "\\x%02x", at);
      else
         rkb_text_append(out, (const char *)&node->text[i], 1);
   }
   rkb_text_add(out, "\"");
}

static void write_node(const rkb_yaml_t *node, int depth, bool begun, rkb_text_t *out);

/* Writes a value after "key:" or "-".  It goes on the same line if it is a scalar, empty, or a mapping in a list, else below. */
static void write_value(const rkb_yaml_t *node, int depth, bool in_list, rkb_text_t *out) {
   if (node->kind == RKB_YAML_SCALAR) {
      rkb_text_add(out, " ");
      write_scalar(node, out);
      rkb_text_add(out, "\n");
   } else if (!node->count) {
      rkb_text_add(out, node->kind == RKB_YAML_MAP ? " {}\n" : " []\n");
   } else if (in_list && node->kind == RKB_YAML_MAP) {
      rkb_text_add(out, " ");
      write_node(node, depth + 1, true, out);
   } else {
      rkb_text_add(out, "\n");
      write_node(node, depth + 1, false, out);
   }
}

/* Writes a list or mapping.  begun: the output is already at the first child's column. */
static void write_node(const rkb_yaml_t *node, int depth, bool begun, rkb_text_t *out) {
   for (uint32_t i = 0; i < node->count; i++) {
      if (i || !begun)
         rkb_text_format(out, "%*s", depth * 2, "");
      if (node->kind == RKB_YAML_MAP) {
         write_scalar(node->keys[i], out);
         rkb_text_add(out, ":");
      } else {
         rkb_text_add(out, "-");
      }
      write_value(node->items[i], depth, node->kind == RKB_YAML_LIST, out);
   }
}

void rkb_tree_write(const rkb_yaml_t *node, rkb_text_t *out) {
   if (node->kind == RKB_YAML_SCALAR) {
      write_scalar(node, out);
      rkb_text_add(out, "\n");
   } else if (!node->count) {
      rkb_text_add(out, node->kind == RKB_YAML_MAP ? "{}\n" : "[]\n");
   } else {
      write_node(node, 0, false, out);
   }
}
