. "$1/tests/adversary/attack.bash"
python3 - "$twin" "$work/long.cu" <<'END'
import sys
head, tail = open(sys.argv[1]).read().split("  - kernel:", 1)
body = tail.split("*/", 1)[1]
launch = '  - {kernel: rmsnorm, grid: B * T, block: 32, args: "x, weight, y, eps, D"}\n'
open(sys.argv[2], "w").write(head + launch * 3000 + "*/" + body)
END
refuses "$work/long.cu" "at most 2048 are allowed"
