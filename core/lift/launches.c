/* Reads and writes the launches of a manifest. */
#include "lift/launches.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool copy_trimmed(char *out, size_t size, const char *text, size_t length) {
   while (length > 0 && isspace((unsigned char)*text))
      text++, length--;
   while (length > 0 && isspace((unsigned char)text[length - 1]))
      length--;
   return (size_t)snprintf(out, size, "%.*s", (int)length, text) < size;
}

bool lift_list_split(const char *text, lift_list_t *list) {
   const char *from = text;
   int depth = 0;
   list->count = 0;
   if (text[strspn(text, " ")] == '\0')
      return true;
   for (const char *at = text;; at++) {
      depth += (*at == '(' || *at == '<' || *at == '{') - (*at == ')' || *at == '>' || *at == '}');
      if (*at != '\0' && (*at != ',' || depth != 0))
         continue;
      if (list->count == LIFT_MAX_LIST || !copy_trimmed(list->entries[list->count++], LIFT_MAX_EXPRESSION, from, (size_t)(at - from)))
         return false;
      if (*at == '\0')
         return true;
      from = at + 1;
   }
}

static bool keep(char *out, size_t size, const char *text) {
   return copy_trimmed(out, size, text, strlen(text));
}

bool lift_launches_read(const manifest_t *manifest, lift_launches_t *launches, lift_change_t *change) {
   launches->count = 0;
   if (manifest->public.launch_count > LIFT_MAX_LAUNCHES)
      return lift_refuse(change, "the manifest has more than %d launches", LIFT_MAX_LAUNCHES);
   for (uint32_t i = 0; i < manifest->public.launch_count; i++) {
      const rkb_launch_text_t *from = &manifest->public.launches[i];
      lift_launch_t *to = &launches->list[launches->count++];
      if (from->cluster[0] || from->dependent || manifest->launches[i].constant_count > 0)
         return lift_refuse(change, "launch %u has a cluster or constants, or is dependent", i + 1);
      if (!keep(to->kernel, sizeof to->kernel, from->kernel) || !keep(to->when, sizeof to->when, from->when) ||
          !keep(to->grid, sizeof to->grid, from->grid) || !keep(to->block, sizeof to->block, from->block) ||
          !keep(to->shared, sizeof to->shared, from->shared) || !keep(to->args, sizeof to->args, from->args))
         return lift_refuse(change, "an expression of launch %u is too long", i + 1);
      to->is_else = from->is_else;
      to->cooperative = from->cooperative;
   }
   return true;
}

bool lift_launch_runs(const lift_launch_t *launch, const lift_tree_t *tree, uint32_t kernel, lift_list_t *arguments) {
   char name[128];
   const size_t length = strcspn(launch->kernel, "<");
   lift_name(tree, kernel, name, sizeof name);
   arguments->count = 0;
   if (strlen(name) != length || strncmp(launch->kernel, name, length) != 0)
      return false;
   if (launch->kernel[length] == '\0')
      return true;
   char inside[LIFT_MAX_EXPRESSION];
   snprintf(inside, sizeof inside, "%s", launch->kernel + length + 1);
   char *close = strrchr(inside, '>');
   if (!close)
      return false;
   *close = '\0';
   return lift_list_split(inside, arguments);
}

const char *lift_template_argument(const lift_tree_t *tree, uint32_t kernel, const lift_list_t *arguments, uint32_t parameter) {
   uint32_t index = 0;
   for (uint32_t child = lift_child(tree, kernel, 0); child != LIFT_NONE; child = tree->nodes[child].next) {
      if (tree->nodes[child].kind != LIFT_TEMPLATE_PARAMETER)
         continue;
      if (child == parameter)
         return index < arguments->count ? arguments->entries[index] : NULL;
      index++;
   }
   return NULL;
}

static bool is_tune(const lift_tree_t *tree, uint32_t name) {
   /* If the text does not declare a name and the name is no builtin, it is a tune parameter: the parser received the
    * tune parameters as constants. */
   char text[64];
   lift_name(tree, name, text, sizeof text);
   return tree->nodes[name].declaration == LIFT_NONE && isupper((unsigned char)text[0]);
}

bool lift_in_manifest(const lift_tree_t *tree, uint32_t expression, uint32_t kernel, const lift_list_t *arguments, rkb_text_t *out) {
   const lift_node_t *n = &tree->nodes[expression];
   char operator[4];
   switch (n->kind) {
   case LIFT_INTEGER:
      lift_write_node(out, tree, expression);
      return true;
   case LIFT_NAME: {
      const char *argument = n->declaration == LIFT_NONE ? NULL : lift_template_argument(tree, kernel, arguments, n->declaration);
      if (argument)
         rkb_text_format(out, "(%s)", argument);
      else if (is_tune(tree, expression))
         lift_write_node(out, tree, expression);
      else
         return false;
      return true;
   }
   case LIFT_PARENTHESES: {
      rkb_text_add(out, "(");
      const bool inside = lift_children(tree, expression) == 1 && lift_in_manifest(tree, lift_child(tree, expression, 0), kernel, arguments, out);
      rkb_text_add(out, ")");
      return inside;
   }
   case LIFT_BINARY:
      lift_operator(tree, expression, operator);
      if (!operator[0] || operator[1] || !strchr("+-*/%", operator[0]) ||
          !lift_in_manifest(tree, lift_child(tree, expression, 0), kernel, arguments, out))
         return false;
      rkb_text_format(out, " %s ", operator);
      return lift_in_manifest(tree, lift_child(tree, expression, 1), kernel, arguments, out);
   default:
      return false;
   }
}

bool lift_no_alias(const lift_tree_t *tree, const lift_launches_t *launches, uint32_t kernel) {
   lift_list_t arguments, values;
   for (uint32_t l = 0; l < launches->count; l++) {
      if (!lift_launch_runs(&launches->list[l], tree, kernel, &arguments) || !lift_list_split(launches->list[l].args, &values))
         continue;
      for (uint32_t i = 0; i < values.count; i++)
         for (uint32_t j = i + 1; j < values.count; j++) {
            const size_t a = strcspn(values.entries[i], " +,*/"), b = strcspn(values.entries[j], " +,*/");
            uint32_t parameter = 0, at = 0;
            for (uint32_t child = lift_child(tree, kernel, 0); child != LIFT_NONE; child = tree->nodes[child].next)
               if (tree->nodes[child].kind == LIFT_PARAMETER && at++ == i)
                  parameter = child;
            if (strchr(tree->nodes[parameter].type, '*') && a == b && strncmp(values.entries[i], values.entries[j], a) == 0)
               return false;
         }
   }
   return true;
}

static const char *strip(const char *text, size_t *length) {
   *length = strlen(text);
   while (*length > 1 && text[0] == '(' && text[*length - 1] == ')') {
      int depth = 0;
      for (size_t i = 0; i + 1 < *length; i++) {
         depth += (text[i] == '(') - (text[i] == ')');
         if (depth == 0)
            return text;
      }
      text++;
      *length -= 2;
   }
   return text;
}

bool lift_same_text(const char *one, const char *other) {
   size_t m, n, i = 0, j = 0;
   one = strip(one, &m);
   other = strip(other, &n);
   for (;;) {
      while (i < m && isspace((unsigned char)one[i]))
         i++;
      while (j < n && isspace((unsigned char)other[j]))
         j++;
      if (i == m || j == n)
         return i == m && j == n;
      if (one[i++] != other[j++])
         return false;
   }
}

/* manifest lines ----------------------------------------------------------------------------------------- */

/* Finds the line `key:` that begins a section, and the byte after the section's last line. */
static bool find_section(const lift_tree_t *tree, const manifest_t *manifest, const char *key, uint32_t *start, uint32_t *end) {
   const uint32_t close = manifest->public.comment_start + manifest->public.comment_length - 2;
   const size_t length = strlen(key);
   for (uint32_t at = manifest->public.comment_start; at < close; at++) {
      if (tree->text[at] != '\n' || strncmp(tree->text + at + 1, key, length) != 0 || tree->text[at + 1 + length] != ':')
         continue;
      *start = at + 1;
      for (at++; at < close; at++)
         if (tree->text[at] == '\n' && (at + 1 >= close || !isspace((unsigned char)tree->text[at + 1])))
            break;
      *end = at < close ? at + 1 : close;
      return true;
   }
   return false;
}

/* Writes a plain scalar if YAML reads it as a text; otherwise a quoted scalar. */
static void write_value(rkb_text_t *out, const char *key, const char *value) {
   const bool plain = isalnum((unsigned char)value[0]) && !strstr(value, ": ") && !strstr(value, " #");
   rkb_text_format(out, plain ? "    %s: %s\n" : "    %s: \"%s\"\n", key, value);
}

bool lift_write_launches(lift_change_t *change, const lift_tree_t *tree, const manifest_t *manifest, const lift_launches_t *launches) {
   rkb_text_t out;
   uint32_t start, end;
   if (!find_section(tree, manifest, "launches", &start, &end))
      return lift_refuse(change, "the manifest's launches are not written one key a line");
   rkb_text_init(&out, LIFT_MAX_TEXT);
   rkb_text_add(&out, "launches:\n");
   for (uint32_t i = 0; i < launches->count; i++) {
      const lift_launch_t *launch = &launches->list[i];
      const uint32_t first = (uint32_t)out.length;
      if (launch->is_else)
         rkb_text_add(&out, "    else:\n");
      write_value(&out, "kernel", launch->kernel);
      if (launch->when[0])
         write_value(&out, "when", launch->when);
      write_value(&out, "grid", launch->grid);
      write_value(&out, "block", launch->block);
      if (launch->shared[0])
         write_value(&out, "shared", launch->shared);
      if (launch->cooperative)
         rkb_text_add(&out, "    cooperative: true\n");
      if (launch->args[0])
         write_value(&out, "args", launch->args);
      if (!out.cut)
         out.data[first + 2] = '-';
   }
   lift_replace(change, start, end, "%s", rkb_text_get(&out));
   rkb_text_free(&out);
   return true;
}

bool lift_add_entry(lift_change_t *change, const lift_tree_t *tree, const manifest_t *manifest, const char *section, const char *entry) {
   uint32_t start, end;
   const size_t length = strlen(section);
   if (!find_section(tree, manifest, section, &start, &end)) {
      if (!find_section(tree, manifest, "launches", &start, &end))
         return lift_refuse(change, "the manifest's launches are not written one key a line");
      lift_replace(change, start, start, "%s:\n  %s\n", section, entry);
      return true;
   }
   if (tree->text[start + length + 1] != '\n')
      return lift_refuse(change, "the manifest's %s is not written one key a line", section);
   lift_replace(change, end, end, "  %s\n", entry);
   return true;
}

void lift_remove_entry(lift_change_t *change, const lift_tree_t *tree, const manifest_t *manifest,
                       const char *section, const char *name) {
   uint32_t start, end, entries = 0, from = 0, to = 0;
   if (!find_section(tree, manifest, section, &start, &end))
      return;
   for (uint32_t at = start + (uint32_t)strcspn(tree->text + start, "\n") + 1; at < end;) {
      const uint32_t next = at + (uint32_t)strcspn(tree->text + at, "\n") + 1;
      const char *line = tree->text + at + strspn(tree->text + at, " ");
      if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':') {
         from = at;
         to = next;
      }
      entries++;
      at = next;
   }
   if (to > 0 && to <= end) /* an entry that has a line of its own */
      lift_replace(change, entries == 1 ? start : from, to, "%s", "");
}

void lift_fresh_name(const lift_tree_t *tree, const char *wanted, char *out, size_t size) {
   snprintf(out, size, "%s", wanted);
   for (int number = 2; strstr(tree->text, out) && number < 1000; number++)
      snprintf(out, size, "%s_%d", wanted, number);
}
