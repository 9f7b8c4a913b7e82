/* The checking machine against an H200: every tensor copy of tile_forms.txt and im2col_forms.txt must leave the same image, the first bytes and a hash of all
 * of it as they were recorded; a map that the driver refused must be refused, and a copy that ended the launch rejected. */
#include "check.h"
#include "kernel/tensor_map.h"
#include "tile_vectors.h"
#include "machine/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER RKB_SOURCE_DIR "/tests/conformance/"
#define TILES FOLDER "tile_forms.txt", FOLDER "h200_tiles.txt"
#define PIXELS FOLDER "im2col_forms.txt", FOLDER "h200_im2col.txt"
#define INTERLEAVED FOLDER "interleaved_forms.txt", FOLDER "h200_interleaved.txt"

typedef struct replay {
   uint8_t tensor[TILE_TENSOR_BYTES], image[TILE_ROOM_BYTES];
   char ptx[16384], why[400];
   bool portable, rejected;
} replay_t;

static bool execute(replay_t *r, const tile_form_t *form) {
   const rkb_plan_buffer_t buffers[2] = {{.name = "tensor",
                                          .role = RKB_INOUT,
                                          .dtype = RKB_U8,
                                          .alignment = 256,
                                          .bytes = TILE_TENSOR_BYTES,
                                          .elements = TILE_TENSOR_BYTES},
                                         {.name = "image",
                                          .role = RKB_OUT,
                                          .dtype = RKB_U8,
                                          .tensor = 1,
                                          .alignment = 256,
                                          .bytes = TILE_ROOM_BYTES,
                                          .elements = TILE_ROOM_BYTES}};
   const rkb_plan_argument_t arguments[2] = {{.buffer = 0, .bytes = RKB_MAP_BYTES, .map = 1},
                                             {.buffer = 1, .offset = RKB_MAP_BYTES, .bytes = 8}};
   const rkb_machine_buffer_t data[2] = {{r->tensor, true}, {r->image, false}};
   const rkb_plan_launch_t launch = {.entry = "tile",
                                     .expression = "tile",
                                     .grid = {1, 1, 1},
                                     .block = {32, 1, 1},
                                     .cluster = {1, 1, 1},
                                     .argument_count = 2,
                                     .parameter_bytes = RKB_MAP_BYTES + 8,
                                     .arguments = arguments};
   const rkb_plan_t plan = {.version = 1,
                            .buffer_count = 2,
                            .launch_count = 1,
                            .buffers = buffers,
                            .launches = &launch,
                            .map_count = 1,
                            .maps = &form->map};
   rkb_machine_options_t options = {.portable = r->portable, .checks = RKB_MACHINE_RACES};
   rkb_machine_module_t *module = rkb_machine_module_read(r->ptx, strlen(r->ptx));
   rkb_machine_t *machine = NULL;
   rkb_machine_report_t report = {0};
   rkb_error_t err;
   bool done = false;
   r->rejected = false;
   snprintf(r->why, sizeof r->why, "nothing was found");
   tile_fill_tensor(form, r->tensor);
   if (rkb_machine_open(module, &plan, &options, &machine, &err) != RKB_OK ||
       rkb_machine_run(machine, data, &err) != RKB_OK) {
      snprintf(r->why, sizeof r->why, "%s", err.message);
   } else {
      rkb_machine_report(machine, &report);
      done = report.complete;
      r->rejected = report.finding_count && report.findings[0].standing == RKB_MACHINE_REJECT;
      for (uint32_t n = 0; n < report.finding_count; n++)
         snprintf(r->why, sizeof r->why, "%s: %.300s", report.findings[n].reason, report.findings[n].message);
   }
   rkb_machine_close(machine);
   rkb_machine_module_free(module);
   return done;
}

static bool same_image(replay_t *r, const tile_form_t *form, const char *recorded) {
   const uint8_t *image = form->load ? r->image : r->tensor;
   const size_t bytes = form->load ? TILE_ROOM_BYTES : TILE_TENSOR_BYTES;
   for (uint32_t n = 0; n < TILE_SAMPLE; n++, recorded += 2) {
      unsigned byte = 256;
      sscanf(recorded, "%2x", &byte);
      if (byte != image[n]) {
         snprintf(r->why, sizeof r->why, "byte %u is %02x, on the device %02x", n, image[n], byte);
         return false;
      }
   }
   snprintf(r->why, sizeof r->why, "the image differs after its first %u bytes", TILE_SAMPLE);
   return strtoull(recorded, NULL, 16) == tile_hash(image, bytes);
}

static bool replay_form(replay_t *r, const tile_form_t *form, const char *recorded) {
   char *rest, problem[256];
   const bool refused = rkb_tensor_map_problem(&form->map, UINT64_MAX, 256, NULL, problem, sizeof problem);
   if (strtoull(recorded, &rest, 16) != tile_hash(form->text, strlen(form->text))) {
      snprintf(r->why, sizeof r->why, "the record is of another form: record again");
      return false;
   }
   const bool device_refuses = strncmp(rest + 1, TILE_REFUSED, strlen(TILE_REFUSED)) == 0;
   if (refused || device_refuses) {
      snprintf(r->why, sizeof r->why, "%s it: %s",
               device_refuses ? "the device alone refuses" : "the device takes", refused ? problem : "");
      return refused == device_refuses;
   }
   if (strncmp(rest + 1, TILE_ENCODED, strlen(TILE_ENCODED)) == 0)
      return true;
   if (strncmp(rest + 1, TILE_ERROR, strlen(TILE_ERROR)) == 0)
      return tile_ptx(form, r->ptx, sizeof r->ptx) && !execute(r, form) && r->rejected;
   return tile_ptx(form, r->ptx, sizeof r->ptx) && execute(r, form) && same_image(r, form, rest + 1);
}

static void replay(const char *form_file, const char *record_file, bool portable) {
   replay_t *r = calloc(1, sizeof *r);
   FILE *forms = fopen(form_file, "r"), *records = fopen(record_file, "r");
   char line[512], record[1024];
   uint32_t run = 0, wrong = 0;
   assert_true(r && forms && records && fgets(record, sizeof record, records)); /* past the heading */
   r->portable = portable;
   while (fgets(line, sizeof line, forms)) {
      tile_form_t form;
      const char *message;
      if (!tile_parse(line, &form, &message))
         continue;
      assert_non_null(fgets(record, sizeof record, records));
      run++;
      if (!replay_form(r, &form, record)) {
         print_message("%s: %s\n", form.text, r->why);
         wrong++;
      }
   }
   fclose(forms);
   fclose(records);
   free(r);
   assert_true(run > 0);
   assert_int_equal(wrong, 0);
}

static void images_are_the_devices(void **state) {
   (void)state;
   replay(TILES, false);
}

static void images_are_the_devices_portably(void **state) {
   (void)state;
   replay(TILES, true);
}

static void pixels_are_the_devices(void **state) {
   (void)state;
   replay(PIXELS, false);
}

static void pixels_are_the_devices_portably(void **state) {
   (void)state;
   replay(PIXELS, true);
}

static void slices_are_the_devices(void **state) {
   (void)state;
   replay(INTERLEAVED, false);
}

static void slices_are_the_devices_portably(void **state) {
   (void)state;
   replay(INTERLEAVED, true);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(images_are_the_devices), cmocka_unit_test(images_are_the_devices_portably),
      cmocka_unit_test(pixels_are_the_devices), cmocka_unit_test(pixels_are_the_devices_portably),
      cmocka_unit_test(slices_are_the_devices), cmocka_unit_test(slices_are_the_devices_portably)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
