/* Capabilities, Landlock and seccomp (confine.h).  Owns nothing. */
#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Rights that are missing in older headers (landlock(7)). */
#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13)
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ULL << 15)
#endif

#define FS_VERSION_1 ((1ULL << 13) - 1)
#define FS_FOR_FILES                                                                                         \
   (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |              \
    LANDLOCK_ACCESS_FS_TRUNCATE | LANDLOCK_ACCESS_FS_IOCTL_DEV)

struct landlock_rules { /* struct landlock_ruleset_attr as of ABI 6; older kernels read only its first members */
   uint64_t files, network, scoped;
};

bool rkb_drop_capabilities(void) {
   struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
   struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
   for (int capability = 0; capability < 64; capability++)
      /* fails past the last capability, and if there is none to drop */
      prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
   return syscall(SYS_capset, &head, none) == 0;
}

int rkb_landlock_begin(uint64_t *held) {
   int version = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
   *held = 0;
   if (version < 1)
      return -1;
   *held = FS_VERSION_1 | (version >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0) |
           (version >= 3 ? LANDLOCK_ACCESS_FS_TRUNCATE : 0) |
           (version >= 5 ? LANDLOCK_ACCESS_FS_IOCTL_DEV : 0);
   const struct landlock_rules wanted = {
      .files = *held, .network = version >= 4 ? 3 : 0, .scoped = version >= 6 ? 3 : 0};
   const size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
   return (int)syscall(SYS_landlock_create_ruleset, &wanted, size, 0);
}

static uint64_t rights_of(unsigned what) {
   return (what & RKB_MAY_READ ? LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR : 0) |
          (what & RKB_MAY_EXECUTE ? LANDLOCK_ACCESS_FS_EXECUTE : 0) |
          (what & RKB_MAY_WRITE ? LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE : 0) |
          (what & RKB_MAY_CONTROL ? LANDLOCK_ACCESS_FS_IOCTL_DEV : 0) |
          (what & RKB_MAY_MAKE ? LANDLOCK_ACCESS_FS_MAKE_REG : 0);
}

void rkb_landlock_allow(int rules, uint64_t held, const char *pattern, unsigned what) {
   glob_t found;
   if (glob(pattern, 0, NULL, &found) != 0)
      return;
   for (size_t i = 0; i < found.gl_pathc; i++) {
      struct landlock_path_beneath_attr rule = {.allowed_access = rights_of(what) & held};
      rule.parent_fd = open(found.gl_pathv[i], O_PATH | O_CLOEXEC);
      if (rule.parent_fd < 0)
         continue;
      if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) {
         rule.allowed_access &= FS_FOR_FILES; /* rights for directories are refused on a file */
         syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
      }
      close(rule.parent_fd);
   }
   globfree(&found);
}

bool rkb_landlock_enter(int rules) {
   bool entered = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
   close(rules);
   return entered;
}

#if defined(__x86_64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef THIS_ARCHITECTURE
#define REFUSE(code) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (code))
#define REFUSE_CALL(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), REFUSE(EPERM)

bool rkb_refuse_processes_and_network(void) {
   const uint32_t own = (uint32_t)getpid();
   struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCHITECTURE, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef __x86_64__ /* the x32 interface has the same calls under other numbers */
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
      REFUSE(EPERM),
      REFUSE_CALL(fork),
      REFUSE_CALL(vfork),
      REFUSE_CALL(chmod),
      REFUSE_CALL(chown),
      REFUSE_CALL(lchown),
      REFUSE_CALL(utime),
      REFUSE_CALL(utimes),
      REFUSE_CALL(futimesat),
#endif
      /* Landlock knows nothing of a file's mode, owner, times and attributes. */
      REFUSE_CALL(fchmod),
      REFUSE_CALL(fchmodat),
      REFUSE_CALL(fchown),
      REFUSE_CALL(fchownat),
      REFUSE_CALL(utimensat),
      REFUSE_CALL(setxattr),
      REFUSE_CALL(lsetxattr),
      REFUSE_CALL(fsetxattr),
      REFUSE_CALL(removexattr),
      REFUSE_CALL(lremovexattr),
      REFUSE_CALL(fremovexattr),
      REFUSE_CALL(execve),
      REFUSE_CALL(execveat),
      REFUSE_CALL(socket),
      REFUSE_CALL(socketpair),
      REFUSE_CALL(connect),
      REFUSE_CALL(ptrace),
      REFUSE_CALL(process_vm_readv),
      REFUSE_CALL(process_vm_writev),
      REFUSE_CALL(kill),
      REFUSE_CALL(tkill),
      REFUSE_CALL(rt_sigqueueinfo),
      REFUSE_CALL(rt_tgsigqueueinfo),
      REFUSE_CALL(pidfd_send_signal),
      REFUSE_CALL(shmget),
      REFUSE_CALL(semget),
      REFUSE_CALL(msgget),
      REFUSE_CALL(add_key),
      REFUSE_CALL(request_key),
      REFUSE_CALL(pidfd_open),
      REFUSE_CALL(pidfd_getfd),
      REFUSE_CALL(io_uring_setup),
      REFUSE_CALL(bpf),
      REFUSE_CALL(userfaultfd),
      REFUSE_CALL(perf_event_open),
      REFUSE_CALL(unshare),
      REFUSE_CALL(setns),
      REFUSE_CALL(mount),
      REFUSE_CALL(keyctl),
      REFUSE_CALL(open_by_handle_at),
      /* fchmodat2, which older headers do not name */
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 452, 0, 1),
      REFUSE(ENOSYS),
      /* the limits of other processes; getrlimit and setrlimit of this one have the process 0 */
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prlimit64, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
      REFUSE(EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      /* abort and raise signal a thread of this process */
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, own, 1, 0),
      REFUSE(EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      /* a file that signals another process when it can be read */
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_SETOWN, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_SETOWN_EX, 0, 1),
      REFUSE(EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      /* glibc then falls back to clone, whose flags a filter can read */
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      REFUSE(ENOSYS),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
      REFUSE(EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
   };
   struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
   return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Numbers of ioctl(2): attributes of files (ioctl_iflags(2)), and what types at a terminal (ioctl_tty(2)). */
#define SET_FLAGS 0x40086602u
#define SET_FLAGS_32 0x40046602u
#define SET_ATTRIBUTES 0x401c5820u
#define TERMINAL_TYPES 0x5412u
#define TERMINAL_PASTES 0x541cu
/* openat2, whose flags a filter cannot read: it does not exist for the process. */
#define OPENAT2 437

#define ARGUMENT(n) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[n]))
/* The flags of an opening call are argument n. */
#define READS_ALONE(call, n)                                                                                 \
   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 4), ARGUMENT(n),                                       \
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K,                                                                   \
               O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY), 0, 1),                    \
      REFUSE(EACCES), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

bool rkb_refuse_changes_of_files(void) {
   struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCHITECTURE, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef __x86_64__ /* as above */
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
      REFUSE(EPERM),
      READS_ALONE(open, 1),
      REFUSE_CALL(creat),
      REFUSE_CALL(unlink),
      REFUSE_CALL(rmdir),
      REFUSE_CALL(rename),
      REFUSE_CALL(link),
      REFUSE_CALL(symlink),
      REFUSE_CALL(mkdir),
      REFUSE_CALL(mknod),
#endif
      READS_ALONE(openat, 2),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OPENAT2, 0, 1),
      REFUSE(ENOSYS),
      REFUSE_CALL(truncate),
      REFUSE_CALL(unlinkat),
      REFUSE_CALL(renameat),
      REFUSE_CALL(renameat2),
      REFUSE_CALL(linkat),
      REFUSE_CALL(symlinkat),
      REFUSE_CALL(mkdirat),
      REFUSE_CALL(mknodat),
      REFUSE_CALL(mq_open),
      REFUSE_CALL(mq_unlink),
      REFUSE_CALL(umount2),
      REFUSE_CALL(chroot),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 7),
      ARGUMENT(1),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SET_FLAGS, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SET_FLAGS_32, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SET_ATTRIBUTES, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TERMINAL_TYPES, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TERMINAL_PASTES, 0, 1),
      REFUSE(EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
   };
   struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
   return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
#else
bool rkb_refuse_changes_of_files(void) {
   return false;
}

bool rkb_refuse_processes_and_network(void) {
   return false;
}
#endif
