/* Macros that write a seccomp filter (seccomp(2)) as an array of struct sock_filter: a list of system calls that are allowed, or of calls that are refused.
 * For the files that have such lists; any thread. */
#ifndef RKB_BASE_CALL_FILTER_H
#define RKB_BASE_CALL_FILTER_H

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define AUDIT_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define AUDIT_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41 /* glibc names its arenas with it */
#endif

#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE(code) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (code))
#define ARGUMENT(n) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[n])) /* the lower half of argument n */
#define MAY(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), ALLOW
/* Each allows a call on one condition: its argument n has none of the bits, has one of two values, or has all of the bits. */
#define MAY_WITHOUT(call, n, bits, code)                                                                     \
   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 4), ARGUMENT(n),                                       \
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, 1), REFUSE(code), ALLOW
#define MAY_WITH(call, n, bits, code)                                                                        \
   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 4), ARGUMENT(n),                                       \
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 1, 0), REFUSE(code), ALLOW
#define MAY_FOR(call, n, one, other)                                                                         \
   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 5), ARGUMENT(n),                                       \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (one), 2, 0),                                                      \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (other), 1, 0), REFUSE(EPERM), ALLOW

#define FILTER_BEGINS                                                                                        \
   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),                                  \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCHITECTURE, 1, 0),                                         \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),                                                   \
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
/* Ends a list of allowed calls.  A filter cannot read the flags of clone3, so clone3 does not exist for the process; glibc then falls back to clone. */
#define FILTER_ENDS                                                                                          \
   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1), REFUSE(ENOSYS), REFUSE(EPERM)

/* Installs the filter for all threads of the process. */
static inline bool rkb_filter_install(struct sock_filter *code, size_t count) {
   struct sock_fprog program = {.len = (unsigned short)count, .filter = code};
   return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

#endif
