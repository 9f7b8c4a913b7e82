/* Compiled against headers that are one minor newer than this program's (CMakeLists.txt makes them).  It is
 * built twice: as it is, which the program refuses; and asking for the program's own minor, with RKB_HAS
 * before each member that may be missing. */
#include "plugin/bad_objects/common.h"

static int run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const rkb_host_t *host = ((const stage_t *)self)->host;
   (void)in, (void)err;
   if (RKB_HAS(host, of_the_next_minor))
      return rkb_emit_verdict(host, job, RKB_REJECT, "next.offered",
                              "the program claims a member that it does not have");
   return rkb_emit_verdict(host, job, RKB_ACCEPT, "", "went without");
}

static const rkb_stage_t NEXT = {STAGE_HEAD(NAME), .create = good_create, .run = run, .destroy = good_destroy,
                                 .of_the_next_minor = "for newer programs"};
EXPORT(NEXT);
