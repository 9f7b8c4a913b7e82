// A licence may stand first.
   /* rkb-kernel: 1
# comments of YAML are fine
task: llama_rmsnorm
direction: backward
algorithm: transform
tune:
  BLOCK: {default: 256, choices: [64, 128, 256]}
  VEC:   {default: 4, choices: [1, 4]}
let:
  rows: B * T
  half: max(rows / 2, 1)
scratch:
  partial: {dtype: float32, shape: "rows, 64", init: zero}
  index: {dtype: int64, shape: "min(rows, 7)"}
fill: {grad_weight: zero, grad_x: 1.5}
launches:
  - kernel: first<BLOCK, VEC>
    when: D % VEC == 0 and rows > 1
    grid: "ceildiv(D, BLOCK), min(rows, 65535)"
    block: BLOCK
    shared: BLOCK * 4
    cluster: 2
    args: x, x + D, partial, 1.0 / D, eps, null
    constants: {filter: weight}
  - else:
    kernel: first<BLOCK, 1>
    grid: ceildiv(D, BLOCK)
    block: "BLOCK, 1, 1"
    cooperative: true
    args: ""
*/
int nothing;
