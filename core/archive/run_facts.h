/* A run's facts: names, each with a value, in the table fact. */
#ifndef RKB_ARCHIVE_RUN_FACTS_H
#define RKB_ARCHIVE_RUN_FACTS_H

#include "archive/archive_internal.h"

/* Replaces the fact's value; NULL is the empty text. */
int rkb_fact_put(rkb_connection_t *writer, const char *key, const char *value, rkb_error_t *err);
/* *value is malloc'd; it is NULL, with RKB_OK, when the fact is absent. */
int rkb_fact_get(rkb_connection_t *connection, const char *key, char **value, rkb_error_t *err);

#endif
