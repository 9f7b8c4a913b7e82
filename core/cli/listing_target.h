/* The figures of a device profile from which the least time of a task is computed. */
#ifndef RKB_CLI_LISTING_TARGET_H
#define RKB_CLI_LISTING_TARGET_H

#include "kernel/kernel.h"
#include "task/listing.h"

/* For fp32 arithmetic; a multiply and an add count as two.  Borrows the device's name. */
rkb_listing_target_t rkb_listing_target_of(const rkb_device_t *device);

#endif
