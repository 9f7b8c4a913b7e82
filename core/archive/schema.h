/* The archive's schema: its versions, and the steps from each to the next. */
#ifndef RKB_ARCHIVE_SCHEMA_H
#define RKB_ARCHIVE_SCHEMA_H

#include "archive/connection.h"

#define RKB_ARCHIVE_APPLICATION_ID 0x726b6261 /* "rkba": file(1) and rkb recognise the file by it */

/* SQL that turns version i into version i + 1.  The first step turns an empty file into version 1. */
extern const char *const rkb_archive_steps[];
extern const int rkb_archive_version; /* number of steps */

/* Migrates a file to version count in one transaction: all steps or none.  RKB_ERR_INVALID when the file is no archive or is newer
 * than count. */
int rkb_archive_migrate(rkb_connection_t *connection, const char *const *steps, int count, rkb_error_t *err);
/* Checks that a file opened for reading is an archive of a version that this program can read. */
int rkb_archive_check_version(rkb_connection_t *connection, rkb_error_t *err);
/* Checks that a run can be resumed in this archive: its identities must be comparable with those that this
 * program computes.  An empty file passes. */
int rkb_archive_check_resumable(rkb_connection_t *connection, rkb_error_t *err);

#endif
