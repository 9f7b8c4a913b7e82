/* A build as bytes, for a process that holds no compiler. */
#ifndef RKB_KERNEL_BUILD_RECORD_H
#define RKB_KERNEL_BUILD_RECORD_H

#include "kernel/kernel.h"
#include "kernel/byte_record.h"

void rkb_build_write(const rkb_build_t *build, rkb_text_t *out);
/* A copy, for rkb_build_free; NULL when the bytes are no build.  Numbers are taken as they are: the writer is this program. */
rkb_build_t *rkb_build_read(record_reader_t *in);

#endif
