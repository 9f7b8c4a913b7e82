// expect: build.error: names a file to the assembler
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
__global__ void k(float *x) { asm volatile(".incbin \"/etc/passwd\";"); }
