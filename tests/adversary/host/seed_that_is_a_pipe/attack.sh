. "$1/tests/adversary/attack.bash"
mkfifo "$work/seed.cu"
export -f judge fail
export source_folder work
timeout 20 bash -c 'judge "$work/seed.cu"' || fail "a pipe stalls the run"
none_accepted "$work/run"
