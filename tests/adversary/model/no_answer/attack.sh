. "$1/tests/adversary/attack.bash"
deadline=1s
ask false
none_accepted "$work/asked"
