/* Fills the page (page.h). */
#include "cli/report/html/page.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/json.h"

#define MAX_PAGE ((size_t)1 << 30)
static const char marker[] = "<!--@data@-->";

/* The assembled template file, byte for byte. */
__asm__(".section .rodata\n"
        ".globl rkb_page_template\n"
        ".globl rkb_page_template_end\n"
        "rkb_page_template:\n"
        ".incbin \"" RKB_PAGE_FILE "\"\n"
        "rkb_page_template_end:\n"
        ".byte 0\n"
        ".previous\n");
extern const char rkb_page_template[], rkb_page_template_end[];

bool rkb_page_has_charts(void) {
   return RKB_PAGE_CHARTS;
}

void rkb_page_begin(rkb_page_t *page) {
   *page = (rkb_page_t){.status = RKB_OK};
   rkb_text_init(&page->text, MAX_PAGE);
   rkb_text_append(&page->text, rkb_page_template,
                   (size_t)(strstr(rkb_page_template, marker) - rkb_page_template));
}

static void fail(rkb_page_t *page, int status) {
   if (page->status == RKB_OK)
      page->status = status;
}

/* In JSON '<' occurs only in strings, so its escape means the same. */
static void add_json(rkb_text_t *text, const char *json) {
   for (;;) {
      const size_t plain = strcspn(json, "<");
      rkb_text_append(text, json, plain);
      if (!json[plain])
         return;
      rkb_text_add(text, "\\u003c");
      json += plain + 1;
   }
}

void rkb_page_add(rkb_page_t *page, json_t *value, const char *id_fmt, ...) {
   va_list ap;
   char *json = value ? rkb_json_canonical(value) : NULL;
   if (!json) {
      fail(page, rkb_fail_memory(&page->error, 0));
   } else {
      rkb_text_add(&page->text, "<script type=\"application/json\" id=\"");
      va_start(ap, id_fmt);
      rkb_text_vformat(&page->text, id_fmt, ap);
      va_end(ap);
      rkb_text_add(&page->text, "\">");
      add_json(&page->text, json);
      rkb_text_add(&page->text, "</script>\n");
   }
   json_decref(value);
   free(json);
}

void rkb_page_drop(rkb_page_t *page) {
   rkb_text_free(&page->text);
}

/* Adds the part of the template after the data. */
static int finish(rkb_page_t *page, rkb_error_t *err) {
   const char *rest = strstr(rkb_page_template, marker) + sizeof marker - 1;
   rkb_text_append(&page->text, rest, (size_t)(rkb_page_template_end - rest));
   if (page->status == RKB_OK && page->text.cut)
      fail(page, rkb_fail(&page->error, RKB_ERR_LIMIT, "the page would be larger than 1 GiB"));
   if (page->status != RKB_OK)
      *err = page->error;
   return page->status;
}

int rkb_page_write(rkb_page_t *page, const char *path, rkb_error_t *err) {
   int status = finish(page, err);
   if (status == RKB_OK)
      status = rkb_file_write(path, rkb_text_get(&page->text), page->text.length, err);
   rkb_page_drop(page);
   return status;
}

/* Only the first mention of the policy is replaced: it is the template's own, and a run's text comes after
 * it. */
int rkb_page_text(rkb_page_t *page, rkb_text_t *text, rkb_error_t *err) {
   static const char policy[] = "default-src 'none';", more[] = " connect-src 'self';";
   rkb_text_init(text, MAX_PAGE + sizeof more);
   const int status = finish(page, err);
   if (status == RKB_OK) {
      const char *all = rkb_text_get(&page->text), *at = strstr(all, policy);
      const size_t head = at ? (size_t)(at - all) + sizeof policy - 1 : 0;
      rkb_text_append(text, all, head);
      rkb_text_add(text, at ? more : "");
      rkb_text_append(text, all + head, page->text.length - head);
   }
   rkb_page_drop(page);
   return status;
}
