/* Inputs on their way to the device: several threads draw them, they are sent in order, arrive whole, and are
 * not drawn again as long as they are undamaged on the device.  Over the worker's protocol, with a driver
 * that has no device (driver_double.c). */
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "device_values/value_staging.h"
#include "gpu/devices.h"
#include "gpu/protocol.h"
#include "task/expected/staged_values.h"

enum { TENSORS = 4, SETS = 2, THREADS = 4 };

static _Atomic uint64_t drawn; /* elements */
static _Atomic int failing;    /* tensor + 1 that cannot be drawn, or 0 */

/* An element says where it belongs. */
static uint32_t element_of(const rkb_inputs_t *inputs, uint32_t tensor, uint64_t element) {
   return (uint32_t)(element * 2654435761u) ^ (uint32_t)(uintptr_t)inputs ^ tensor << 24;
}

static int play_fill(const rkb_inputs_t *inputs, uint32_t tensor, uint64_t first, uint64_t count, void *out,
                     rkb_error_t *err) {
   uint32_t *words = out;
   if (failing == (int)tensor + 1)
      return rkb_fail(err, RKB_ERR_NOMEM, "tensor %u cannot be drawn", tensor);
   for (uint64_t i = 0; i < count; i++)
      words[i] = element_of(inputs, tensor, first + i);
   drawn += count;
   return RKB_OK;
}

static const rkb_task_info_t shown = {
   .name = "softmax", .direction = "forward", .directory = RKB_SOURCE_DIR "/tasks/softmax"};

static const rkb_task_info_t *play_info(const rkb_host_t *host) {
   (void)host;
   return &shown;
}

typedef struct work {
   void (*part)(void *argument, uint32_t n);
   void *argument;
   uint32_t count;
   _Atomic uint32_t next;
} work_t;

static void *take_parts(void *argument) {
   work_t *work = argument;
   for (uint32_t n; (n = work->next++) < work->count;)
      work->part(work->argument, n);
   return NULL;
}

static void play_share(const rkb_host_t *host, uint32_t count, void (*part)(void *argument, uint32_t n),
                       void *argument) {
   work_t work = {part, argument, count, 0};
   pthread_t threads[THREADS];
   (void)host;
   for (int i = 0; i < THREADS; i++)
      assert_int_equal(pthread_create(&threads[i], NULL, take_parts, &work), 0);
   for (int i = 0; i < THREADS; i++)
      pthread_join(threads[i], NULL);
}

static const rkb_task_api_t TASK = {.size = sizeof TASK,
                                    .info = play_info,
                                    .inputs_fill = play_fill,
                                    .staged_find = rkb_staged_find,
                                    .staged_keep = rkb_staged_keep};
static const rkb_device_api_t DEVICE = {
   .stage = rkb_session_stage, .keep = rkb_session_keep, .take = rkb_session_take};
static const rkb_workers_api_t WORKERS = {.size = sizeof WORKERS, .share = play_share};

#define WORDS(words) .elements = (words), .bytes = 4 * (uint64_t)(words)
static const rkb_tensor_t tensors[TENSORS] = {
   {.name = "large", .role = RKB_IN, .dtype = RKB_F32, WORDS(500001)}, /* several pieces */
   {.name = "y", .role = RKB_OUT, .dtype = RKB_F32, WORDS(1000)},
   {.name = "none", .role = RKB_IN, .dtype = RKB_F32, WORDS(0)},
   {.name = "small", .role = RKB_INOUT, .dtype = RKB_F32, WORDS(3)}};
static const rkb_case_t the_case = {
   .name = "bench/one", .kind = RKB_CASE_BENCH, .tensor_count = TENSORS, .tensors = tensors};
static const rkb_family_t family = {.name = "normal"};
static const uint64_t ALL = SETS * UINT64_C(500004);

typedef struct place {
   rkb_devices_t *devices;
   rkb_session_t *session;
   rkb_store_t *store;
   sums_t sums[SETS];
   char folder[64];
} place_t;

static int open_place(void **state) {
   static const char *const command[] = {"/usr/bin/env", "LD_PRELOAD=" RKB_DRIVER_DOUBLE, RKB_WORKER_PROGRAM,
                                         NULL};
   place_t *p = calloc(1, sizeof *p);
   rkb_error_t err = {0};
   strcpy(p->folder, "/tmp/rkb-staging-XXXXXX");
   if (!mkdtemp(p->folder) || setenv("XDG_CACHE_HOME", p->folder, 1) != 0)
      return -1;
   if (rkb_store_open("softmax forward of this test", &p->store, &err) != RKB_OK ||
       rkb_devices_open(command, 1, &p->devices, &err) != RKB_OK ||
       rkb_session_begin(p->devices, 0, NULL, NULL, &p->session, &err) != RKB_OK)
      fail_msg("%s", err.message);
   for (uint32_t set = 0; set < SETS; set++)
      assert_true(sums_open(TENSORS, &p->sums[set]));
   drawn = 0;
   failing = 0;
   *state = p;
   return 0;
}

static int close_place(void **state) {
   place_t *p = *state;
   char command[128];
   rkb_session_end(p->session);
   rkb_devices_close(p->devices);
   rkb_store_close(p->store);
   for (uint32_t set = 0; set < SETS; set++)
      sums_close(&p->sums[set]);
   snprintf(command, sizeof command, "rm -r '%s'", p->folder);
   free(p);
   return system(command);
}

static int send(place_t *p, bool keep, rkb_error_t *err) {
   staging_t sets[SETS];
   for (uint32_t set = 0; set < SETS; set++)
      sets[set] = (staging_t){.task = &TASK,
                              .device = &DEVICE,
                              .workers = &WORKERS,
                              .store = keep ? p->store : NULL,
                              .session = p->session,
                              .the_case = &the_case,
                              .inputs = (const rkb_inputs_t *)(uintptr_t)(17 + set),
                              .family = &family,
                              .seed = 5 + set,
                              .set = set,
                              .sums = &p->sums[set]};
   return staging_send(sets, SETS, err);
}

/* The sums that the stages hold against the device's: of every tensor as it should be. */
static void assert_whole(const place_t *p) {
   uint32_t *words = malloc(4 * tensors[0].elements);
   for (uint32_t set = 0; set < SETS; set++)
      for (uint32_t t = 0; t < TENSORS; t++) {
         for (uint64_t i = 0; i < tensors[t].elements; i++)
            words[i] = element_of((const rkb_inputs_t *)(uintptr_t)(17 + set), t, i);
         if (tensors[t].role != RKB_OUT)
            assert_true(p->sums[set].sums[t] == keyed_sum(p->sums[set].keys[t], 0, words, tensors[t].bytes));
      }
   free(words);
}

static void again(place_t *p) {
   rkb_error_t err = {0};
   rkb_session_end(p->session);
   assert_int_equal(rkb_session_begin(p->devices, 0, NULL, NULL, &p->session, &err), RKB_OK);
}

static void what_is_kept_is_drawn_once(void **state) {
   place_t *p = *state;
   rkb_error_t err = {0};
   assert_int_equal(send(p, true, &err), RKB_OK);
   assert_int_equal(drawn, ALL);
   assert_whole(p);
   again(p);
   assert_int_equal(send(p, true, &err),
                    RKB_OK); /* the device finds the same sums, or they would travel again */
   assert_int_equal(drawn, ALL);
   assert_whole(p);
}

static void fresh_values_are_drawn_each_time(void **state) {
   place_t *p = *state;
   rkb_error_t err = {0};
   for (uint64_t n = 1; n <= 2; n++) {
      assert_int_equal(send(p, false, &err), RKB_OK);
      assert_int_equal(drawn, n * ALL);
      assert_whole(p);
      again(p);
   }
}

/* Another worker has nothing; the sums are known and still right. */
static void a_fresh_worker_is_sent_everything(void **state) {
   place_t *p = *state;
   rkb_error_t err = {0};
   assert_int_equal(send(p, true, &err), RKB_OK);
   assert_int_equal(rkb_session_restart(p->session, &err), RKB_OK);
   assert_int_equal(send(p, true, &err), RKB_OK);
   assert_int_equal(drawn, 2 * ALL);
   assert_whole(p);
}

static void what_cannot_be_drawn_is_told(void **state) {
   place_t *p = *state;
   rkb_error_t err = {0};
   failing = 4;
   assert_int_equal(send(p, true, &err), RKB_ERR_NOMEM);
   assert_string_equal(err.message, "tensor 3 cannot be drawn");
   failing = 0;
   assert_int_equal(send(p, true, &err), RKB_OK);
   assert_whole(p);
}

#define PLACED(test) cmocka_unit_test_setup_teardown(test, open_place, close_place)

int main(void) {
   const struct CMUnitTest tests[] = {
      PLACED(what_is_kept_is_drawn_once),
      PLACED(fresh_values_are_drawn_each_time),
      PLACED(a_fresh_worker_is_sent_everything),
      PLACED(what_cannot_be_drawn_is_told),
   };
   return RUN_TESTS(tests);
}
