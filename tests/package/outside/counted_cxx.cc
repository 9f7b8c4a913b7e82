// The same profiler in C++11, whose initialisers go by position: RKB_OPTIONS_INIT.
#include <rkb/items.h>
#include <cstring>
#include <new>

namespace {

struct Config {
   const char *byte;
   double scale;
};

struct Counted {
   const rkb_host_t *host;
   const Config *config;
};

const rkb_option_t options[] = {
   {"byte", RKB_OPT_STRING, 0, offsetof(Config, byte), ";", "The byte to count.", 0, 0, nullptr, nullptr, 0, 0},
   {"scale", RKB_OPT_REAL, 0, offsetof(Config, scale), "1", "What a byte counts for.", 0, 100, nullptr, nullptr, 0, 0},
};

int create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   const Config *given = static_cast<const Config *>(config);
   if (std::strlen(given->byte) != 1)
      return rkb_fail_option(err, "byte", "one byte is wanted, not '%s'", given->byte);
   Counted *counted = new (std::nothrow) Counted{host, given};
   if (!counted)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   *self = counted;
   return RKB_OK;
}

int run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const Counted *counted = static_cast<const Counted *>(self);
   const char *source = counted->host->item_text(counted->host, in, "source");
   double count = 0;
   if (!source)
      return rkb_fail(err, RKB_ERR_CONTRACT, "the candidate has no source");
   for (; *source; source++)
      count += *source == counted->config->byte[0];
   const rkb_measurement_t measurement = {"count", "1", "lower", "counted", count * counted->config->scale, -1, nullptr, nullptr};
   return rkb_emit_measurement(counted->host, job, &measurement);
}

void destroy(void *self) {
   delete static_cast<Counted *>(self);
}

const char *const accepts[] = {RKB_ITEM_CANDIDATE, nullptr};
const char *const emits[] = {RKB_ITEM_MEASUREMENT, nullptr};
const char *const measures[] = {"count", nullptr};

const rkb_stage_t counted = {
   sizeof(rkb_stage_t), RKB_PROFILER, RKB_STAGE_DETERMINISTIC, 0, "outside.profiler.counted_cxx",
   "Counts a byte in a candidate's source.", accepts, emits, measures, RKB_OPTIONS_INIT(options), sizeof(Config),
   create, run, destroy, nullptr,
};

const rkb_stage_t *const stages[] = {&counted, nullptr};

} // namespace

// Exported by its declaration in rkb/plugin.h; g++ ignores the attribute on a const that is not extern yet, and warns.
const rkb_plugin_t rkb_plugin_entry = {RKB_PLUGIN_HEAD, "counted_cxx", "1.2", stages, nullptr};
