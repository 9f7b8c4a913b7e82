. "$1/tests/adversary/attack.bash"
deadline=1s
ask yes 'more and more'
none_accepted "$work/asked"
