/* The confinement of jobs' processes (confined_sandbox.h).  Each layer is used if this kernel has it, as for the compiler; `rkb
 * doctor` lists the layers that this kernel has.  Owns nothing. */
#include "stage/confined/confined_sandbox.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include "base/call_filter.h"
#include "base/confine.h"

void confined_sandbox_enter(confined_layers_t *layers) {
   const struct rlimit none = {0, 0};
   uint64_t held;
   layers->capabilities = rkb_drop_capabilities();
   prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
   prctl(PR_SET_DUMPABLE, 0);
   setrlimit(RLIMIT_CORE, &none);
   const int rules = rkb_landlock_begin(&held);
   layers->landlock = rules >= 0 && rkb_landlock_enter(rules); /* no path is allowed */
}

#if defined(AUDIT_ARCHITECTURE) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Allows what a computation needs: reading and writing open descriptors, memory that is never executable, threads, and the time.
 * The process can open no file, start no process, and signal only itself. memfd_create is for memory that is mapped more than
 * once.  With a sanitizer there is no filter, because a sanitizer opens files of its own. */
static bool allow_computing(void) {
   const uint32_t own = (uint32_t)getpid();
   struct sock_filter code[] = {
      FILTER_BEGINS,
      MAY(read), MAY(write), MAY(close), MAY(fstat), MAY(lseek), MAY(brk), MAY(munmap), MAY(mremap), MAY(madvise), MAY(futex),
      MAY(set_robust_list), MAY(rseq), MAY(sched_yield), MAY(sched_getaffinity), MAY(rt_sigaction), MAY(rt_sigprocmask),
      MAY(rt_sigreturn), MAY(sigaltstack), MAY(restart_syscall), MAY(clock_gettime), MAY(clock_nanosleep), MAY(nanosleep),
      MAY(gettimeofday), MAY(getrusage), MAY(getpid), MAY(gettid), MAY(getrandom), MAY(memfd_create), MAY(ftruncate), MAY(exit),
      MAY(exit_group),
#ifdef SYS_time
      MAY(time), MAY(poll),
#endif
      MAY_WITHOUT(mmap, 2, PROT_EXEC, EPERM), MAY_WITHOUT(mprotect, 2, PROT_EXEC, EPERM),
      MAY_FOR(prctl, 0, PR_SET_NAME, PR_SET_VMA), MAY_FOR(tgkill, 0, own, own), MAY_WITH(clone, 0, CLONE_THREAD, EPERM),
      FILTER_ENDS};
   return rkb_filter_install(code, sizeof code / sizeof *code);
}
#else
static bool allow_computing(void) {
   return false;
}
#endif

void confined_sandbox_close(uint64_t processor_s, confined_layers_t *layers) {
   /* SIGXCPU comes first, because its wait status names the cause.  SIGKILL ends a process that ignores SIGXCPU 2 s later. */
   const struct rlimit processor = {processor_s, processor_s + 2};
   setrlimit(RLIMIT_CPU, &processor);
   layers->seccomp = allow_computing();
}
