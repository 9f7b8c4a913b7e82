. "$1/tests/adversary/attack.bash"
{ cat "$twin"; head -c 1048576 /dev/zero | tr '\0' '\n'; } >"$work/long.cu"
refuses "$work/long.cu" 'KiB\|bytes\|large\|long'
