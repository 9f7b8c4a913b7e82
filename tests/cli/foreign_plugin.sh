#!/usr/bin/env bash
# A pipeline names a plugin whose constructor takes what it can.  rkb validate and rkb-run --dry-run look at such a pipeline in a process
# that has nothing to take; a plugin that others can change is not opened at all.  All this holds on a kernel without Landlock too.  usage: foreign_plugin.sh SOURCE BINARY_DIRECTORY
set -euo pipefail
source=$1 binary=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=$binary/bin:$PATH XDG_CACHE_HOME=$work/cache PLANTED_KEY=sk-planted-and-secret
cat >"$work/takes.c" <<'END'
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((constructor)) static void take(void) {
   char own[65536] = "";
   int file = open("/proc/self/environ", O_RDONLY);
   ssize_t got = file < 0 ? 0 : read(file, own, sizeof own - 1);
   const char *key = getenv("PLANTED_KEY");
   fprintf(stderr, "constructor: key %s, environ %s, ", key && strstr(key, "secret") ? "TAKEN" : "hidden",
           got > 0 && memmem(own, (size_t)got, "sk-planted", 10) ? "TAKEN" : "clean");
   fprintf(stderr, "file %s, ", open("WHERE/left", O_WRONLY | O_CREAT, 0644) >= 0 ? "WRITTEN" : "refused");
   const bool changed = open("WHERE/kept", O_WRONLY) >= 0 || open("WHERE/kept", O_RDONLY | O_TRUNC) >= 0 || creat("WHERE/left", 0644) >= 0 ||
                        open("WHERE", O_TMPFILE | O_RDWR, 0600) >= 0 || truncate("WHERE/kept", 0) == 0 || unlink("WHERE/kept") == 0 ||
                        rename("WHERE/kept", "WHERE/left") == 0 || link("WHERE/kept", "WHERE/left") == 0 || symlink("kept", "WHERE/left") == 0 ||
                        mkdir("WHERE/left", 0755) == 0 || mkfifo("WHERE/left", 0644) == 0 || rmdir("WHERE/empty") == 0;
   fprintf(stderr, "files %s, ", changed ? "CHANGED" : "refused");
   fprintf(stderr, "network %s, ", socket(AF_INET, SOCK_STREAM, 0) >= 0 ? "REACHED" : "refused");
   pid_t child = fork();
   if (child == 0)
      _exit(0);
   fprintf(stderr, "process %s, ", child > 0 ? "STARTED" : "refused");
   struct rlimit limit = {0, 0};
   fprintf(stderr, "mode %s, ", chmod("WHERE/kept", 0666) == 0 ? "CHANGED" : "refused");
   fprintf(stderr, "times %s, ", utimensat(AT_FDCWD, "WHERE/kept", NULL, 0) == 0 ? "CHANGED" : "refused");
   fprintf(stderr, "limits %s, ", prlimit(getppid(), RLIMIT_CORE, NULL, &limit) == 0 ? "REACHED" : "refused");
   const int other = getppid();
   int pipes[2] = {-1, -1};
   const struct f_owner_ex owner = {F_OWNER_PID, other};
   const bool signalled = kill(other, 0) == 0 || syscall(SYS_tkill, other, 0) == 0 || tgkill(other, other, 0) == 0 ||
                          (pipe(pipes) == 0 && (fcntl(pipes[0], F_SETOWN, other) == 0 || fcntl(pipes[0], F_SETOWN_EX, &owner) == 0));
   fprintf(stderr, "signals %s, ", signalled ? "SENT" : "refused");
   const bool aborts = tgkill(getpid(), gettid(), 0) == 0; /* what abort does */
   const bool left = msgget(4711, IPC_CREAT | 0600) >= 0 || semget(4711, 1, IPC_CREAT | 0600) >= 0 || shmget(4711, 4096, IPC_CREAT | 0600) >= 0 ||
                     syscall(SYS_add_key, "user", "left", "x", 1, -3) >= 0;
   fprintf(stderr, "queues %s, abort %s, ", left ? "LEFT" : "refused", aborts ? "works" : "REFUSED");
   struct rlimit processor, memory;
   getrlimit(RLIMIT_CPU, &processor);
   getrlimit(RLIMIT_DATA, &memory);
   fprintf(stderr, "use %s\n", processor.rlim_max == RLIM_INFINITY || memory.rlim_max == RLIM_INFINITY ? "UNLIMITED" : "limited");
   dprintf(0, "\033]0;by input\007");
   dprintf(1, "\033]0;by output\007\n");
   dprintf(2, "\033]0;by messages\007");
}
END
sed -i "s#WHERE#$work#" "$work/takes.c"
cc -D_GNU_SOURCE -shared -fPIC -o "$work/counted.so" -I"$source/core/include" "$source/tests/package/outside/counted.c" "$work/takes.c"
cat >"$work/mine.yaml" <<END
rkb: 1
extends: quick
name: mine
task: softmax
plugins: [counted.so]
END

# look WORDS...: the command says what the constructor found, and that is nothing
look() {
  local said
  said=$("$@" 2>&1) || true
  if ! grep -q 'constructor: key hidden, environ clean, file refused, files refused, network refused, process refused, mode refused, times refused, limits refused, signals refused, queues refused, abort works, use limited' <<<"$said"; then
    printf '%s:\n%s\n' "$*" "$said" >&2
    exit 1
  fi
  if [[ -e $work/left ]]; then echo "$*: a file was left" >&2; exit 1; fi
}
# Starts a program on which the kernel's Landlock is not there.
cat >"$work/without.c" <<'END'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **words) {
   struct sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 0, 1),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
   struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
   if (count < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
      return 125;
   execvp(words[1], words + 1);
   return 125;
}
END
cc -o "$work/without" "$work/without.c"

# on_terminal WORDS...: what the command sends to a terminal that is all three of its standard files
on_terminal() {
  python3 - "$@" <<'END'
import os, pty, subprocess, sys
main, side = pty.openpty()
child = subprocess.Popen(sys.argv[1:], stdin=side, stdout=side, stderr=side)
os.close(side)
sent = b""
while True:
    try:
        part = os.read(main, 65536)
    except OSError:  # the other end is closed
        break
    sent += part
child.wait()
sys.stdout.buffer.write(sent)
END
}

cd "$work"
touch kept
mkdir empty
for before in "" "$work/without"; do
  look $before rkb validate mine.yaml
  look $before rkb-run mine.yaml --dry-run
  for words in "rkb validate mine.yaml" "rkb-run mine.yaml --dry-run"; do
    sent=$(on_terminal $before $words)
    if [[ $sent == *$'\e'* || $sent != *'\u001b]0;by output\u0007'* || $sent != *'\u001b]0;by messages\u0007'* || $sent == *'by input'* ]]; then
      printf '%s %s, to a terminal:\n%q\n' "$before" "$words" "$sent" >&2
      exit 1
    fi
  done
done
grep -q 'mine.yaml is valid' < <(rkb validate mine.yaml 2>/dev/null)
grep -q 'minimises' < <(rkb-run mine.yaml --dry-run 2>/dev/null)

# not_opened WORDS: no constructor ran, and the message holds the words
not_opened() {
  local said
  said=$(rkb validate mine.yaml 2>&1) || true
  if grep -q 'constructor:' <<<"$said" || ! grep -q "not loaded: .*$1" <<<"$said"; then
    printf 'wanted "%s":\n%s\n' "$1" "$said" >&2
    exit 1
  fi
}
chmod o+w counted.so
not_opened 'can be written to by others'
chmod o-w counted.so
chmod 0777 "$work"
not_opened 'can be written to by others'
chmod 0700 "$work"
# As the loader ends a process: it is no fault of the system that this says.
mv counted.so whole.so
printf '%s\n' '#include <unistd.h>' '__attribute__((constructor)) static void leave(void) { _exit(127); }' >leaves.c
cc -shared -fPIC -o counted.so leaves.c
code=0
said=$(rkb validate mine.yaml 2>&1) || code=$?
if [[ $code != 3 || $said != *'a plugin, or the loader that could not load it, ended the process'* ]]; then
  printf 'a plugin that ends the process: %s, code %s\n' "$said" "$code" >&2
  exit 1
fi
mv whole.so counted.so
if [[ $(id -u) == 0 ]]; then
  chown 65534 counted.so
  not_opened 'belongs to user 65534'
fi
echo 'a foreign plugin took nothing'
