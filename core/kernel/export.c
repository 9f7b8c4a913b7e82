/* Exports a candidate: makes the checks and writes the requested form.  Owns nothing; any thread. */
#include "kernel/export_parts.h"
#include "kernel/candidate_finding.h"

#include <string.h>

int rkb_export(enum rkb_export_form form, const rkb_export_subject_t *subject, const char *source,
               const char *tune_json, const rkb_device_t *device, rkb_text_t *out, rkb_text_t *header,
               rkb_finding_t *finding, rkb_error_t *err) {
   int64_t tune[RKB_MANIFEST_MAX_ENTRIES];
   rkb_problems_t problems;
   rkb_manifest_t *manifest;
   int status = RKB_OK;
   rkb_finding_clear(finding);
   rkb_problems_init(&problems);
   manifest = rkb_manifest_parse(subject->file, source, strlen(source), &problems);
   if (!manifest)
      rkb_finding_from_problems(finding, &problems);
   else
      status = rkb_tune_resolve(manifest, tune_json, tune, finding, err);
   if (manifest && status == RKB_OK && !finding->reason[0]) {
      exporter_t exporter = {.subject = subject,
                             .manifest = (const manifest_t *)manifest,
                             .tune = tune,
                             .device = device,
                             .source = source,
                             .arena = ((const manifest_t *)manifest)->arena,
                             .problems = &problems,
                             .out = out,
                             .finding = finding};
      if (form == RKB_EXPORT_C)
         export_c(&exporter, header);
      else if (form == RKB_EXPORT_TORCH)
         export_torch(&exporter);
      else
         export_operator(&exporter);
      if (out->cut) {
         *err = (rkb_error_t){.status = RKB_ERR_LIMIT, .message = "the exported text is too large"};
         status = err->status;
      }
   }
   rkb_manifest_free(manifest);
   rkb_problems_free(&problems);
   return status;
}
