/* Rows of a copy of a factor that begin at multiples of 16 bytes (padded_rows.h): their distance, whether they need a copy, and its name.  One thread. */
#ifndef RKB_GENERATOR_PADDED_PITCH_H
#define RKB_GENERATOR_PADDED_PITCH_H

#include "generator/text/launch_text.h"

/* The distance of the copy's rows: `row` elements, rounded up to a multiple of `whole`. */
const rkb_index_t *rkb_padded_pitch(rkb_indices_t *indices, const rkb_index_t *row, int64_t whole);
/* Whether rows of so many elements are known to need no copy. */
bool rkb_padded_is_whole(const rkb_writer_t *writer, const rkb_index_t *row, int64_t whole);
/* The name of the buffer for a copy of a node in rows of so many elements. */
const char *rkb_padded_name(rkb_writer_t *writer, uint32_t stored, const rkb_index_t *row);

#endif
