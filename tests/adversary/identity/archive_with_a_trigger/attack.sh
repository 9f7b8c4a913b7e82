. "$1/tests/adversary/attack.bash"
judge "$cheat"
rkb report "$work/run" >/dev/null
python3 - "$work/run/run.sqlite" <<'END'
import sqlite3, sys
archive = sqlite3.connect(sys.argv[1])
archive.execute("CREATE TRIGGER good AFTER INSERT ON candidate BEGIN UPDATE candidate SET standing = 'accept'; END")
archive.commit()
END
if rkb report "$work/run" >"$work/said" 2>&1; then fail "an archive with a trigger is read: $(cat "$work/said")"; fi
