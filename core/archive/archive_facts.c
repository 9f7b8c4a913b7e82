/* Reads and stores facts about a run, each write in its own transaction.  Any thread. */
#include <stdlib.h>
#include "archive/run_facts.h"

int rkb_archive_set_fact(rkb_archive_t *archive, const char *key, const char *value, rkb_error_t *err) {
   int status = rkb_archive_begin(archive, err);
   if (status != RKB_OK)
      return status;
   return rkb_archive_end(archive, rkb_fact_put(archive->writer, key, value, err), err);
}

char *rkb_archive_get_fact(rkb_archive_t *archive, const char *key) {
   char *value = NULL;
   rkb_error_t err;
   rkb_connection_t *reader;
   if (rkb_archive_take_reader(archive, &reader, &err) != RKB_OK)
      return NULL;
   if (rkb_fact_get(reader, key, &value, &err) != RKB_OK)
      value = NULL;
   rkb_archive_give_reader(archive, reader);
   return value;
}
