. "$1/tests/adversary/attack.bash"
cheat=$source_folder/tests/adversary/checking/wrong_sign/kernel.cu
judge "$cheat"
rkb report "$work/run" >/dev/null
python3 - "$work/run/run.sqlite" <<'END'
import sqlite3, sys
archive = sqlite3.connect(sys.argv[1])
archive.execute("UPDATE candidate SET standing = 'accept', reason = ''")
archive.execute("UPDATE verdict SET standing = 'accept', reason = ''")
archive.commit()
END
rkb replay "$work/run" 1 >"$work/said" 2>&1 || true
grep -q numeric.mismatch "$work/said" || fail "a replay believes the archive: $(cat "$work/said")"
