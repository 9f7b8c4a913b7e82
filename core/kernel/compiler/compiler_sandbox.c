/* What rkb-compiler gives up before it reads a candidate: files outside the toolkit's headers (Landlock,
 * Linux 5.13 on), new programs, other processes and the network (seccomp).  Each layer is used where the
 * kernel has it and reported; the token policy in core/kernel/includes.c refuses foreign includes on every
 * kernel.  One thread; nothing is owned. */
#include "kernel/compiler/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILE_ACCESS                                                                                          \
   (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE |              \
    LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |           \
    LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |               \
    LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |            \
    LANDLOCK_ACCESS_FS_MAKE_SYM)

static bool allow_reading(int ruleset, const char *directory) {
   struct landlock_path_beneath_attr rule = {.allowed_access =
                                                LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR};
   long added;
   rule.parent_fd = open(directory, O_PATH | O_CLOEXEC);
   if (rule.parent_fd < 0)
      return false;
   added = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
   close(rule.parent_fd);
   return added == 0;
}

static bool enter_landlock(const char *directory) {
   const struct landlock_ruleset_attr attribute = {.handled_access_fs = FILE_ACCESS};
   bool entered;
   int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attribute, sizeof attribute, 0);
   if (ruleset < 0)
      return false;
   entered = (!*directory || allow_reading(ruleset, directory)) &&
             syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
   close(ruleset);
   return entered;
}

#if defined(__x86_64__)
#define AUDIT_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define AUDIT_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define REFUSE(number)                                                                                       \
   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

static bool install_filter(struct sock_filter *code, size_t count) {
   struct sock_fprog program = {.len = (unsigned short)count, .filter = code};
   return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

/* A list of what is refused, not of what is allowed: NVRTC is a closed library whose needs change between
 * versions, and Landlock holds the files. */
static bool enter_seccomp(void) {
#ifdef AUDIT_ARCHITECTURE
   struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCHITECTURE, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      REFUSE(SYS_execve),
      REFUSE(SYS_execveat),
      REFUSE(SYS_socket),
      REFUSE(SYS_socketpair),
      REFUSE(SYS_connect),
      REFUSE(SYS_bind),
      REFUSE(SYS_ptrace),
      REFUSE(SYS_process_vm_readv),
      REFUSE(SYS_process_vm_writev),
      REFUSE(SYS_kill),
      REFUSE(SYS_tkill),
      REFUSE(SYS_mount),
      REFUSE(SYS_unshare),
      REFUSE(SYS_setns),
      REFUSE(SYS_bpf),
      REFUSE(SYS_perf_event_open),
      REFUSE(SYS_userfaultfd),
      REFUSE(SYS_keyctl),
      REFUSE(SYS_io_uring_setup),
      REFUSE(SYS_open_by_handle_at),
      REFUSE(SYS_pidfd_open),
      REFUSE(SYS_setpgid),
      REFUSE(SYS_setsid),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
   };
   return install_filter(code, sizeof code / sizeof *code);
#else
   return false;
#endif
}

/* New threads are allowed (clone with CLONE_THREAD), new processes are not. */
static bool refuse_processes(void) {
#ifdef AUDIT_ARCHITECTURE
   struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef SYS_fork
      REFUSE(SYS_fork),
      REFUSE(SYS_vfork),
#endif
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0,
               1), /* glibc then falls back to clone, whose flags can be seen */
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
   };
   return install_filter(code, sizeof code / sizeof *code);
#else
   return false;
#endif
}

void sandbox_enter(const char *directory, rkb_text_t *layers) {
   if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
      rkb_text_add(layers, "none");
      return;
   }
   rkb_text_add(layers, enter_landlock(directory) ? "landlock" : "no-landlock");
   rkb_text_add(layers, enter_seccomp() ? " seccomp" : " no-seccomp");
}

bool sandbox_close(void) {
   return prctl(PR_GET_SECCOMP) == 0 || refuse_processes();
}
