. "$1/tests/adversary/attack.bash"
judge "$cheat"
mv "$work/run" "$work/made"
mkdir "$work/mine"

# renew: the run as it was made, and a file of the user's
renew() {
  rm -rf "$work/run"
  cp -r "$work/made" "$work/run"
  echo mine >"$work/mine/file"
}

# ends_well COMMAND...: without a signal, in time
ends_well() {
  local status=0
  timeout 20 "$@" >"$work/said" 2>&1 || status=$?
  ((status < 4)) || fail "$* ended with $status: $(head -c 1000 "$work/said")"
}

for name in lock log.jsonl run.sqlite-wal run.sqlite-journal; do
  renew
  rm -f "$work/run/$name"
  ln -s "$work/mine/file" "$work/run/$name"
  ends_well rkb-run --resume "$work/run"
  ends_well rkb report "$work/run"
  [[ $(cat "$work/mine/file") == mine ]] || fail "through $name another file was written to"
done
for name in lock log.jsonl; do
  renew
  rm -f "$work/run/$name"
  ln "$work/mine/file" "$work/run/$name"
  ends_well rkb-run --resume "$work/run"
  [[ $(cat "$work/mine/file") == mine ]] || fail "through $name, a second name, another file was written to"
done
for name in lock log.jsonl run.sqlite; do
  renew
  rm -f "$work/run/$name"
  mkfifo "$work/run/$name"
  ends_well rkb-run --resume "$work/run"
  ends_well rkb report "$work/run"
done
renew
python3 - "$work/run/run.sqlite" <<'END'
import sqlite3, sys
archive = sqlite3.connect(sys.argv[1])
archive.execute("UPDATE candidate SET duplicate_of = id")
archive.commit()
END
ends_well rkb-run --resume "$work/run"
ends_well rkb report "$work/run"
