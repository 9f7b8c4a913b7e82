# The kernel's text is the honest one's, and so are the plans of all listed cases: a duplicate would get its verdict unseen.
. "$1/tests/adversary/attack.bash"
wrong=$source_folder/tests/adversary/shape/product_of_two_sizes/kernel.cu
sed 's/D + 65536 \* if([^"]*"/D"/' "$wrong" >"$work/honest.cu"
grep -q 'rows, D"' "$work/honest.cu" || fail "the honest manifest was not made"
judge "$work/honest.cu" "$wrong"
python3 - "$work/run/run.sqlite" <<'END' || fail "a kernel was taken for another one: $(cat "$work/said")"
import sqlite3, sys
found = sqlite3.connect(sys.argv[1]).execute("SELECT standing, duplicate_of FROM candidate ORDER BY id").fetchall()
sys.exit(found[0][0] != "accept" or found[1][0] != "reject" or found[1][1] is not None)
END
