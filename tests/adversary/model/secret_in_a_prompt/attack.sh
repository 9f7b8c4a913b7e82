. "$1/tests/adversary/attack.bash"
cat >"$work/listen.sh" <<END
cat >>$work/prompts
echo nothing
END
ask sh "$work/listen.sh"
[[ -s $work/prompts ]] || fail "nothing was asked: $(cat "$work/said")"
secret=$(grep -o '[0-9a-f]\{64\}' "$work/said" | sed -n 1p)
[[ $secret ]] || secret=$(rkb report "$work/asked" | grep -o '[0-9a-f]\{64\}' | sed -n 1p)
[[ $secret ]] || fail "the run names no secret"
if grep -q "$secret" "$work/prompts"; then fail "the prompt holds the secret"; fi
