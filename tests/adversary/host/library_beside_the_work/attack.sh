. "$1/tests/adversary/attack.bash"
cat >"$work/early.c" <<'END'
#include <stdio.h>
__attribute__((constructor)) static void early(void) { FILE *file = fopen("taken", "w"); if (file) fclose(file); }
END
for library in libxxhash.so.0 libuv.so.1 libjansson.so.4 libsqlite3.so.0; do
  cc -shared -fPIC -o "$work/$library" "$work/early.c"
done
cd "$work"
env -u LD_LIBRARY_PATH rkb plugins >/dev/null
[[ ! -e taken ]] || fail "a library in the working directory ran"
