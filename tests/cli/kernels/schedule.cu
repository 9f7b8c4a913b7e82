/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: y_rows
    grid: "N"
    block: 256
    args: "x, y, D"
schedule:
  version: 4
  launches:
    - {map: row, compute: [y_largest, y_sum], write: [y_value], threads: 256, vector: 1, rows: 1, split: 1, keep: 0}
*/
/* Edited: the kernel that the schedule gives was taken out. */
__global__ void y_rows(const float *x, float *y, int D) {}
