. "$1/tests/adversary/attack.bash"
# Ten, or thirty where RKB_LONG is in the environment.
number=10 candidates=13
if [[ -n ${RKB_LONG:-} ]]; then number=30 candidates=44; fi
cheats=$(ls "$source_folder"/tests/adversary/{checking,sampling,state,timing}/*/kernel.cu | xargs grep -l '^task: llama_rmsnorm' |
  awk -v apart=$((60 / number)) 'NR % apart == 0 && NR <= 60')
# Accepted cheats are those that are right and want to look fast: none of them is for this task.
[[ $(wc -l <<<"$cheats") == "$number" ]] || fail "there are no $number cheats"
rkb-run "$source_folder/pipelines/stock.yaml" --task "$source_folder/tasks/llama_rmsnorm" --quiet --out "$work/run" --secret "$(printf '%064d' 20)" \
  --set "propose.seed.with.files=[$(tr '\n' ',' <<<"$cheats")$twin]" --set "limits.candidates=$candidates" --set search.window=8 >"$work/said" 2>&1 || fail "$(cat "$work/said")"
python3 - "$work/run/run.sqlite" "$number" <<'END' || fail "a cheat was accepted"
import sqlite3, sys
archive = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
cheats = archive.execute("SELECT count(*) FROM candidate WHERE note LIKE 'seed kernel.cu%'").fetchone()[0]
accepted = archive.execute("SELECT count(*) FROM candidate WHERE note LIKE 'seed kernel.cu%' AND standing = 'accept'").fetchone()[0]
sys.exit(cheats < int(sys.argv[2]) * 5 / 6 or accepted > 0)
END
rkb best "$work/run" --out "$work/best.cu" >/dev/null
rkb check "$work/best.cu" --secret "$(printf '%064d' 21)" >"$work/said" || fail "the winner is a cheat: $(cat "$work/said")"
