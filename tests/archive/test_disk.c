/* A disk that fills up: the write reports it and loses nothing, and the archive continues once there is room.
 * A limit on file size stands for the full disk: the kernel refuses the write in the same place, with EFBIG
 * instead of ENOSPC. */
#include "check.h"
#include "sample_records.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>

enum { LIMIT_BYTES = 600 << 10, MOST = 2000 };

static void set_limit(rlim_t bytes) {
   struct rlimit limit;
   assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
   limit.rlim_cur = bytes;
   assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void full_disk_is_said_and_survived(void **state) {
   rkb_error_t err;
   rkb_archive_t *archive = NULL;
   rkb_run_identity_t identity = sample_identity();
   rkb_archive_counts_t counts;
   int64_t stored = 0;
   char *directory = sample_directory("disk");
   int status = RKB_OK;
   (void)state;
   signal(SIGXFSZ, SIG_IGN);
   assert_ok(rkb_archive_create(directory, &identity, &archive, &err));
   set_limit(LIMIT_BYTES);
   while (status == RKB_OK && stored < MOST) {
      status = sample_put(archive, stored + 1, &err);
      if (status == RKB_OK)
         stored++;
   }
   assert_int_equal(status, RKB_ERR_IO);
   if (!strstr(err.message, "the disk is full"))
      fail_msg("got: %s", err.message);
   assert_true(stored > 0);
   assert_int_equal(sample_put(archive, stored + 1, &err), RKB_ERR_IO); /* and says so again */
   assert_ok(rkb_archive_count(archive, &counts, &err));
   assert_int_equal(counts.candidates, stored);
   set_limit(RLIM_INFINITY);
   assert_ok(sample_put(archive, stored + 1, &err));
   rkb_archive_close(archive);
   assert_ok(rkb_archive_open(directory, &archive, &err));
   assert_ok(rkb_archive_count(archive, &counts, &err));
   assert_int_equal(counts.candidates, stored + 1);
   rkb_archive_close(archive);
   sample_remove(directory);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(full_disk_is_said_and_survived)};
   return RUN_TESTS(tests);
}
