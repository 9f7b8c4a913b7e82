/* Prompts of a judge and their figures (prompt_variant.h). */
#include "cli/judge/prompt_variant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "cli/judge/judge_text.h"
#include "statistics/paired_test.h"

int rkb_prompt_variant_make(const char *folder, const char *origin, char *text, rkb_prompt_variant_t *variant,
                            rkb_error_t *err) {
   char hash[RKB_HASH_TEXT], name[RKB_VARIANT_HASH + 4];
   rkb_hash_text(text, strlen(text), hash);
   *variant = (rkb_prompt_variant_t){.origin = rkb_duplicate(origin), .text = text};
   memcpy(variant->hash, hash, RKB_VARIANT_HASH);
   snprintf(name, sizeof name, "%s.md", variant->hash);
   variant->path = rkb_path_join(folder, name);
   int status = rkb_make_directories(folder, err);
   if (status == RKB_OK)
      status = rkb_file_write(variant->path, text, strlen(text), err);
   char *absolute = status == RKB_OK ? realpath(variant->path, NULL) : NULL;
   if (absolute) {
      free(variant->path);
      variant->path = absolute;
   }
   return status;
}

void rkb_prompt_variant_free(rkb_prompt_variant_t *variant) {
   free(variant->origin);
   free(variant->text);
   free(variant->path);
   json_decref(variant->tuned);
   json_decref(variant->kept);
   free(variant->kept_asked);
   free(variant->kept_good);
   *variant = (rkb_prompt_variant_t){.f1 = 0};
}

typedef struct paired {
   uint32_t both, better,
      /* Kernels that both were asked about: those that only the best prompt judged rightly, and those that
       * only the first did. */
      worse;
} paired_t;

static paired_t compare(const rkb_prompt_variants_t *variants) {
   const rkb_prompt_variant_t *first = &variants->list[0], *best = &variants->list[variants->best];
   paired_t paired = {0};
   for (uint32_t i = 0; i < variants->kept_count; i++) {
      const bool both = first->kept_asked[i] && best->kept_asked[i];
      paired.both += both;
      paired.better += both && best->kept_good[i] && !first->kept_good[i];
      paired.worse += both && first->kept_good[i] && !best->kept_good[i];
   }
   return paired;
}

json_t *rkb_prompt_variants_json(const rkb_prompt_variants_t *variants) {
   const paired_t paired = compare(variants);
   json_t *prompts = json_array();
   for (uint32_t i = 0; i < variants->count; i++) {
      const rkb_prompt_variant_t *one = &variants->list[i];
      json_array_append_new(prompts, json_pack("{s:s, s:s, s:O, s:o}", "origin", one->origin, "file",
                                               one->path, "tuned", one->tuned, "kept",
                                               one->kept ? json_incref(one->kept) : json_null()));
   }
   return json_pack("{s:s, s:o, s:i, s:s, s:i, s:i, s:i, s:f}", "judge", variants->judge, "prompts", prompts,
                    "chosen", (int)variants->best + 1, "file", variants->list[variants->best].path, "both",
                    (int)paired.both, "better", (int)paired.better, "worse", (int)paired.worse, "p",
                    rkb_sign_test(paired.better, paired.worse));
}

void rkb_prompt_variants_print(const rkb_prompt_variants_t *variants) {
   const paired_t paired = compare(variants);
   char name[17];
   printf("prompts of %s, tuned on %u kernels and reported on %u others; shares with 95 %% intervals\n",
          variants->judge, variants->tuned_count, variants->kept_count);
   rkb_judge_text_heading("prompt");
   for (uint32_t i = 0; i < variants->count; i++) {
      snprintf(name, sizeof name, "%u%s", i + 1, i == variants->best ? ", chosen" : "");
      rkb_judge_text_counts(name, "tuned", variants->list[i].tuned);
      if (variants->list[i].kept)
         rkb_judge_text_counts("", "kept", variants->list[i].kept);
   }
   printf("\n");
   for (uint32_t i = 0; i < variants->count; i++)
      printf("  %u  %s: %s\n", i + 1, variants->list[i].origin, variants->list[i].path);
   if (variants->best == 0)
      printf("\nno prompt is better than the first one on the part that tunes\n");
   else
      printf(
         "\non the part that was kept out the chosen prompt is right about %u kernels that the first one is wrong about, and wrong about %u "
         "that the first one is right about, of %u: p = %.3g (McNemar's exact test)\n",
         paired.better, paired.worse, paired.both, rkb_sign_test(paired.better, paired.worse));
   printf("use it: %s=%s\n", variants->option, variants->list[variants->best].path);
}
