// expect: 2:1: never closed
/* rkb-kernel: 1
task: a
