. "$1/tests/adversary/attack.bash"
export -f judge fail
export source_folder work
timeout 20 bash -c 'judge /dev/zero' || fail "a device stalls the run"
none_accepted "$work/run"
