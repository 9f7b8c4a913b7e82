. "$1/tests/adversary/attack.bash"
ask head -c 65536 /dev/urandom
none_accepted "$work/asked"
