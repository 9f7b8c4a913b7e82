. "$1/tests/adversary/attack.bash"
export OPENAI_API_KEY=sk-planted-and-private PLANTED=sk-planted-and-private
ask env
if grep -rqa 'sk-planted-and-private' "$work/asked" "$work/said"; then fail "a program got a key that nobody gave it"; fi
none_accepted "$work/asked"
