/* Tensor maps and tiles (tensor_maps.h).  On the machine's thread. */
#include "machine/maps/tensor_maps.h"
#include "machine/maps/map_images.h"

bool machine_pass_tensor_map(machine_launch_t *launch, const rkb_plan_argument_t *argument) {
   const machine_run_t *run = launch->run;
   const uint32_t bytes = launch->program->parameter_bytes;
   if (argument->map > run->plan->map_count || argument->bytes != RKB_MAP_BYTES || argument->offset > bytes ||
       bytes - argument->offset < RKB_MAP_BYTES || argument->offset % RKB_MAP_ALIGNMENT) {
      machine_find_launch(launch->run, RKB_MACHINE_REJECT, "plan.argument",
                          "a tensor map does not fit the kernel's parameter at byte %u", argument->offset);
      return false;
   }
   machine_map_image(run, argument->map - 1, launch->parameters + argument->offset);
   memset(launch->parameter_defined + argument->offset, 1, RKB_MAP_BYTES);
   return true;
}

/* Tiles ---------------------------------------------------------------------------------------------------------------- */

static uint32_t step_of(const rkb_plan_map_t *map, uint32_t k) {
   return map->element_strides[k] ? map->element_strides[k] : 1;
}

/* Each slice is a row of its own. */
static void measure_slices(machine_tile_t *tile) {
   const rkb_plan_map_t *map = tile->map;
   tile->row = tile->pitch = tile->bytes = tile->slice;
   for (uint32_t k = 0; k < map->rank; k++) {
      const uint32_t step = step_of(map, k);
      tile->count[k] = k + 2 == map->rank || map->im2col ? 1 : (map->box[k] + step - 1) / step;
      tile->bytes *= tile->count[k];
   }
   tile->bytes *= map->im2col ? map->pixels : 1;
   tile->span = tile->bytes;
}

void machine_tile_measure(machine_run_t *run, machine_tile_t *tile) {
   static const uint32_t widths[] = {0, 32, 64, 128};
   const rkb_plan_map_t *map = tile->map;
   tile->region = &run->regions[map->buffer];
   tile->element = tile->bytes = machine_map_element(map->type);
   tile->slice = map->interleave ? 8u << map->interleave : 0;
   if (tile->slice) {
      measure_slices(tile);
      return;
   }
   for (uint32_t k = 0; k < map->rank; k++) {
      const uint32_t step = k ? step_of(map, k) : 1;
      tile->count[k] = !map->im2col ? (map->box[k] + step - 1) / step
                       : k == 0     ? map->channels
                       : k == 1     ? map->pixels
                                    : 1;
      tile->bytes *= tile->count[k];
   }
   tile->row = tile->count[0] * tile->element;
   tile->pitch = tile->row < widths[map->swizzle & 3] ? widths[map->swizzle & 3] : tile->row;
   tile->span = tile->bytes / tile->row * tile->pitch;
}

uint32_t machine_tile_fill(const machine_tile_t *tile) {
   return tile->map->fill == RKB_MAP_FILL_NAN ? 0x7ff77ff7u : 0;
}

bool machine_tile_converts(const machine_tile_t *tile) {
   return tile->map->type == RKB_MAP_TF32 || tile->map->type == RKB_MAP_TF32_FTZ;
}

/* Does what an H200 does (tests/conformance): it rounds to nearest, ties to even; makes every NaN the same; and keeps subnormal numbers, even in
 * the types whose names promise to flush them. */
uint32_t machine_tile_convert(uint32_t word) {
   const bool finite = (word & 0x7f800000u) != 0x7f800000u;
   if (!finite)
      return word & 0x7fffffu ? 0x7fffe000u : word;
   return (word + 0xfffu + (word >> 13 & 1)) & ~0x1fffu;
}

/* Pixel n along a dimension: returns its coordinate, and sets *n to how many times the box of pixels was begun anew, which is n of the next
 * dimension.  Past the end of the box, the coordinate begins again at the lower corner. */
static int64_t pixel_along(const machine_tile_t *tile, uint32_t k, int64_t *n) {
   const rkb_plan_map_t *map = tile->map;
   const uint32_t corner = k - machine_map_first_of_pixels(map);
   const int64_t step = step_of(map, k), lower = map->lower[corner],
                 last = (int64_t)map->dims[k] - 1 + map->upper[corner], at = tile->at[k],
                 left = at > last ? 1 : (last - at) / step + 1,
                 whole = lower > last ? 1 : (last - lower) / step + 1;
   if (*n < left) {
      const int64_t place = at + *n * step;
      *n = 0;
      return place;
   }
   const int64_t beyond = *n - left;
   *n = 1 + beyond / whole;
   return lower + beyond % whole * step;
}

/* Finds the place in the buffer of the first element of row n of a tile; rows are counted over all dimensions but the elements' own.  False: the
 * row is outside of the tensor. */
static bool row_place(const machine_tile_t *tile, uint32_t n, int64_t *offset) {
   const rkb_plan_map_t *map = tile->map;
   if (map->rank == 2 && !map->im2col && !tile->slice) { /* most tiles are of a matrix */
      const int64_t row = (int64_t)tile->at[1] + (int64_t)n * step_of(map, 1);
      *offset = (int64_t)map->offset + row * (int64_t)map->strides[0];
      return row >= 0 && (uint64_t)row < map->dims[1];
   }
   const uint32_t first = machine_map_first_of_pixels(map);
   int64_t pixel = n;
   *offset = (int64_t)map->offset;
   for (uint32_t k = tile->slice ? 0 : 1; k < map->rank; k++) {
      int64_t at;
      if (tile->slice && k + 2 == map->rank) {
         at = tile->at[k];
      } else if (!map->im2col) {
         at = (int64_t)tile->at[k] + (int64_t)(n % tile->count[k]) * step_of(map, k);
         n /= tile->count[k];
      } else if (k + 1 < map->rank) {
         at = pixel_along(tile, k, &pixel) + tile->offsets[k - first + 1];
      } else {
         at = (int64_t)tile->at[k] + pixel;
      }
      if (at < 0 || (uint64_t)at >= map->dims[k])
         return false;
      *offset += at * (int64_t)(k ? map->strides[k - 1] : tile->slice);
   }
   return true;
}

/* The part of each row's place that follows from the first coordinate. */
static int64_t row_start(const machine_tile_t *tile) {
   return tile->slice ? 0 : (int64_t)tile->at[0] * tile->element;
}

/* Finds which bytes of a row are inside the tensor. */
static void inside(const machine_tile_t *tile, uint32_t *first, uint32_t *end) {
   if (tile->slice) {
      *first = 0;
      *end = tile->slice;
      return;
   }
   const int64_t left = -(int64_t)tile->at[0] * tile->element,
                 right = ((int64_t)tile->map->dims[0] - tile->at[0]) * tile->element;
   *first = left <= 0 ? 0 : left < tile->row ? (uint32_t)left : tile->row;
   *end = right <= 0 ? 0 : right < tile->row ? (uint32_t)right : tile->row;
   *end = *end < *first ? *first : *end;
   *end = tile->stored ? (*end + 15) & ~15u : *end;
}

static uint32_t rows_of(const machine_tile_t *tile) {
   return tile->bytes / tile->row;
}

/* The map was checked against its buffer; a map that was not must not harm the machine either. */
static bool fits(const machine_tile_t *tile, int64_t offset, uint32_t bytes) {
   return offset >= 0 && (uint64_t)offset <= tile->region->bytes &&
          tile->region->bytes - (uint64_t)offset >= bytes;
}

void machine_tile_rows(const machine_tile_t *tile, machine_tile_visit_t *visit, void *argument) {
   uint32_t first, end;
   inside(tile, &first, &end);
   for (uint32_t n = 0; end > first && n < rows_of(tile); n++) {
      int64_t offset;
      if (!row_place(tile, n, &offset))
         continue;
      offset += row_start(tile) + first;
      const machine_row_t row = {.region = tile->region, .offset = (uint64_t)offset, .bytes = end - first};
      if (fits(tile, offset, row.bytes))
         visit(argument, &row);
   }
}

uint32_t machine_tile_overrun(const machine_tile_t *tile) {
   uint32_t first, end;
   uint64_t most = 0;
   inside(tile, &first, &end);
   for (uint32_t n = 0; end > first && n < rows_of(tile); n++) {
      int64_t offset;
      if (!row_place(tile, n, &offset))
         continue;
      const uint64_t last = (uint64_t)(offset + row_start(tile) + end);
      most = last > most ? last : most;
   }
   return most > tile->region->bytes ? (uint32_t)(most - tile->region->bytes) : 0;
}

/* Sixteen bytes of shared memory change places within eight rows of 128: bits of the address are combined. */
static uint32_t swizzled(const machine_tile_t *tile, uint32_t address) {
   static const uint32_t chunks[] = {0, 1, 3, 7};
   return address ^ (address >> 7 & chunks[tile->map->swizzle & 3]) << 4;
}

/* A swizzle changes places only within such bytes, so what fills all of them need not be taken apart. */
#define PATTERN 128u

static void pieces(const machine_tile_t *tile, uint32_t address, uint32_t bytes, machine_region_t *region,
                   uint64_t offset, machine_tile_visit_t *visit, void *argument) {
   for (; !region && tile->map->swizzle && !(address % PATTERN) && bytes >= PATTERN; bytes -= PATTERN) {
      visit(argument, &(machine_row_t){.shared = address, .bytes = PATTERN});
      address += PATTERN;
   }
   while (bytes) {
      const uint32_t whole = 16 - (address & 15), most = tile->map->swizzle ? whole : bytes,
                     piece = bytes < most ? bytes : most;
      visit(argument,
            &(machine_row_t){
               .region = region, .offset = offset, .shared = swizzled(tile, address), .bytes = piece});
      address += piece;
      offset += piece;
      bytes -= piece;
   }
}

void machine_tile_pieces(const machine_tile_t *tile, machine_tile_visit_t *visit, void *argument) {
   uint32_t first, end;
   inside(tile, &first, &end);
   for (uint32_t n = 0; n < rows_of(tile); n++) {
      const uint32_t address = tile->shared + n * tile->pitch;
      int64_t offset;
      bool there = row_place(tile, n, &offset) && end > first;
      offset += row_start(tile) + first;
      there = there && fits(tile, offset, end - first);
      if (!there) {
         pieces(tile, address, tile->row, NULL, 0, visit, argument);
         continue;
      }
      pieces(tile, address, first, NULL, 0, visit, argument);
      pieces(tile, address + first, end - first, tile->region, (uint64_t)offset, visit, argument);
      pieces(tile, address + end, tile->row - end, NULL, 0, visit, argument);
   }
}

#define CHUNK 16u      /* bytes that a swizzle keeps together */
#define MOST_ROW 1024u /* bytes of a row: 256 elements of four; rows of longer ones go piece by piece */

bool machine_tile_is_whole(const machine_tile_t *tile) {
   const rkb_plan_map_t *map = tile->map;
   bool whole = !map->im2col && !tile->slice && tile->bytes == tile->span && tile->row <= MOST_ROW &&
                ((tile->shared | tile->row) & (CHUNK - 1)) == 0;
   for (uint32_t k = 0; k < map->rank; k++) {
      const int64_t last = (int64_t)tile->at[k] + (int64_t)(tile->count[k] - 1) * (k ? step_of(map, k) : 1);
      whole = whole && tile->at[k] >= 0 && last >= tile->at[k] && (uint64_t)last < map->dims[k];
   }
   int64_t first, last;
   return whole && row_place(tile, 0, &first) && row_place(tile, rows_of(tile) - 1, &last) &&
          fits(tile, first + row_start(tile), tile->row) && fits(tile, last + row_start(tile), tile->row);
}

static void convert_row(const machine_tile_t *tile, uint8_t *row) {
   for (uint32_t at = 0; machine_tile_converts(tile) && at < tile->row; at += 4) {
      uint32_t word;
      memcpy(&word, row + at, sizeof word);
      word = machine_tile_convert(word);
      memcpy(row + at, &word, sizeof word);
   }
}

void machine_tile_read(const machine_tile_t *tile, uint8_t *shared) {
   uint8_t row[MOST_ROW];
   for (uint32_t n = 0; n < rows_of(tile); n++) {
      const uint32_t address = tile->shared + n * tile->pitch;
      int64_t offset;
      if (!row_place(tile, n, &offset) || !fits(tile, offset + row_start(tile), tile->row))
         continue; /* cannot be: the tile is whole */
      machine_read_bytes(tile->region, (uint64_t)(offset + row_start(tile)), tile->row, row);
      convert_row(tile, row);
      for (uint32_t at = 0; at < tile->row; at += CHUNK)
         memcpy(shared + swizzled(tile, address + at), row + at, CHUNK);
   }
}

/* Which bytes of sixteen hold values, as shared memory notes it. */
static void take_definedness(const uint8_t *from, uint8_t *to) {
   for (uint32_t n = 0; n < CHUNK; n++)
      to[n] = from[n] == 1 ? 1 : UNDEFINED_STORE;
}

uint32_t machine_tile_read_partial(const machine_tile_t *tile, bool values, uint8_t *shared,
                                   uint8_t *defined) {
   const machine_region_t *region = tile->region;
   for (uint32_t n = 0; n < rows_of(tile); n++) {
      const uint32_t address = tile->shared + n * tile->pitch;
      int64_t offset;
      if (!row_place(tile, n, &offset))
         continue; /* cannot be: the tile is whole */
      offset += row_start(tile);
      if (!fits(tile, offset, tile->row))
         continue;
      const bool blank = machine_is_blank(region, (uint64_t)offset, tile->row);
      for (uint32_t at = 0; at < tile->row; at += CHUNK) {
         const uint32_t to = swizzled(tile, address + at);
         if (blank) { /* and no page of it was touched so far */
            memset(shared + to, 0, values ? CHUNK : 0);
            memset(defined + to, UNDEFINED_STORE, CHUNK);
            continue;
         }
         if (values)
            memcpy(shared + to, region->data + offset + at, CHUNK);
         take_definedness(region->defined + offset + at, defined + to);
      }
   }
   return rows_of(tile) * (tile->map->swizzle ? tile->row / CHUNK : 1);
}

/* Asked elements --------------------------------------------------------------------------------------------------------- */

/* The number of the first run that ends behind the element.  The rows of a tile mostly follow each other, and so do its tiles. */
static uint64_t run_behind(machine_region_t *region, uint64_t element) {
   const rkb_machine_asked_t *asked = region->asked;
   uint64_t low = region->asked_from, step = 1, high = asked->count;
   if (low && asked->runs[low - 1][1] > element)
      low = 0;
   for (uint64_t next; (next = low + step) < high; step *= 2)
      if (asked->runs[next - 1][1] > element)
         high = next;
      else
         low = next;
   while (low < high) {
      const uint64_t middle = low + (high - low) / 2;
      if (asked->runs[middle][1] > element)
         high = middle;
      else
         low = middle + 1;
   }
   region->asked_from = low < UINT32_MAX ? (uint32_t)low : 0;
   return low;
}

bool machine_asks(machine_region_t *region, uint64_t offset, uint64_t bytes) {
   const uint64_t n = run_behind(region, offset / region->element);
   return n < region->asked->count && region->asked->runs[n][0] * region->element < offset + bytes;
}

/* Makes the asked elements of a row, from the offset on, and says which bytes hold values; false: there are none.  Then *asked_at is the offset of
 * the first byte that is asked for behind the row. */
static bool make_row(machine_run_t *run, const machine_tile_t *tile, uint64_t offset, uint8_t *row,
                     uint8_t *defined, uint64_t *asked_at) {
   machine_region_t *region = tile->region;
   const rkb_machine_asked_t *asked = region->asked;
   const uint64_t width = region->element, first = offset / width,
                  end = (offset + tile->row + width - 1) / width;
   uint64_t n = run_behind(region, first);
   *asked_at = n < asked->count ? asked->runs[n][0] * width : UINT64_MAX;
   if (n == asked->count || asked->runs[n][0] >= end)
      return false;
   memset(row, 0, tile->row);
   memset(defined, UNDEFINED_STORE, tile->row);
   for (; n < asked->count && asked->runs[n][0] < end; n++) {
      const uint64_t from = asked->runs[n][0] > first ? asked->runs[n][0] : first,
                     to = asked->runs[n][1] < end ? asked->runs[n][1] : end;
      if (run->options.fetch(run->options.fetch_argument, region->buffer, from * width, (to - from) * width,
                             row + (from - first) * width) != RKB_OK)
         run->out_of_memory = run->stop = true;
      memset(defined + (from - first) * width, 1, (to - from) * width);
   }
   return true;
}

void machine_tile_read_asked(machine_run_t *run, const machine_tile_t *tile, uint8_t *shared,
                             uint8_t *defined) {
   uint8_t row[MOST_ROW], row_defined[MOST_ROW];
   memset(shared + tile->shared, 0,
          tile->span); /* the values in a product's other columns decide how it is computed */
   memset(defined + tile->shared, UNDEFINED_STORE, tile->span);
   uint64_t asked_from = 0, asked_at = 0; /* nothing is asked for from the one to the other */
   for (uint32_t n = 0; n < rows_of(tile); n++) {
      const uint32_t address = tile->shared + n * tile->pitch;
      int64_t offset;
      if (!row_place(tile, n, &offset))
         continue;
      const uint64_t from = (uint64_t)(offset + row_start(tile));
      if (from >= asked_from && from + tile->row <= asked_at)
         continue;
      asked_from = from;
      if (!make_row(run, tile, from, row, row_defined, &asked_at))
         continue;
      convert_row(tile, row);
      for (uint32_t at = 0; at < tile->row; at += CHUNK) {
         memcpy(shared + swizzled(tile, address + at), row + at, CHUNK);
         memcpy(defined + swizzled(tile, address + at), row_defined + at, CHUNK);
      }
   }
}
