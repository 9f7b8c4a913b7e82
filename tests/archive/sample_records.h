/* Records to store in tests, and a directory to store them in. */
#ifndef RKB_TESTS_ARCHIVE_SAMPLE_H
#define RKB_TESTS_ARCHIVE_SAMPLE_H

#include "archive/archive.h"

enum { SAMPLE_VERDICTS = 3, SAMPLE_MEASUREMENTS = 6, SAMPLE_SOURCE = 2048 };

/* A fresh directory under the current one; malloc'd.  sample_remove deletes it with what is in it and frees the name. */
char *sample_directory(const char *name);
void sample_remove(char *directory);

rkb_run_identity_t sample_identity(void);
rkb_request_record_t sample_request(int64_t number, uint32_t state);

/* A candidate with its verdicts and measurements; what it points to lives in the sample. */
typedef struct sample_candidate {
   rkb_candidate_record_t record;
   char source[SAMPLE_SOURCE + 1], hash[40], source_hash[40], tune[64];
   rkb_parent_record_t parents[1];
   rkb_verdict_record_t verdicts[SAMPLE_VERDICTS];
   rkb_measurement_record_t measurements[SAMPLE_MEASUREMENTS];
} sample_candidate_t;
/* Candidate number of search request number - 1, each with a source of its own. */
void sample_candidate(sample_candidate_t *sample, int64_t number);
/* Stores it with its request, in one transaction. */
int sample_put(rkb_archive_t *archive, int64_t number, rkb_error_t *err);

/* Fails the test with the error's message. */
#define assert_ok(call)                                                                                      \
   do {                                                                                                      \
      int assert_ok_status = (call);                                                                         \
      if (assert_ok_status != RKB_OK)                                                                        \
         fail_msg("%s: status %d: %s", #call, assert_ok_status, err.message);                                \
   } while (0)

#endif
