/* The structured log: one line an event, text for people or JSON for programs.  Any thread; lines never mix. */
#ifndef RKB_BASE_LOG_H
#define RKB_BASE_LOG_H

#include <stdbool.h>
#include <rkb/plugin.h>

typedef struct rkb_log rkb_log_t;

/* Lines at or above level go to standard error (text, or JSON when json) and, when path is not NULL, as JSON lines to that
 * file whatever the level above RKB_LOG_DEBUG.  Each line at most 4 KiB; longer ones are cut and marked. */
int rkb_log_open(int level, bool json, const char *path, rkb_log_t **log, rkb_error_t *err);
void rkb_log_close(rkb_log_t *log);
int rkb_log_level(const rkb_log_t *log);
/* who: the stage or part ("engine"); file and line may be NULL and 0. */
void rkb_log_write(rkb_log_t *log, int level, const char *who, const char *file, int line, const char *text);
void rkb_log_printf(rkb_log_t *log, int level, const char *who, const char *fmt, ...) RKB_PRINTF(4, 5);
/* While a progress display owns the terminal: called around each text line on standard error. */
void rkb_log_set_hooks(rkb_log_t *log, void (*before)(void *), void (*after)(void *), void *argument);

#endif
