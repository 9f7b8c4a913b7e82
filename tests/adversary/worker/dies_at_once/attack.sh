. "$1/tests/adversary/attack.bash"
through_worker 'no usable GPU' /usr/bin/env false
