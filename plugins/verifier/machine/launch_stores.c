/* Which buffers a launch of a sample stores to.  Check cases told it for each launch that was executed whole, in 64 bits: the last one stands for
 * all buffers from number 63 on, so for these the launch's arguments and its executed blocks are asked too.  A network of hundreds of launches
 * has hundreds of such buffers.  Any thread. */
#include "bench_values.h"

uint64_t sample_buffers_written(const struct sample *s, uint32_t number) {
   const struct outcome *outcome = s->outcome;
   const rkb_plan_launch_t *launch = &s->plan->launches[number];
   uint64_t written = 0;
   for (uint32_t known = 0; known < outcome->stored_count; known++)
      if (outcome->stored[known].launch == shapes_launch_name(s->candidate, launch))
         return outcome->stored[known].buffers;
   for (uint32_t b = 0; b < s->plan->buffer_count; b++)
      if (s->plan->buffers[b].role != RKB_IN && plan_takes(launch, b))
         written |= UINT64_C(1) << (b < 63 ? b : 63);
   return written;
}

bool sample_may_store(const struct sample *s, uint32_t launch, uint32_t buffer) {
   rkb_machine_extent_t extent;
   if (!(s->stores[launch] >> (buffer < 63 ? buffer : 63) & 1))
      return false;
   bool any = buffer < 63 || plan_takes(&s->plan->launches[launch], buffer);
   for (uint32_t place = 0; !any && place < s->blocks.launches[launch].count; place++)
      any = rkb_machine_extent(s->machine, launch, place, buffer, &extent);
   return any;
}
