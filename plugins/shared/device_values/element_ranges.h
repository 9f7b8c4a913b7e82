/* Reads the chosen elements of outputs that an instance holds on the device, all in one request: a round trip
 * for each range would take longer than judging them. */
#ifndef DEVICE_VALUES_ELEMENT_RANGES_H
#define DEVICE_VALUES_ELEMENT_RANGES_H

#include <rkb/ext/device.h>
#include <rkb/ext/task.h>

typedef struct reading {
   uint32_t tensor;
   uint64_t width; /* bytes of an element */
   const rkb_sample_t *sample;
   const char *data; /* the sample's elements in their order; points into the block */
} reading_t;

/* Fills in the data of each reading.  The caller frees *block, which holds them, whatever is returned. */
int readings_take(const rkb_device_api_t *device, rkb_session_t *session, uint32_t instance, reading_t *list,
                  uint32_t count, char **block, rkb_error_t *err);

#endif
