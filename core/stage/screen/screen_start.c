/* Starts screening workers and checks that they fit this run (screen_slot.h).  Each machine has one thread, which runs everything
 * here; the slots that it starts belong to it until they are free. */
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/memory.h"
#include "stage/confined/confined_fork.h"
#include "stage/screen/screen_protocol.h"
#include "stage/screen/screen_slot.h"
#include "system/loop.h"
#include "system/timed_wait.h"

/* sshd by default accepts ten logins at a time (MaxStartups), so fewer are started together. */
enum { AT_ONCE = 8, LOOK_MS = 1000 };

/* Opening the pipeline and starting the compiler's process each take well below a second.  The limit of a minute allows for a
 * loaded machine. */
#define START_NS (60ull * 1000000000ull)

static void put_plugins(const rkb_pipeline_t *pipeline, rkb_text_t *out) {
   const uint32_t count = rkb_registry_count(pipeline->registry);
   record_put_u32(out, count < SCREEN_MAX_PLUGINS ? count : SCREEN_MAX_PLUGINS);
   for (uint32_t i = 0; i < count && i < SCREEN_MAX_PLUGINS; i++)
      record_put_text(out, rkb_registry_at(pipeline->registry, i)->path);
}

void screen_setup_write(rkb_screen_workers_t *workers) {
   const rkb_pipeline_t *pipeline = workers->options.pipeline;
   rkb_text_init(&workers->identity, SCREEN_MAX_READY);
   screen_identity_write(pipeline, &workers->identity);
   rkb_text_init(&workers->setup, SCREEN_MAX_SETUP);
   record_put_u32(&workers->setup, SCREEN_SETUP);
   record_put_text(&workers->setup, RKB_VERSION);
   put_plugins(pipeline, &workers->setup);
   record_put_text(&workers->setup, rkb_pipeline_text(pipeline));
}

/* The end of a wait: a deadline, or the end of the run. */
typedef struct patience {
   rkb_screen_workers_t *workers;
   uint64_t until_ns;
} patience_t;

static bool closing(rkb_screen_workers_t *workers) {
   pthread_mutex_lock(&workers->mutex);
   const bool is = workers->closing;
   pthread_mutex_unlock(&workers->mutex);
   return is;
}

static bool is_over(void *argument) {
   const patience_t *patience = argument;
   return rkb_now_ns() > patience->until_ns || closing(patience->workers);
}

static int refuse(screen_machine_t *machine, rkb_error_t *err) {
   pthread_mutex_lock(&machine->workers->mutex);
   machine->refused = true;
   pthread_mutex_unlock(&machine->workers->mutex);
   return err->status;
}

/* Reports the first line in which the worker's identity differs from this program's. */
static int tell_difference(const char *ours, const char *theirs, rkb_error_t *err) {
   size_t line = 0, at = 0;
   for (; ours[at] && ours[at] == theirs[at]; at++)
      line = ours[at] == '\n' ? at + 1 : line;
   const size_t word = strcspn(ours + line, " \n"), whole = strcspn(ours + line, "\n");
   const bool plugin = strncmp(ours + line, "plugin", word) == 0;
   return rkb_fail(err, RKB_ERR_UNAVAILABLE, "it has another %.*s than this machine",
                   (int)(plugin ? whole - 65 : word), ours + line);
}

static int read_ready(screen_machine_t *machine, record_reader_t *in, rkb_error_t *err) {
   const bool is = record_u32(in) == SCREEN_READY;
   char *version = is ? record_text(in, 64) : NULL;
   const bool good = record_u32(in) == 1;
   char *said = record_text(in, SCREEN_MAX_READY);
   int status = RKB_OK;
   if (!is || !version)
      status = rkb_fail(err, RKB_ERR_UNAVAILABLE, "what it starts is no rkb-screen-worker");
   else if (strcmp(version, RKB_VERSION) != 0)
      status = rkb_fail(err, RKB_ERR_UNAVAILABLE, "it is rkb %s, and this is %s", version, RKB_VERSION);
   else if (!said || !good)
      status = rkb_fail(err, RKB_ERR_UNAVAILABLE, "%.300s", said ? said : "it does not say what it has");
   else if (strcmp(said, rkb_text_get(&machine->workers->identity)) != 0)
      status = tell_difference(rkb_text_get(&machine->workers->identity), said, err);
   free(version);
   free(said);
   return status == RKB_OK ? RKB_OK : refuse(machine, err);
}

/* Compiles a fixed source.  Toolkits with the same version number may still differ, so equal PTX and cubin for the same source
 * are required everywhere. */
static int compile_probe(rkb_compilers_t *compilers, const rkb_device_t *device, patience_t *patience,
                         compile_output_t *output, rkb_error_t *err) {
   char architecture[64];
   static const char source[] = "extern \"C\" __global__ void probe(float *x, int n) {\n"
                                "   int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                "   if (i < n) x[i] = x[i] / (1.0f + __expf(-x[i]));\n}\n";
   const char *number = strchr(device->architecture, '_');
   snprintf(architecture, sizeof architecture, "--gpu-architecture=sm%s", number ? number : "_90");
   const char *options[] = {architecture};
   const compile_input_t input = {.name = "probe.cu",
                                  .source = source,
                                  .source_bytes = sizeof source - 1,
                                  .options = options,
                                  .option_count = 1,
                                  .want_cubin = true};
   rkb_finding_t finding = {0};
   int status = compilers_compile(compilers, &input, is_over, patience, output, &finding, err);
   if (status == RKB_OK && finding.reason[0])
      status = rkb_fail(err, RKB_ERR_UNAVAILABLE, "its compiler gives: %.200s", finding.message);
   return status;
}

/* Compiles the probe on this machine, once. */
static int know_probe(rkb_screen_workers_t *workers, patience_t *patience, rkb_error_t *err) {
   pthread_mutex_lock(&workers->probing);
   int status = workers->probed ? RKB_OK
                                : compile_probe(workers->options.compilers, workers->options.pipeline->device, patience,
                                                &workers->probe, err);
   workers->probed = status == RKB_OK;
   pthread_mutex_unlock(&workers->probing);
   return status;
}

static int compare_compilers(rkb_screen_slot_t *slot, patience_t *patience, rkb_error_t *err) {
   rkb_screen_workers_t *workers = slot->machine->workers;
   compile_output_t theirs = {.answer = NULL};
   if (!slot->compilers || !workers->options.pipeline->device)
      return RKB_OK;
   int status = know_probe(workers, patience, err);
   if (status == RKB_OK)
      status = compile_probe(slot->compilers, workers->options.pipeline->device, patience, &theirs, err);
   if (status == RKB_OK && (theirs.ptx_bytes != workers->probe.ptx_bytes || theirs.cubin_bytes != workers->probe.cubin_bytes ||
                            memcmp(theirs.ptx, workers->probe.ptx, theirs.ptx_bytes) != 0 ||
                            memcmp(theirs.cubin, workers->probe.cubin, theirs.cubin_bytes) != 0)) {
      rkb_fail(err, RKB_ERR_UNAVAILABLE, "its CUDA compiler gives other code than this machine's for the same text");
      status = refuse(slot->machine, err);
   }
   compile_output_free(&theirs);
   return status;
}

static int greet(rkb_screen_slot_t *slot, rkb_error_t *err) {
   rkb_screen_workers_t *workers = slot->machine->workers;
   patience_t patience = {workers, rkb_now_ns() + START_NS};
   char *payload = NULL;
   record_reader_t in;
   int status;
   /* A program that is no screening worker may end without reading the setup and still write an answer, so a failure to send is
    * ignored. */
   confined_send(&slot->peer, workers->setup.data, workers->setup.length, is_over, &patience);
   if (!confined_receive(&slot->peer, SCREEN_MAX_READY, &payload, &in, is_over, &patience))
      status = rkb_fail(err, RKB_ERR_UNAVAILABLE, "%s", is_over(&patience) ? "nothing answered within a minute"
                                                        : "it ended, or answered something else, when it was started; by hand it may say more");
   else
      status = read_ready(slot->machine, &in, err);
   free(payload);
   return status == RKB_OK ? compare_compilers(slot, &patience, err) : status;
}

static void settle(rkb_screen_slot_t *slot, int status, const rkb_error_t *err) {
   screen_machine_t *machine = slot->machine;
   rkb_screen_workers_t *workers = machine->workers;
   if (status != RKB_OK) {
      rkb_pipe_process_kill(&slot->peer, NULL);
      if (!closing(workers))
         screen_note(machine, RKB_LOG_WARN, "it is left out%s: %s", machine->refused ? "" : " for 30 s", err->message);
   } else {
      screen_note(machine, RKB_LOG_INFO, "it screens");
   }
   pthread_mutex_lock(&workers->mutex);
   slot->lost = false;
   slot->state = status == RKB_OK ? SCREEN_FREE : SCREEN_DOWN;
   for (uint32_t i = 0; status != RKB_OK && i < machine->slot_count; i++) /* a failure to start one slot delays all slots of the machine */
      machine->slots[i].again_ns = rkb_now_ns() + SCREEN_LOST_NS;
   pthread_cond_broadcast(&workers->changed);
   pthread_mutex_unlock(&workers->mutex);
}

/* Lists up to `most` slots that are down and may be started now. */
static uint32_t find_due(screen_machine_t *machine, rkb_screen_slot_t **due, uint32_t most) {
   rkb_screen_workers_t *workers = machine->workers;
   const uint64_t now = rkb_now_ns();
   uint32_t count = 0;
   pthread_mutex_lock(&workers->mutex);
   for (uint32_t i = 0; i < machine->slot_count && count < most; i++)
      if (machine->slots[i].state == SCREEN_DOWN && machine->slots[i].again_ns <= now)
         due[count++] = &machine->slots[i];
   pthread_mutex_unlock(&workers->mutex);
   return count;
}

/* Starts due slots.  The caller asks for one slot until a first worker has started, because that one shows whether the machine is
 * usable; later several start at a time. */
static void start_due(screen_machine_t *machine, uint32_t most, bool *any) {
   rkb_screen_slot_t *due[AT_ONCE];
   rkb_error_t errors[AT_ONCE] = {{0}};
   int status[AT_ONCE];
   const uint32_t count = find_due(machine, due, most);
   for (uint32_t i = 0; i < count; i++) {
      due[i]->number = 0;
      due[i]->lost = false;
      status[i] = rkb_worker_command_start(&machine->command, NULL, &due[i]->peer, &errors[i]);
   }
   for (uint32_t i = 0; i < count; i++) {
      if (status[i] == RKB_OK)
         status[i] = machine->refused ? RKB_ERR_UNAVAILABLE : greet(due[i], &errors[i]);
      settle(due[i], status[i], &errors[i]);
      *any = *any || status[i] == RKB_OK;
   }
}

/* A machine's thread: starts its slots until the workers close or the machine is refused. */
void *screen_machine_tend(void *argument) {
   screen_machine_t *machine = argument;
   rkb_screen_workers_t *workers = machine->workers;
   bool any = false;
   while (!closing(workers) && !machine->refused) {
      start_due(machine, any ? AT_ONCE : 1, &any);
      rkb_screen_slot_t *due;
      if (find_due(machine, &due, 1))
         continue;
      pthread_mutex_lock(&workers->mutex);
      if (!workers->closing)
         rkb_timed_wait(&workers->down, &workers->mutex, LOOK_MS);
      pthread_mutex_unlock(&workers->mutex);
   }
   return NULL;
}
