/* The structured log: one line per event, as text for people or as JSON for programs.  Any thread; lines never mix. */
#ifndef RKB_BASE_LOG_H
#define RKB_BASE_LOG_H

#include <stdbool.h>
#include <rkb/plugin.h>

typedef struct rkb_log rkb_log_t;

/* Opens a log.  Lines at or above level go to standard error, as text or, if json, as JSON.  If path is not NULL, every line
 * above RKB_LOG_DEBUG also goes to that file as JSON, whatever the level.  A line longer than 4 KiB is cut and marked. */
int rkb_log_open(int level, bool json, const char *path, rkb_log_t **log, rkb_error_t *err);
void rkb_log_close(rkb_log_t *log);
int rkb_log_level(const rkb_log_t *log);
/* who names the stage or part of the program that writes ("engine").  file may be NULL and line 0. */
void rkb_log_write(rkb_log_t *log, int level, const char *who, const char *file, int line, const char *text);
void rkb_log_printf(rkb_log_t *log, int level, const char *who, const char *fmt, ...) RKB_PRINTF(4, 5);
/* Sets functions to call before and after each text line on standard error, so that a progress display can make room. */
void rkb_log_set_hooks(rkb_log_t *log, void (*before)(void *), void (*after)(void *), void *argument);

#endif
