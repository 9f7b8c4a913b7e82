/* The time that the compiler sees.  It is constant, so that a text compiles to the same bytes at any hour.
 * NVRTC asks libc for the time; this program exports functions of the same names, and the loader finds those
 * first (CMakeLists.txt).  Any thread; no state. */
#include <sys/time.h>
#include <time.h>

static const time_t shown = 946684800; /* 2000-01-01 00:00:00 UTC */

time_t time(time_t *out) {
   if (out)
      *out = shown;
   return shown;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
   (void)zone;
   *now = (struct timeval){.tv_sec = shown};
   return 0;
}

/* Avoids reading /etc/localtime too. */
struct tm *localtime_r(const time_t *restrict when, struct tm *restrict out) {
   return gmtime_r(when, out);
}
