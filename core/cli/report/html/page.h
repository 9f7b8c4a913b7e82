/* A self-contained page: the template that the build assembled, with the data of a report in it.  The data are JSON in elements that
 * no browser executes, and every '<' in them is written as an escape, so no text of a run can end its element.  The main thread alone. */
#ifndef RKB_CLI_REPORT_HTML_PAGE_H
#define RKB_CLI_REPORT_HTML_PAGE_H

#include <jansson.h>
#include "base/text.h"

typedef struct rkb_page {
   rkb_text_t text;
   rkb_error_t error; /* the first error */
   int status;
} rkb_page_t;

/* Whether the build found the charting library; without it the page has only tables and texts. */
bool rkb_page_has_charts(void);

void rkb_page_begin(rkb_page_t *page);
/* Adds a part under an id that the page's scripts know.  Takes ownership of value, which is NULL when memory
 * was out. */
void rkb_page_add(rkb_page_t *page, json_t *value, const char *id_fmt, ...) RKB_PRINTF(3, 4);
/* Frees a page that is not written. */
void rkb_page_drop(rkb_page_t *page);
/* Writes the file.  Frees the page, whatever is returned. */
int rkb_page_write(rkb_page_t *page, const char *path, rkb_error_t *err);
/* Makes the page as a text, for `rkb serve`.  This page may ask its server whether there is newer data.
 * Frees the page, whatever is returned; the caller frees *text. */
int rkb_page_text(rkb_page_t *page, rkb_text_t *text, rkb_error_t *err);

#endif
