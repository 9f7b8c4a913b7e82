__global__ void k() {}
// expect: 1:1: no manifest
