. "$1/tests/adversary/attack.bash"
printf 'planted and private\n' >"$work/private"
ln -s "$work/private" "$work/seed.cu"
judge "$work/seed.cu"
if grep -rqa 'planted and private' "$work/run" "$work/said"; then fail "the archive holds a private file"; fi
none_accepted "$work/run"
