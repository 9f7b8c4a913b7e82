/* Writes the kernel that makes the statements of two (join_launches.h). */
#include <stdlib.h>
#include <string.h>
#include "lift/buffers.h"
#include "lift/join_launches.h"
#include "lift/loops.h"

static const join_name_t *name_of(const join_launches_t *join, uint32_t parameter) {
   for (uint32_t n = 0; n < join->name_count; n++)
      if (join->names[n].parameter == parameter)
         return &join->names[n];
   return NULL;
}

/* Whether the parameter of the first kernel's becomes one that the second stores through. */
static bool is_stored_later(const join_launches_t *join, uint32_t parameter) {
   for (uint32_t n = 0; n < join->name_count; n++)
      if (join->names[n].shared == parameter && strchr(join->tree->nodes[parameter].type, '*') &&
          strncmp(join->tree->nodes[join->names[n].parameter].type, "const ", 6) != 0)
         return true;
   return false;
}

/* Whether the new kernel has no use for a parameter: the element goes through a register, and is not stored. */
static bool is_dropped(const join_launches_t *join, uint32_t parameter) {
   return !join->keeps && (parameter == join->stored || parameter == join->loaded);
}

/* A parameter's declaration under another name, and without const if something is stored through it. */
static void write_declaration(const join_launches_t *join, uint32_t parameter, const char *name, bool stored,
                              rkb_text_t *out) {
   const lift_tree_t *tree = join->tree;
   const lift_node_t *n = &tree->nodes[parameter];
   char own[64];
   uint32_t start = n->start;
   lift_name(tree, parameter, own, sizeof own);
   if (stored && strncmp(tree->text + start, "const ", 6) == 0)
      start += 6;
   if (out->length > 0)
      rkb_text_add(out, ", ");
   rkb_text_append(out, tree->text + start, n->name - start);
   rkb_text_add(out, name);
   rkb_text_append(out, tree->text + n->name + strlen(own), n->end - n->name - (uint32_t)strlen(own));
}

/* The parameters of the new kernel, and their values in the launch. */
static void write_parameters(const join_launches_t *join, bool of_template, rkb_text_t *parameters,
                             rkb_text_t *values) {
   const lift_tree_t *tree = join->tree;
   const enum lift_kind kind = of_template ? LIFT_TEMPLATE_PARAMETER : LIFT_PARAMETER;
   for (uint32_t which = 0; which < 2; which++) {
      const lift_list_t *list = of_template ? join->templates[which] : join->arguments[which];
      uint32_t index = 0;
      for (uint32_t c = lift_child(tree, join->kernels[which]->kernel, 0); c != LIFT_NONE;
           c = tree->nodes[c].next) {
         if (!lift_is(tree, c, kind))
            continue;
         const char *value = index < list->count ? list->entries[index] : "";
         const join_name_t *name = which == 1 ? name_of(join, c) : NULL;
         char own[64];
         index++;
         if (is_dropped(join, c) || (name && name->shared != LIFT_NONE))
            continue;
         lift_name(tree, c, own, sizeof own);
         write_declaration(join, c, name ? name->name : own, which == 0 && is_stored_later(join, c),
                           parameters);
         rkb_text_format(values, "%s%s", values->length > 0 ? ", " : "", value);
      }
   }
}

/* The statements of a kernel, in a block of their own. */
static bool write_statements(const join_launches_t *join, uint32_t which, rkb_text_t *out) {
   const lift_tree_t *tree = join->tree;
   const uint32_t body = join->kernels[which]->body;
   lift_change_t names = {0};
   char text[200];
   for (uint32_t i = body; i < tree->nodes[body].last; i++) {
      if (!lift_is(tree, i, LIFT_NAME))
         continue;
      const uint32_t declaration = tree->nodes[i].declaration;
      const join_name_t *name = which == 1 ? name_of(join, declaration) : NULL;
      if (which == 1 && declaration == join->loaded)
         lift_replace_node(&names, tree, tree->nodes[i].parent, join->handed);
      else if (name)
         lift_replace(&names, tree->nodes[i].name, tree->nodes[i].end, "%s", name->name);
   }
   if (which == 0) {
      const uint32_t target = lift_assigned(tree, join->store);
      if (join->keeps) {
         lift_replace(&names, tree->nodes[target].end, tree->nodes[target].end, " = %s", join->handed);
      } else {
         snprintf(text, sizeof text, "%s", join->handed);
         lift_replace_node(&names, tree, target, text);
      }
   }
   rkb_text_add(out, "{");
   const bool sound = lift_write(out, tree, &names, tree->nodes[body].start + 1, tree->nodes[body].end);
   rkb_text_add(out, "\n");
   lift_change_free(&names);
   return sound;
}

/* Whether a launch other than the two runs the kernel. */
static bool is_used_elsewhere(const join_launches_t *join, uint32_t kernel) {
   lift_list_t *templates = rkb_allocate(1, sizeof *templates);
   bool used = false;
   for (uint32_t l = 0; l < join->launches->count; l++)
      used = used || (l != join->first && l != join->first + 1 &&
                      lift_launch_runs(&join->launches->list[l], join->tree, kernel, templates));
   free(templates);
   return used;
}

static bool change_launches(const join_launches_t *join, const char *templates, const char *values) {
   lift_launches_t *launches = rkb_allocate(1, sizeof *launches);
   *launches = *join->launches;
   lift_launch_t *launch = &launches->list[join->first];
   bool sound = strlen(values) < sizeof launch->args &&
                strlen(join->name) + strlen(templates) + 3 < sizeof launch->kernel;
   if (sound) {
      snprintf(launch->kernel, sizeof launch->kernel, templates[0] ? "%s<%s>" : "%s", join->name, templates);
      snprintf(launch->args, sizeof launch->args, "%s", values);
      memmove(launch + 1, launch + 2, (launches->count - join->first - 2) * sizeof *launch);
      launches->count--;
      sound = lift_write_launches(join->change, join->tree, join->manifest, launches);
   } else {
      lift_refuse(join->change, "the launch's arguments become too long");
   }
   free(launches);
   return sound;
}

bool join_launches_write(join_launches_t *join) {
   const lift_tree_t *tree = join->tree;
   rkb_text_t parameters, templates, values, arguments, kernel, body;
   char one[64], other[64], scratch[64];
   rkb_text_init(&parameters, LIFT_MAX_TEXT);
   rkb_text_init(&templates, LIFT_MAX_TEXT);
   rkb_text_init(&values, LIFT_MAX_TEXT);
   rkb_text_init(&arguments, LIFT_MAX_TEXT);
   rkb_text_init(&kernel, LIFT_MAX_TEXT);
   rkb_text_init(&body, LIFT_MAX_TEXT);
   write_parameters(join, true, &templates, &arguments);
   write_parameters(join, false, &parameters, &values);
   lift_name(tree, join->kernels[0]->kernel, one, sizeof one);
   lift_name(tree, join->kernels[1]->kernel, other, sizeof other);
   rkb_text_format(&kernel, "/* What %s and %s compute, one after the other for each element. */\n", one,
                   other);
   if (templates.length > 0)
      rkb_text_format(&kernel, "template <%s> ", rkb_text_get(&templates));
   rkb_text_format(&kernel, "__global__ void %s(%s) ", join->name, rkb_text_get(&parameters));
   rkb_text_add(&body, "{\n");
   lift_write_pointee(tree->nodes[join->stored].type, &body);
   rkb_text_format(&body, " %s;\n", join->handed);
   bool sound = write_statements(join, 0, &body) && write_statements(join, 1, &body) && !kernel.cut;
   rkb_text_add(&body, "}");
   lift_indent_lines(&body);
   rkb_text_append(&kernel, rkb_text_get(&body),
                   body.length - (body.length > 0)); /* without the last line's end */
   sound = sound && !body.cut && !kernel.cut &&
           change_launches(join, rkb_text_get(&arguments), rkb_text_get(&values));
   const uint32_t later = join->kernels[0]->kernel < join->kernels[1]->kernel;
   for (uint32_t which = 0; sound && which < 2; which++) {
      const uint32_t own = join->kernels[which]->kernel, start = lift_function_start(tree, own);
      uint32_t end = tree->nodes[own].end;
      if (which == later)
         lift_replace(join->change, is_used_elsewhere(join, own) ? end : start, end, "%s%s",
                      is_used_elsewhere(join, own) ? "\n\n" : "", rkb_text_get(&kernel));
      else if (!is_used_elsewhere(join, own))
         lift_replace(join->change, start, end + strspn(tree->text + end, "\n"), "%s", "");
   }
   if (sound && !join->keeps) {
      uint32_t index = 0;
      while (lift_parameter(tree, join->kernels[0]->kernel, index) != join->stored)
         index++;
      snprintf(scratch, sizeof scratch, "%.63s", join->arguments[0]->entries[index]);
      lift_remove_entry(join->change, tree, join->manifest, "scratch", scratch);
   }
   rkb_text_free(&parameters);
   rkb_text_free(&templates);
   rkb_text_free(&values);
   rkb_text_free(&arguments);
   rkb_text_free(&kernel);
   rkb_text_free(&body);
   return sound || lift_refuse(join->change, "the text is not understood, or becomes too long");
}
