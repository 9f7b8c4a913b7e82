/* rkb-kernel: 1
task: adamw_step
direction: forward
launches:
  - kernel: adamw
    grid: ceildiv(N, 256)
    block: 256
    args: param, grad, exp_avg, exp_avg_sq, lr, beta1, beta2, eps, weight_decay, bias_correction1, bias_correction2, N
*/
// task: adamw_step
// why: changed in place, and wrong from an element on that no check case has
// standing: reject
// shows: "bench/matrix"
// shows: "buffer":"exp_avg"
// shows: "opcode":"st.global.f32"
// says: case bench/matrix
__global__ void adamw(float *param, const float *grad, float *exp_avg, float *exp_avg_sq, float lr, float beta1, float beta2,
                      float eps, float weight_decay, float bias_correction1, float bias_correction2, long long N) {
   const long long i = (long long)blockIdx.x * 256 + threadIdx.x;
   if (i >= N)
      return;
   const float first = exp_avg[i] * beta1 + grad[i] * (1.0f - beta1);
   const float second = exp_avg_sq[i] * beta2 + grad[i] * grad[i] * (1.0f - beta2);
   param[i] = param[i] * (1.0f - lr * weight_decay) - first / bias_correction1 / (sqrtf(second / bias_correction2) + eps) * lr;
   exp_avg[i] = i < 1 << 20 ? first : first * 1.125f;
   exp_avg_sq[i] = second;
}
