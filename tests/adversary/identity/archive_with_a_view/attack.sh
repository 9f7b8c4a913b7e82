. "$1/tests/adversary/attack.bash"
judge "$cheat"
rkb report "$work/run" >/dev/null
python3 - "$work/run/run.sqlite" <<'END'
import sqlite3, sys
archive = sqlite3.connect(sys.argv[1])
archive.execute("ALTER TABLE candidate RENAME TO kept")
archive.execute("CREATE VIEW candidate AS SELECT * FROM kept")
archive.commit()
END
if rkb report "$work/run" >"$work/said" 2>&1; then fail "an archive with a view is read: $(cat "$work/said")"; fi
