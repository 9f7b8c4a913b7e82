/* What a device profile says of the least time a task can take on it. */
#ifndef RKB_CLI_LISTING_TARGET_H
#define RKB_CLI_LISTING_TARGET_H

#include "kernel/kernel.h"
#include "task/listing.h"

/* fp32 arithmetic, a multiply and an add counting apart.  Borrows the device's name. */
rkb_listing_target_t rkb_listing_target_of(const rkb_device_t *device);

#endif
