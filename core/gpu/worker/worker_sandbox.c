/* The worker's sandbox, made only with system calls, because the worker links nothing but libc.
 *
 * Under these layers CUDA was seen to need (H200, driver 580): /proc/self/task writable; every /dev/nvidia*
 * readable and writable with ioctl; memfd_create; AF_UNIX sockets.  RLIMIT_AS must stay unset, because the
 * driver reserves 128 GiB of addresses. */
#include "gpu/worker/worker_sandbox.h"
#include "base/confine.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The two halves of Nsight Compute synchronise through files in this folder, lock.UUID for each device, which both make and open.  (2025.3 named the file
 * that it could not make; with these rights it counts within the layers on an H200.) */
#define TOOL_LOCKS "/tmp/nvidia/nsight_compute"

static void make_lock_folder(void) {
   mkdir("/tmp/nvidia", 0777);
   mkdir(TOOL_LOCKS, 0777);
}

static bool enter_landlock(bool under_tool) {
   static const char *const readable[] = {"/usr",  "/lib*", "/bin",         "/etc", "/opt",
                                          "/proc", "/sys",  "/run/nvidia*", NULL};
   static const char *const devices[] = {"/dev/null",    "/dev/zero",          "/dev/urandom",
                                         "/dev/nvidia*", "/dev/nvidia-caps/*", NULL};
   uint64_t held;
   int rules = rkb_landlock_begin(&held);
   if (rules < 0)
      return false;
   for (int i = 0; readable[i]; i++)
      rkb_landlock_allow(rules, held, readable[i], RKB_MAY_READ | RKB_MAY_EXECUTE);
   for (int i = 0; devices[i]; i++)
      rkb_landlock_allow(rules, held, devices[i], RKB_MAY_READ | RKB_MAY_WRITE | RKB_MAY_CONTROL);
   rkb_landlock_allow(rules, held, "/proc/self/task", RKB_MAY_READ | RKB_MAY_WRITE);
   if (under_tool)
      rkb_landlock_allow(rules, held, TOOL_LOCKS, RKB_MAY_READ | RKB_MAY_WRITE | RKB_MAY_MAKE);
   return rkb_landlock_enter(rules);
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

void rkb_sandbox_enter(bool under_tool, char *list, size_t size) {
   const struct rlimit none = {0, 0};
   char *at = list, *end = list + size;
   list[0] = '\0';
   if (under_tool)
      make_lock_folder();
   prctl(PR_SET_DUMPABLE, 0);
   setrlimit(RLIMIT_CORE, &none);
   if (rkb_drop_capabilities())
      at += snprintf(at, (size_t)(end - at), "capabilities ");
   if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) {
      if (enter_landlock(under_tool))
         at += snprintf(at, (size_t)(end - at), "landlock ");
      if (enter_seccomp() == 0)
         at += snprintf(at, (size_t)(end - at), "seccomp ");
   }
   if (at > list)
      at[-1] = '\0';
}
