/* A verifier whose jobs run in processes of their own, and which does there what its config says to one candidate. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <rkb/ext/confined.h>
#include <rkb/ext/workers.h>
#include <rkb/items.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct config {
   const char *on, *act;
} config_t;

typedef struct stage {
   const rkb_host_t *host;
   const config_t *config;
   int jobs; /* run so far, in this process */
} stage_t;

static int create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   stage_t *stage = calloc(1, sizeof *stage);
   if (!stage)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   stage->host = host;
   stage->config = config;
   *self = stage;
   return RKB_OK;
}

static void destroy(void *self) {
   free(self);
}

static void work_for_ever(void) {
   for (volatile unsigned n = 0;; n++)
      continue;
}

static void fill_memory(void) {
   for (size_t n = 0; n < 64; n++) {
      char *piece = malloc(16u << 20);
      memset(piece, (int)n + 1, 16u << 20);
      usleep(20000);
   }
   for (;;)
      usleep(20000);
}

/* A frame of kernel/byte_record.h with so many bytes announced. */
static void send_frame(uint64_t announced, const void *payload, size_t bytes) {
   unsigned char header[16] = {'r', 'k', 'r', 'k', 1};
   memcpy(header + 8, &announced, sizeof announced); /* little-endian, as the machine */
   if (write(3, header, sizeof header) < 0 || write(3, payload, bytes) < 0)
      _exit(9);
}

/* Says that it is done with more items than it sends. */
static void lie(void) {
   static const uint32_t words[] = {4, 0, 0, 0, 0, 0, 4000};
   send_frame(sizeof words, words, sizeof words);
   _exit(0);
}

static void end_badly(const char *act) {
   if (strcmp(act, "crash") == 0)
      raise(SIGSEGV);
   else if (strcmp(act, "kill") == 0)
      raise(SIGKILL);
   else if (strcmp(act, "exit") == 0)
      _exit(0);
   else if (strcmp(act, "lie") == 0)
      lie();
   else if (strcmp(act, "flood") == 0)
      send_frame(UINT64_C(1) << 40, "", 0);
   else if (strcmp(act, "work") == 0)
      work_for_ever();
   else if (strcmp(act, "memory") == 0)
      fill_memory();
}

/* What it could do that computing does not need; "" when nothing. */
static const char *reach_out(void) {
   if (open("/etc/passwd", O_RDONLY) >= 0)
      return "open";
   if (socket(AF_INET, SOCK_STREAM, 0) >= 0)
      return "socket";
   if (kill(getppid(), 0) == 0)
      return "kill";
   if (mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
      return "mmap";
   const pid_t child = fork();
   if (child == 0)
      _exit(0);
   if (child > 0)
      return "fork";
   execl("/bin/true", "true", (char *)NULL);
   for (int descriptor = 0; descriptor < 256; descriptor++) {
      char byte;
      if (descriptor != 3 && descriptor > 2 && (read(descriptor, &byte, 0) == 0 || errno != EBADF))
         return "descriptor";
   }
   return "";
}

typedef struct sum {
   atomic_uint total;
} sum_t;

static void add(void *argument, uint32_t n) {
   atomic_fetch_add(&((sum_t *)argument)->total, n);
}

static bool shares(const stage_t *stage) {
   const rkb_workers_api_t *workers = stage->host->get_extension(stage->host, RKB_EXT_WORKERS);
   sum_t sum = {0};
   workers->share(stage->host, 1000, add, &sum);
   return atomic_load(&sum.total) == 499500;
}

static int run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   stage_t *stage = self;
   const rkb_host_t *host = stage->host;
   const rkb_confined_api_t *confined = host->get_extension(host, RKB_EXT_CONFINED);
   const char *source = host->item_text(host, in, "source");
   const bool mine = strcmp(source, stage->config->on) == 0;
   char message[64];
   if (mine)
      end_badly(stage->config->act);
   if (mine && strcmp(stage->config->act, "refuse") == 0)
      return rkb_fail(err, RKB_ERR_INVALID, "it was told to");
   if (mine && strcmp(stage->config->act, "words") == 0)
      return rkb_emit_verdict(host, job, RKB_ACCEPT, "", "not UTF-8: \xff");
   if (mine && strcmp(stage->config->act, "standing") == 0)
      return rkb_emit_verdict(host, job, "splendid", "", "no such standing");
   if (mine && strcmp(stage->config->act, "reach") == 0 && *reach_out())
      return rkb_emit_verdict(host, job, RKB_REJECT, "test.reached", reach_out());
   snprintf(message, sizeof message, "%d jobs, %llu ms, %s", ++stage->jobs,
            (unsigned long long)(confined->processor_ns(host) / 1000000), shares(stage) ? "shared" : "not shared");
   return rkb_emit_verdict(host, job, RKB_ACCEPT, "", message);
}

#define AT(member) offsetof(config_t, member)
static const rkb_option_t options[] = {
   {.name = "on", .type = RKB_OPT_STRING, .offset = AT(on), .fallback = "10", .help = "Which candidate."},
   {.name = "act", .type = RKB_OPT_STRING, .offset = AT(act), .fallback = "nothing", .help = "What to do then."},
};

static const rkb_stage_t stage = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_VERIFIER,
   .flags = RKB_STAGE_DETERMINISTIC,
   .id = "test.verifier.confined",
   .summary = "Does in a process of its own what it is told.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_VERDICT, NULL},
   RKB_OPTIONS(options),
   .config_size = sizeof(config_t),
   .create = create,
   .run = run,
   .destroy = destroy,
   .needs = (const char *const[]){RKB_EXT_CONFINED, RKB_EXT_WORKERS, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "test_confined",
   .version = "1.0",
   .stages = (const rkb_stage_t *const[]){&stage, NULL},
};
