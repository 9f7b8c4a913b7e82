/* Shares GPUs between jobs and between programs, and starts, replaces and stops the workers.  Owns the workers and the lock files.
 * Any thread; decisions about a device that no session holds are made under the mutex. */
#include "gpu/device_pool.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/memory.h"
#include "gpu/device_lock.h"
#include "gpu/worker_route.h"
#include "system/loop.h"
#include "system/timed_wait.h"

enum { WAIT_MS = 20, MAX_CLASS = 128 };

/* A driver starts in 0.2 s on an idle machine.  A loaded machine gets a minute. */
#define START_NS (60ull * 1000000000ull)
/* How long a worker that could not be started is left out.  After that it is tried again, because machines
 * come and go. */
#define LOST_NS (30ull * 1000000000ull)

struct rkb_devices {
   pthread_mutex_t mutex;
   pthread_cond_t freed;
   rkb_worker_route_t routes[RKB_MAX_WORKER_ADDRESSES];
   uint32_t route_count;
   rkb_pooled_device_t list[RKB_MAX_DEVICES];
   uint32_t count;
   char greeting[1024];   /* greeting of the first device that answered */
   char class[MAX_CLASS]; /* its name: "NVIDIA H200" */
   void (*note)(void *argument, const char *text);
   void *argument;
};

static void note(rkb_devices_t *devices, const char *fmt, ...) RKB_PRINTF(2, 3);
static void note(rkb_devices_t *devices, const char *fmt, ...) {
   va_list ap;
   char text[1024];
   if (!devices->note)
      return;
   va_start(ap, fmt);
   vsnprintf(text, sizeof text, fmt, ap);
   va_end(ap);
   devices->note(devices->argument, text);
}

/* --- workers ----------------------------------------------------------------------------------------------------------- */

static int launch_worker(const rkb_pooled_device_t *device, rkb_device_worker_t *worker, rkb_error_t *err) {
   return rkb_worker_route_launch(device->route, device->number, NULL, -1, worker, err);
}

int rkb_device_launch_under(const rkb_pooled_device_t *device, const char *const *words, int errors,
                            rkb_device_worker_t *worker, rkb_error_t *err) {
   return rkb_worker_route_launch(device->route, device->number, words, errors, worker, err);
}

/* Waits until a launched worker has its driver and its context. */
static int greet_worker(rkb_device_worker_t *worker, rkb_error_t *err) {
   rkb_patience_t patience = {.deadline_ns = rkb_now_ns() + START_NS};
   return worker->greeting[0] ? RKB_OK : rkb_device_worker_greet(worker, &patience, err);
}

/* Copies the value of a line of a greeting; "" when the greeting has no such line. */
static void greeting_value(const char *greeting, const char *name, char *out, size_t size) {
   const size_t length = strlen(name);
   out[0] = '\0';
   for (const char *line = greeting; line && *line; line = strchr(line, '\n'), line += line != NULL)
      if (strncmp(line, name, length) == 0 && line[length] == '=') {
         const size_t value = strcspn(line + length + 1, "\n");
         snprintf(out, size, "%.*s", (int)(value < size ? value : size - 1), line + length + 1);
         return;
      }
}

static int refuse_class(rkb_pooled_device_t *device, const char *class, const char *wanted, const char *by, rkb_error_t *err) {
   device->refused = true;
   rkb_device_worker_stop(&device->worker);
   rkb_device_worker_stop(&device->spare);
   return rkb_fail(err, RKB_ERR_UNAVAILABLE, "it is of class %.100s, and %s %.100s", class, by, wanted);
}

/* Checks that a device is of the wanted class.  The first device that answers sets the class for all, because
 * times of different devices cannot be compared. */
static int check_class(rkb_devices_t *devices, rkb_pooled_device_t *device, rkb_error_t *err) {
   char class[MAX_CLASS];
   const char *wanted = device->route->device;
   greeting_value(device->worker.greeting, "device", class, sizeof class);
   if (wanted && strcmp(wanted, class) != 0)
      return refuse_class(device, class, wanted, "workers: says", err);
   if (!devices->class[0]) {
      snprintf(devices->class, sizeof devices->class, "%s", class);
      snprintf(devices->greeting, sizeof devices->greeting, "%s", device->worker.greeting);
   }
   if (strcmp(devices->class, class) == 0)
      return RKB_OK;
   return refuse_class(device, class, devices->class, "this run measures on", err);
}

int rkb_device_ready(rkb_devices_t *devices, rkb_pooled_device_t *device, rkb_error_t *err) {
   rkb_error_t ignored;
   int status = RKB_OK;
   if (!rkb_device_worker_alive(&device->worker)) {
      device->worker = device->spare;
      device->spare = (rkb_device_worker_t){.child = {.in = -1, .out = -1}};
      if (rkb_device_worker_alive(&device->worker))
         greet_worker(&device->worker, &ignored); /* stops the worker when it does not answer */
   }
   if (!rkb_device_worker_alive(&device->worker))
      status = launch_worker(device, &device->worker, err);
   if (status == RKB_OK)
      status = greet_worker(&device->worker, err);
   if (status == RKB_OK) {
      pthread_mutex_lock(&devices->mutex);
      status = check_class(devices, device, err);
      pthread_mutex_unlock(&devices->mutex);
   }
   if (status == RKB_OK && !rkb_device_worker_alive(&device->spare))
      launch_worker(device, &device->spare, &ignored);
   return status;
}

void rkb_device_settle(rkb_pooled_device_t *device) {
   rkb_error_t ignored;
   if (rkb_device_worker_alive(&device->spare))
      greet_worker(&device->spare, &ignored);
}

/* --- taking and giving ------------------------------------------------------------------------------------------------- */

/* Chooses a free device.  A device whose worker is lost is chosen only when there is no other, busy ones
 * included. */
static rkb_pooled_device_t *free_device(rkb_devices_t *devices, uint64_t now) {
   rkb_pooled_device_t *lost = NULL;
   bool hope = false;
   for (uint32_t i = 0; i < devices->count; i++) {
      rkb_pooled_device_t *device = &devices->list[i];
      if (device->refused)
         continue;
      const bool usable = device->lost_until_ns <= now;
      if (usable && !device->busy)
         return device;
      hope = hope || usable;
      if (!usable && !device->busy && !lost)
         lost = device;
   }
   return hope ? NULL : lost;
}

static rkb_pooled_device_t *wait_for_device(rkb_devices_t *devices, const rkb_patience_t *patience) {
   rkb_pooled_device_t *taken;
   pthread_mutex_lock(&devices->mutex);
   for (;;) {
      const uint64_t now = rkb_now_ns();
      taken = free_device(devices, now);
      if (taken || (patience->cancelled && patience->cancelled(patience->argument)) ||
          (patience->deadline_ns && now > patience->deadline_ns))
         break;
      rkb_timed_wait(&devices->freed, &devices->mutex, WAIT_MS);
   }
   if (taken)
      taken->busy = true;
   pthread_mutex_unlock(&devices->mutex);
   return taken;
}

void rkb_device_give(rkb_devices_t *devices, rkb_pooled_device_t *device) {
   if (device->lock >= 0)
      close(device->lock); /* also releases the lock */
   device->lock = -1;
   pthread_mutex_lock(&devices->mutex);
   device->busy = false;
   pthread_cond_signal(&devices->freed);
   pthread_mutex_unlock(&devices->mutex);
}

/* Leaves the device out for a while.  Returns true when another device can be tried now. */
static bool lose_device(rkb_devices_t *devices, rkb_pooled_device_t *device, const rkb_error_t *why) {
   const uint64_t now = rkb_now_ns();
   bool others = false;
   pthread_mutex_lock(&devices->mutex);
   device->lost_until_ns = now + LOST_NS;
   for (uint32_t i = 0; i < devices->count; i++)
      others = others || (!devices->list[i].refused && devices->list[i].lost_until_ns <= now);
   pthread_mutex_unlock(&devices->mutex);
   note(devices, "device %s of '%s' is left out%s: %s", device->number, device->route->command.words[0],
        device->refused ? "" : " for 30 s", why->message);
   rkb_device_give(devices, device);
   return others;
}

int rkb_device_take(rkb_devices_t *devices, const rkb_patience_t *patience, rkb_pooled_device_t **out,
                    rkb_error_t *err) {
   for (;;) {
      rkb_pooled_device_t *device = wait_for_device(devices, patience);
      if (!device)
         return rkb_fail(err, RKB_ERR_TIMEOUT, "no GPU was free until the deadline");
      int status = rkb_device_ready(devices, device, err);
      if (status != RKB_OK) {
         if (lose_device(devices, device, err))
            continue;
         return status;
      }
      device->lost_until_ns = 0;
      status = rkb_device_lock(device->worker.greeting, device->route->place, patience, &device->lock, err);
      if (status != RKB_OK) {
         rkb_device_give(devices, device);
         return status;
      }
      *out = device;
      return RKB_OK;
   }
}

/* --- opening ----------------------------------------------------------------------------------------------------------- */

static rkb_pooled_device_t *add_device(rkb_devices_t *devices, const rkb_worker_route_t *route,
                                       uint32_t number) {
   if (devices->count == RKB_MAX_DEVICES)
      return NULL;
   rkb_pooled_device_t *device = &devices->list[devices->count++];
   *device = (rkb_pooled_device_t){.route = route, .lock = -1};
   device->worker.child = device->spare.child = (rkb_pipe_process_t){.in = -1, .out = -1};
   snprintf(device->number, sizeof device->number, "%u", number);
   return device;
}

/* Adds the other devices of the first device's machine: as many as the address says, or all that the machine has. */
static void add_others(rkb_devices_t *devices, const rkb_pooled_device_t *first, uint32_t wanted) {
   char text[16];
   greeting_value(first->worker.greeting, "devices", text, sizeof text);
   const long there = strtol(text, NULL, 10);
   const uint32_t count = wanted ? wanted : there > 0 && there <= RKB_MAX_DEVICES ? (uint32_t)there : 1;
   for (uint32_t number = 1; number < count; number++)
      if (!add_device(devices, first->route, number))
         break;
}

/* Adds the command to the message, because the standard error of ssh and similar programs is not shown. */
static void tell_command(const rkb_worker_route_t *route, rkb_error_t *err) {
   const rkb_error_t why = *err;
   rkb_fail(err, why.status, "%s; RKB_WORKER starts it with '%s', by hand it may say more", why.message,
            route->command.words[0]);
}

/* Starts the first worker of every address before it waits for any of them, so that the machines start in
 * parallel. */
static int open_addresses(rkb_devices_t *devices, const rkb_worker_address_t *addresses, uint32_t count,
                          rkb_error_t *err) {
   int launched[RKB_MAX_WORKER_ADDRESSES];
   rkb_error_t errors[RKB_MAX_WORKER_ADDRESSES];
   uint32_t open = 0;
   for (uint32_t i = 0; i < count; i++) {
      rkb_pooled_device_t *device = add_device(devices, &devices->routes[i], 0);
      launched[i] = launch_worker(device, &device->worker, &errors[i]);
   }
   for (uint32_t i = 0; i < count; i++) {
      rkb_pooled_device_t *device = &devices->list[i];
      int status = launched[i];
      if (status == RKB_OK)
         status = greet_worker(&device->worker, &errors[i]);
      if (status == RKB_OK)
         status = check_class(devices, device, &errors[i]);
      if (status == RKB_OK) {
         add_others(devices, device, addresses[i].count);
         open++;
         continue;
      }
      device->lost_until_ns = rkb_now_ns() + LOST_NS;
      if (count > 1)
         note(devices, "workers[%u], '%s', is left out: %s", i, devices->routes[i].command.words[0],
              errors[i].message);
   }
   if (open == 0)
      *err = errors[0];
   return open ? RKB_OK : err->status;
}

int rkb_devices_open_all(const rkb_devices_options_t *options, rkb_devices_t **out, rkb_error_t *err) {
   static const char *const usual[] = {"CUDA_VISIBLE_DEVICES", NULL}; /* the user decides which GPU is the first */
   rkb_devices_t *devices = rkb_allocate(1, sizeof *devices);
   int status = RKB_OK;
   pthread_mutex_init(&devices->mutex, NULL);
   pthread_cond_init(&devices->freed, NULL);
   devices->note = options->note;
   devices->argument = options->argument;
   for (uint32_t i = 0; status == RKB_OK && i < options->count; i++) {
      rkb_worker_route_t *route = &devices->routes[devices->route_count++];
      const rkb_worker_address_t *address = &options->addresses[i];
      route->device = address->device;
      if (!rkb_worker_route_set(route, address->command))
         status = rkb_fail(err, RKB_ERR_INVALID, "the command that starts rkb-worker is empty or too long");
      else if (!rkb_worker_command_add_setting(&route->command, "CUDA_MODULE_LOADING=EAGER") ||
               !rkb_worker_command_add_setting(&route->command, "PATH=/usr/local/bin:/usr/bin:/bin") ||
               !rkb_worker_command_pass(&route->command, usual) ||
               !rkb_worker_command_pass(&route->command, address->environment))
         status = rkb_fail(err, RKB_ERR_INVALID, "at most %d variables can be passed to a worker",
                           RKB_PEER_COMMAND_VARIABLES - 3);
   }
   if (status == RKB_OK)
      status = open_addresses(devices, options->addresses, options->count, err);
   if (status != RKB_OK) {
      if (options->count == 1 && !options->addresses[0].command && devices->routes[0].command.word_count > 1)
         tell_command(&devices->routes[0], err);
      rkb_devices_close(devices);
      return status;
   }
   *out = devices;
   return RKB_OK;
}

int rkb_devices_open(const char *const *worker, uint32_t count, rkb_devices_t **devices, rkb_error_t *err) {
   const rkb_worker_address_t address = {.command = worker, .count = count};
   const rkb_devices_options_t options = {.addresses = &address, .count = 1};
   return rkb_devices_open_all(&options, devices, err);
}

void rkb_devices_close(rkb_devices_t *devices) {
   if (!devices)
      return;
   for (uint32_t i = 0; i < devices->count; i++) {
      rkb_device_worker_stop(&devices->list[i].worker);
      rkb_device_worker_stop(&devices->list[i].spare);
      if (devices->list[i].lock >= 0)
         close(devices->list[i].lock);
   }
   for (uint32_t i = 0; i < devices->route_count; i++)
      rkb_worker_command_clear(&devices->routes[i].command);
   pthread_cond_destroy(&devices->freed);
   pthread_mutex_destroy(&devices->mutex);
   free(devices);
}

const char *rkb_devices_describe(const rkb_devices_t *devices) {
   return devices->greeting;
}

const char *rkb_devices_class(const rkb_devices_t *devices) {
   return devices->class;
}

uint32_t rkb_devices_count(const rkb_devices_t *devices) {
   uint32_t count = 0;
   for (uint32_t i = 0; i < devices->count; i++)
      count += !devices->list[i].refused;
   return count;
}
