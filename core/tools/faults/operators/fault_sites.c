/* Lists of sites, and texts in which a site's replacements are made.  Any thread. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "tools/faults/operators/operator.h"

void sites_begin(sites_t *sites) {
   if (sites->count == sites->room) {
      uint32_t room = sites->room ? 2 * sites->room : 16;
      sites->list = rkb_grow(sites->list, room, sizeof *sites->list);
      sites->room = room;
   }
   sites->list[sites->count++] = (site_t){.count = 0};
}

void sites_replace(sites_t *sites, uint32_t start, uint32_t end, const char *fmt, ...) {
   site_t *site = sites->failed || !sites->count ? NULL : &sites->list[sites->count - 1];
   va_list ap;
   if (!site || site->count == MOST_EDITS) {
      sites->failed = true;
      return;
   }
   va_start(ap, fmt);
   site->edits[site->count++] = (edit_t){start, end, rkb_format_list(fmt, ap)};
   va_end(ap);
}

void sites_show_where(sites_t *sites, const char *fmt, ...) {
   va_list ap;
   if (!sites->count) {
      sites->failed = true;
      return;
   }
   va_start(ap, fmt);
   sites->list[sites->count - 1].where = rkb_format_list(fmt, ap);
   va_end(ap);
}

void sites_free(sites_t *sites) {
   for (uint32_t i = 0; i < sites->count; i++)
      free(sites->list[i].where);
   for (uint32_t i = 0; i < sites->count; i++)
      for (uint32_t k = 0; k < sites->list[i].count; k++)
         free(sites->list[i].edits[k].text);
   free(sites->list);
   *sites = (sites_t){0};
}

static int by_start(const void *a, const void *b) {
   const edit_t *left = a, *right = b;
   return (left->start > right->start) - (left->start < right->start);
}

char *site_apply(const source_t *source, const site_t *site, size_t *bytes) {
   site_t sorted = *site;
   size_t room = source->bytes + 1, used = 0;
   uint32_t from = 0;
   qsort(sorted.edits, sorted.count, sizeof *sorted.edits, by_start);
   for (uint32_t i = 0; i < sorted.count; i++)
      room += strlen(sorted.edits[i].text);
   char *text = rkb_allocate(room, 1);
   for (uint32_t i = 0; i < sorted.count; i++) {
      const edit_t *edit = &sorted.edits[i];
      size_t length = strlen(edit->text);
      memcpy(text + used, source->text + from, edit->start - from);
      used += edit->start - from;
      memcpy(text + used, edit->text, length);
      used += length;
      from = edit->end;
   }
   memcpy(text + used, source->text + from, source->bytes - from);
   used += source->bytes - from;
   text[used] = '\0';
   *bytes = used;
   return text;
}
