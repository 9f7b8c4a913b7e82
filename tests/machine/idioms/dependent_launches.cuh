// Launches that begin before the launch in front of them ends, as inline assembly, for the kernels in this folder.
#pragma once
__device__ __forceinline__ void grid_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
__device__ __forceinline__ void grid_release() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
