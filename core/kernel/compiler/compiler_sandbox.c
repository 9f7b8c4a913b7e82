/* The rights that rkb-compiler gives up.  At its start: capabilities, files outside the toolkit's headers and
 * the network (Landlock), programs and other processes (seccomp).  In the fork that reads a candidate: every
 * system call that compiling does not need.  Each layer is used if the kernel has it, and is reported.  The
 * token policy in core/kernel/includes.c refuses foreign includes on every kernel.  One thread; owns nothing. */
#include "kernel/compiler/compiler.h"

#include <fcntl.h>
#include <sys/mman.h>
#include "base/call_filter.h"
#include "base/confine.h"

static bool enter_landlock(const char *directory) {
   uint64_t held;
   int rules = rkb_landlock_begin(&held);
   if (rules < 0)
      return false;
   if (*directory)
      rkb_landlock_allow(rules, held, directory, RKB_MAY_READ);
   return rkb_landlock_enter(rules);
}

#define REFUSE_CALL(number)                                                                                       \
   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

/* Refuses a list of calls, instead of allowing a list.  NVRTC is a closed library whose needs change between versions, and Landlock protects the files. */
static bool enter_seccomp(void) {
#ifdef AUDIT_ARCHITECTURE
   struct sock_filter code[] = {
      FILTER_BEGINS,
      REFUSE_CALL(SYS_execve),
      REFUSE_CALL(SYS_execveat),
      REFUSE_CALL(SYS_socket),
      REFUSE_CALL(SYS_socketpair),
      REFUSE_CALL(SYS_connect),
      REFUSE_CALL(SYS_bind),
      REFUSE_CALL(SYS_ptrace),
      REFUSE_CALL(SYS_process_vm_readv),
      REFUSE_CALL(SYS_process_vm_writev),
      REFUSE_CALL(SYS_kill),
      REFUSE_CALL(SYS_tkill),
      REFUSE_CALL(SYS_mount),
      REFUSE_CALL(SYS_unshare),
      REFUSE_CALL(SYS_setns),
      REFUSE_CALL(SYS_bpf),
      REFUSE_CALL(SYS_perf_event_open),
      REFUSE_CALL(SYS_userfaultfd),
      REFUSE_CALL(SYS_keyctl),
      REFUSE_CALL(SYS_io_uring_setup),
      REFUSE_CALL(SYS_open_by_handle_at),
      REFUSE_CALL(SYS_pidfd_open),
      REFUSE_CALL(SYS_setpgid),
      REFUSE_CALL(SYS_setsid),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
   };
   return rkb_filter_install(code, sizeof code / sizeof *code);
#else
   return false;
#endif
}

#ifdef AUDIT_ARCHITECTURE
#define WRITING (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND)

/* The system calls that NVRTC 12.4 to 13.0 was seen to make while it compiles, and the calls that glibc makes
 * for memory, threads, signals and time.  Any other call fails with EPERM, and the compile fails with it.
 * Memory is never made executable, files are never opened to write, threads may be made but processes not,
 * and signals go only to this process. */
static bool allow_compiling(void) {
   const uint32_t own = (uint32_t)getpid();
   struct sock_filter code[] = {
      FILTER_BEGINS,
      MAY(read), MAY(write), MAY(pread64), MAY(pwrite64), MAY(readv), MAY(writev), MAY(lseek), MAY(close), MAY(fcntl),
      MAY(fstat), MAY(newfstatat), MAY(statx), MAY(readlinkat), MAY(faccessat), MAY(faccessat2), MAY(getdents64), MAY(getcwd),
      MAY(brk), MAY(munmap), MAY(mremap), MAY(madvise), MAY(futex), MAY(set_robust_list), MAY(rseq), MAY(sched_yield),
      MAY(sched_getaffinity), MAY(rt_sigaction), MAY(rt_sigprocmask), MAY(rt_sigreturn), MAY(sigaltstack), MAY(restart_syscall),
      MAY(clock_gettime), MAY(clock_getres), MAY(clock_nanosleep), MAY(nanosleep), MAY(gettimeofday), MAY(getrusage), MAY(getpid),
      MAY(gettid), MAY(getuid), MAY(geteuid), MAY(getgid), MAY(getegid), MAY(uname), MAY(sysinfo), MAY(getrandom), MAY(setrlimit),
      MAY(getrlimit), MAY(exit), MAY(exit_group),
#ifdef SYS_open
      MAY(stat), MAY(lstat), MAY(access), MAY(readlink), MAY(time), MAY(poll), MAY_WITHOUT(open, 1, WRITING, EACCES),
#endif
      MAY_WITHOUT(openat, 2, WRITING, EACCES), MAY_WITHOUT(mmap, 2, PROT_EXEC, EPERM), MAY_WITHOUT(mprotect, 2, PROT_EXEC, EPERM),
      MAY_FOR(prctl, 0, PR_SET_NAME, PR_SET_VMA), MAY_FOR(prlimit64, 0, 0, own), MAY_FOR(tgkill, 0, own, own),
      MAY_WITH(clone, 0, CLONE_THREAD, EPERM),
      FILTER_ENDS};
   return rkb_filter_install(code, sizeof code / sizeof *code);
}
#else
static bool allow_compiling(void) {
   return false;
}
#endif

void sandbox_enter(const char *directory, rkb_text_t *layers) {
   rkb_text_add(layers, rkb_drop_capabilities() ? "capabilities" : "no-capabilities");
   const bool locked = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
   rkb_text_add(layers, locked && enter_landlock(directory) ? " landlock" : " no-landlock");
   rkb_text_add(layers, locked && enter_seccomp() ? " seccomp" : " no-seccomp");
}

bool sandbox_close(void) {
   return prctl(PR_GET_SECCOMP) == 0 || allow_compiling();
}
