/* Elements that lie side by side, as ranges. */
#include "element_ranges.h"
#include <stdlib.h>

/* Returns how many elements from number first on lie side by side. */
static uint64_t run_from(const rkb_sample_t *sample, uint64_t first) {
   uint64_t run = 1;
   while (first + run < sample->points.count &&
          sample->elements[first + run] == sample->elements[first] + run)
      run++;
   return run;
}

/* Writes the ranges of a reading, or only counts them. */
static uint32_t ranges_of(const reading_t *reading, rkb_range_t *ranges) {
   uint32_t count = 0;
   for (uint64_t i = 0, run; i < reading->sample->points.count; i += run, count++) {
      run = run_from(reading->sample, i);
      if (ranges)
         ranges[count] = (rkb_range_t){.buffer = reading->tensor,
                                       .offset = reading->sample->elements[i] * reading->width,
                                       .bytes = run * reading->width};
   }
   return count;
}

int readings_take(const rkb_device_api_t *device, rkb_session_t *session, uint32_t instance, reading_t *list,
                  uint32_t count, char **block, rkb_error_t *err) {
   uint64_t bytes = 0;
   uint32_t total = 0, done = 0;
   for (uint32_t i = 0; i < count; i++) {
      bytes += list[i].sample->points.count * list[i].width;
      total += ranges_of(&list[i], NULL);
   }
   rkb_range_t *ranges = calloc((size_t)total + 1, sizeof *ranges);
   *block = malloc(bytes + 1);
   int status = ranges && *block ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   char *at = *block;
   for (uint32_t i = 0; i < count && status == RKB_OK; i++) {
      done += ranges_of(&list[i], ranges + done);
      list[i].data = at;
      at += list[i].sample->points.count * list[i].width;
   }
   if (status == RKB_OK && total)
      status = device->pick(session, instance, ranges, total, *block, err);
   free(ranges);
   return status;
}
