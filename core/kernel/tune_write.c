/* Writes a tune assignment into a candidate's text as the manifest's defaults, so that the file alone holds
 * the whole candidate.  Only the numbers of the defaults change.  Owns nothing; any thread. */
#include "base/text.h"
#include "base/memory.h"
#include "kernel/manifest.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_WRITTEN = 17 << 20 };

static int say_problem(rkb_problems_t *problems, rkb_error_t *err) {
   int status = rkb_problems_error(problems, err);
   return status != RKB_OK
             ? status
             : rkb_fail(err, RKB_ERR_INTERNAL, "the manifest cannot be read, for no reason given");
}

/* Byte offset of a place in the text; its length when the place is past the end. */
static size_t offset_of(const char *source, rkb_place_t place) {
   const char *at = source;
   for (uint32_t line = 1; line < place.line && at; line++) {
      at = strchr(at, '\n');
      at = at ? at + 1 : NULL;
   }
   size_t rest = at ? strlen(at) : 0;
   return at && place.column - 1 < rest ? (size_t)(at - source) + place.column - 1 : strlen(source);
}

/* Writes the defaults in the order of the text, which is the order in which a manifest lists its parameters. */
static void write_defaults(const manifest_t *manifest, const char *source, const int64_t *values,
                           rkb_text_t *out) {
   size_t done = 0;
   for (uint32_t i = 0; i < manifest->public.tune_count; i++) {
      size_t at = offset_of(source, manifest->fallback_places[i]);
      rkb_text_append(out, source + done, at - done);
      rkb_text_format(out, "%lld", (long long)values[i]);
      done = at + strspn(source + at, "+-0123456789abcdefABCDEFxX");
   }
   rkb_text_add(out, source + done);
}

/* Checks that the written text gives exactly the assignment.  Places come from a YAML reader, and a wrong
 * place would otherwise go unnoticed. */
static int compare(const rkb_manifest_t *wanted, const int64_t *values, const char *written,
                   rkb_error_t *err) {
   rkb_problems_t problems;
   int status = RKB_OK;
   rkb_problems_init(&problems);
   rkb_manifest_t *manifest = rkb_manifest_parse("the written text", written, strlen(written), &problems);
   if (!manifest)
      status = say_problem(&problems, err);
   else if (manifest->tune_count != wanted->tune_count)
      status = rkb_fail(err, RKB_ERR_INTERNAL, "writing the defaults changed the number of tune parameters");
   for (uint32_t i = 0; status == RKB_OK && i < wanted->tune_count; i++)
      if (manifest->tune[i].fallback != values[i])
         status = rkb_fail(err, RKB_ERR_INTERNAL, "writing the default of '%s' failed", wanted->tune[i].name);
   rkb_manifest_free(manifest);
   rkb_problems_free(&problems);
   return status;
}

static int write_manifest(const rkb_manifest_t *manifest, const char *source, const char *tune_json,
                          char **text, rkb_error_t *err) {
   rkb_finding_t finding = {0};
   rkb_text_t out;
   int64_t *values = rkb_allocate(manifest->tune_count + 1, sizeof *values);
   int status = rkb_tune_resolve(manifest, tune_json, values, &finding, err);
   rkb_text_init(&out, MAX_WRITTEN);
   if (status == RKB_OK && finding.reason[0])
      status = rkb_fail(err, RKB_ERR_INVALID, "%s", finding.message);
   if (status == RKB_OK) {
      write_defaults((const manifest_t *)manifest, source, values, &out);
      status = out.cut ? rkb_fail(err, RKB_ERR_LIMIT, "the text is too long")
                       : compare(manifest, values, rkb_text_get(&out), err);
   }
   if (status == RKB_OK)
      *text = rkb_text_take(&out);
   rkb_text_free(&out);
   free(values);
   return status;
}

int rkb_tune_write(const char *source, const char *tune_json, char **text, rkb_error_t *err) {
   rkb_problems_t problems;
   *text = NULL;
   rkb_problems_init(&problems);
   rkb_manifest_t *manifest = rkb_manifest_parse("the candidate", source, strlen(source), &problems);
   int status =
      manifest ? write_manifest(manifest, source, tune_json, text, err) : say_problem(&problems, err);
   rkb_manifest_free(manifest);
   rkb_problems_free(&problems);
   return status;
}
