/* The worker's sandbox, made with system calls only, because the worker links nothing but libc.
 *
 * Under these layers CUDA was seen to need (H200, driver 580): /proc/self/task writable; every /dev/nvidia* readable and writable with
 * ioctl; memfd_create; AF_UNIX sockets.  Never set RLIMIT_AS: the driver reserves 128 GiB of addresses. */
#include "gpu/worker/worker_sandbox.h"
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Rights that the headers of the build may not know yet (landlock(7)). */
#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13)
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ULL << 15)
#endif

#define FS_READ (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_VERSION_1 ((1ULL << 13) - 1)
#define FS_FOR_FILES                                                                                         \
   (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |              \
    LANDLOCK_ACCESS_FS_TRUNCATE | LANDLOCK_ACCESS_FS_IOCTL_DEV)

struct landlock_rules { /* struct landlock_ruleset_attr as of ABI 6; older kernels take a prefix */
   uint64_t files, network, scoped;
};

static int drop_capabilities(void) {
   struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
   struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
   for (int capability = 0; capability < 64; capability++)
      /* fails after the last capability, and when there are none to drop */
      prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
   return (int)syscall(SYS_capset, &head, none);
}

static void allow(int rules, const char *pattern, uint64_t rights) {
   glob_t found;
   if (glob(pattern, 0, NULL, &found) != 0)
      return;
   for (size_t i = 0; i < found.gl_pathc; i++) {
      struct landlock_path_beneath_attr rule = {.allowed_access = rights};
      rule.parent_fd = open(found.gl_pathv[i], O_PATH | O_CLOEXEC);
      if (rule.parent_fd < 0)
         continue;
      if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) {
         rule.allowed_access &= FS_FOR_FILES; /* the kernel refuses directory rights on a file */
         syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
      }
      close(rule.parent_fd);
   }
   globfree(&found);
}

static int enter_landlock(void) {
   static const char *const readable[] = {"/usr",  "/lib*", "/bin",         "/etc", "/opt",
                                          "/proc", "/sys",  "/run/nvidia*", NULL};
   static const char *const devices[] = {"/dev/null",    "/dev/zero",          "/dev/urandom",
                                         "/dev/nvidia*", "/dev/nvidia-caps/*", NULL};
   int version = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
   if (version < 1)
      return -1;
   uint64_t rights = FS_VERSION_1 | (version >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0) |
                     (version >= 3 ? LANDLOCK_ACCESS_FS_TRUNCATE : 0) |
                     (version >= 5 ? LANDLOCK_ACCESS_FS_IOCTL_DEV : 0);
   struct landlock_rules wanted = {
      .files = rights, .network = version >= 4 ? 3 : 0, .scoped = version >= 6 ? 3 : 0};
   size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
   int rules = (int)syscall(SYS_landlock_create_ruleset, &wanted, size, 0);
   if (rules < 0)
      return -1;
   uint64_t device = (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                      LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_IOCTL_DEV) &
                     rights;
   for (int i = 0; readable[i]; i++)
      allow(rules, readable[i], FS_READ);
   for (int i = 0; devices[i]; i++)
      allow(rules, devices[i], device);
   allow(rules, "/proc/self/task",
         (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
          LANDLOCK_ACCESS_FS_TRUNCATE) &
            rights);
   int status = (int)syscall(SYS_landlock_restrict_self, rules, 0);
   close(rules);
   return status;
}

#if defined __x86_64__
#define THIS_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define THIS_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef THIS_ARCHITECTURE
#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define REFUSE(code) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (code))
#define REFUSE_CALL(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), REFUSE(EPERM)

static int enter_seccomp(void) {
   struct sock_filter rules[] = {
      LOAD(arch),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCHITECTURE, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      LOAD(nr),
      REFUSE_CALL(execve),
      REFUSE_CALL(execveat),
      REFUSE_CALL(ptrace),
      REFUSE_CALL(process_vm_readv),
      REFUSE_CALL(process_vm_writev),
      REFUSE_CALL(io_uring_setup),
      REFUSE_CALL(bpf),
      REFUSE_CALL(userfaultfd),
      REFUSE_CALL(unshare),
      REFUSE_CALL(setns),
      REFUSE_CALL(mount),
      REFUSE_CALL(umount2),
      REFUSE_CALL(pivot_root),
      REFUSE_CALL(chroot),
      REFUSE_CALL(perf_event_open),
      REFUSE_CALL(keyctl),
      REFUSE_CALL(add_key),
      REFUSE_CALL(request_key),
      REFUSE_CALL(init_module),
      REFUSE_CALL(finit_module),
      REFUSE_CALL(delete_module),
      REFUSE_CALL(kexec_load),
      REFUSE_CALL(open_by_handle_at),
      REFUSE_CALL(pidfd_getfd),
      /* Allow new threads but no processes.  clone3's flags cannot be checked, so it is refused; glibc falls back to clone. */
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      REFUSE(ENOSYS),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
      LOAD(args[0]),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
      REFUSE(EPERM),
      LOAD(nr),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
      LOAD(args[0]),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0),
      REFUSE(EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
   };
   struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
   return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
#else
static int enter_seccomp(void) {
   return -1;
}
#endif

void rkb_sandbox_enter(char *list, size_t size) {
   const struct rlimit none = {0, 0};
   char *at = list, *end = list + size;
   list[0] = '\0';
   prctl(PR_SET_DUMPABLE, 0);
   setrlimit(RLIMIT_CORE, &none);
   if (drop_capabilities() == 0)
      at += snprintf(at, (size_t)(end - at), "capabilities ");
   if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) {
      if (enter_landlock() == 0)
         at += snprintf(at, (size_t)(end - at), "landlock ");
      if (enter_seccomp() == 0)
         at += snprintf(at, (size_t)(end - at), "seccomp ");
   }
   if (at > list)
      at[-1] = '\0';
}
