/* Runs a program as a container does that refuses seccomp(2): a stand-in for such a container.  A filter makes seccomp(2) and prctl(PR_SET_SECCOMP) fail with the given error.
 * usage: without_seccomp EPERM|ENOSYS PROGRAM [ARGUMENT...] */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "base/call_filter.h"

int main(int argc, char **argv) {
   if (argc < 3 || (strcmp(argv[1], "EPERM") != 0 && strcmp(argv[1], "ENOSYS") != 0)) {
      fprintf(stderr, "usage: without_seccomp EPERM|ENOSYS PROGRAM [ARGUMENT...]\n");
      return 2;
   }
   const uint32_t error = strcmp(argv[1], "EPERM") == 0 ? EPERM : ENOSYS;
   struct sock_filter code[] = {
      FILTER_BEGINS, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
      REFUSE(error), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
      ARGUMENT(0),   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0, 1),
      REFUSE(error), ALLOW,
   };
   if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !rkb_filter_install(code, sizeof code / sizeof *code)) {
      perror("without_seccomp: this system has no seccomp(2) to refuse it with");
      return 77;
   }
   execvp(argv[2], argv + 2);
   perror(argv[2]);
   return 2;
}
