/* Kernels for tensor cores and asynchronous copies, broken by the fault operators (core/tools/faults): the machine must reject each, for a
 * reason that names the fault, and none of the kernels as they are.  tensor_kernels.txt lists the kernels, equivalent_faults.tsv the sites at
 * which an operator breaks nothing, and why; tensor_labels.tsv the faults that a device showed, none of which may be in that list.  A test judges a sample of the faults; "all" as argument judges every one, and a part of a path
 * those of the kernels that have it, with what was found.  "write FOLDER" writes all texts instead, as KERNEL.cu and KERNEL.OPERATOR.SITE.cu,
 * for tests/gpu/tensor_faults.py, which runs them on a device, and as KERNEL.outputs what the machine computes for each kernel as it is. */
#include "tools/faults/operators/operator.h"
#include "machine_harness.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define FOLDER RKB_SOURCE_DIR "/tests/machine/"
#define SAMPLE 12u    /* of so many faults one is judged */
#define MOST_SITES 4u /* of an operator in a kernel */

typedef struct tally {
   uint32_t kernels, faults, judged, rejected, named, kept, kept_rejected, unbuilt, wrong, shown;
   const char *only;   /* NULL: the sample */
   const char *folder; /* where texts are written; NULL: they are judged */
   char *equivalent, *labels;
} tally_t;

/* The kernel without its broken twin, with the headers of this folder in place: operators see what is executed. */
static void expand(const char *text, FILE *out, char seen[256]) {
   int skips = 0; /* 0: no conditional of the twin; 1: what is kept; 2: what is left out */
   while (*text) {
      const int length = (int)strcspn(text, "\n");
      char name[64];
      if (strncmp(text, "#ifndef BROKEN", 14) == 0 || strncmp(text, "#ifdef BROKEN", 13) == 0)
         skips = text[3] == 'n' ? 1 : 2;
      else if (skips && strncmp(text, "#else", 5) == 0)
         skips = 3 - skips;
      else if (skips && strncmp(text, "#endif", 6) == 0)
         skips = 0;
      else if (skips != 2 && sscanf(text, "#include \"%60[^\"]\"", name) == 1) {
         char path[512];
         if (strstr(seen, name)) { /* once */
            text += length + (text[length] == '\n');
            continue;
         }
         snprintf(seen + strlen(seen), 256 - strlen(seen), " %s", name);
         snprintf(path, sizeof path, FOLDER "idioms/%s", name);
         char *header = harness_read_file(path);
         assert_non_null(header);
         expand(header, out, seen);
         free(header);
      } else if (skips != 2 && strncmp(text, "#pragma once", 12) != 0)
         fprintf(out, "%.*s\n", length, text);
      text += length + (text[length] == '\n');
   }
}

static char *expanded(const char *path) {
   char *source = harness_read_file(path), *text = NULL, seen[256] = "";
   size_t size = 0;
   FILE *out = open_memstream(&text, &size);
   if (source && out)
      expand(source, out, seen);
   if (out)
      fclose(out);
   free(source);
   return text;
}

/* Of all outputs. */
static uint64_t hash_outputs(const harness_t *harness) {
   uint64_t hash = 0xcbf29ce484222325ull;
   for (uint32_t n = 0; n < harness->plan.buffer_count; n++)
      for (uint64_t k = 0; harness->buffers[n].role != RKB_IN && k < harness->buffers[n].bytes; k++)
         hash = (hash ^ ((const uint8_t *)harness->data[n].data)[k]) * 0x100000001b3ull;
   return hash;
}

/* Writes what the kernel leaves in its outputs after the first run, one buffer behind the other. */
static void write_outputs(const char *text, const char *path) {
   char message[4096] = "", verdict[160] = "", *said = NULL,
        *ptx = harness_compile(text, NULL, message, sizeof message);
   const rkb_machine_options_t options = {.thread_instructions = 200000000, .hang_limit = 1000000};
   harness_t harness;
   assert_non_null(ptx);
   assert_true(harness_open(&harness, text, ptx, message, sizeof message));
   harness.runs = 1;
   harness_judge(&harness, &options, verdict, sizeof verdict, &said);
   assert_string_equal(verdict, "pass");
   FILE *out = fopen(path, "wb");
   assert_non_null(out);
   for (uint32_t n = 0; n < harness.plan.buffer_count; n++)
      if (harness.buffers[n].role == RKB_OUT || harness.buffers[n].role == RKB_INOUT)
         assert_int_equal(fwrite(harness.data[n].data, 1, harness.buffers[n].bytes, out),
                          harness.buffers[n].bytes);
   assert_int_equal(fclose(out), 0);
   harness_close(&harness);
   free(said);
   free(ptx);
}

/* The verdict: "reject race.async", "pass"; "" where the text cannot be compiled. *outputs: 0, or a hash of
 * what the correct kernel leaves.  Another result than that is "reject numeric.mismatch", as against a
 * reference.  Afterwards it is this text's. */
static void find(const char *text, uint64_t *outputs, char *verdict, size_t size) {
   char message[4096] = "", *said = NULL, *ptx = harness_compile(text, NULL, message, sizeof message);
   harness_t harness;
   verdict[0] = '\0';
   if (!ptx)
      return;
   if (harness_open(&harness, text, ptx, message, sizeof message)) {
      rkb_machine_options_t options = {.checks = RKB_MACHINE_RACES | RKB_MACHINE_SHADOW | RKB_MACHINE_TAINT,
                                       .thread_instructions = 200000000,
                                       .hang_limit = 1000000};
      harness_judge(&harness, &options, verdict, size, &said);
      free(said);
      if (*outputs && strcmp(verdict, "pass") == 0 && hash_outputs(&harness) != *outputs)
         snprintf(verdict, size, "reject numeric.mismatch");
      *outputs = hash_outputs(&harness);
   }
   harness_close(&harness);
   free(ptx);
}

/* The same in a process of its own: some texts crash the compiler. */
static void find_apart(const char *text, uint64_t outputs, char *verdict, size_t size) {
   int ends[2], status;
   verdict[0] = '\0';
   assert_int_equal(pipe(ends), 0);
   const pid_t child = fork();
   assert_true(child >= 0);
   if (child == 0) {
      signal(SIGSEGV, SIG_DFL); /* cmocka would go on with the test, in the child too */
      signal(SIGABRT, SIG_DFL);
      find(text, &outputs, verdict, size);
      _exit(write(ends[1], verdict, strlen(verdict)) < 0);
   }
   close(ends[1]);
   const ssize_t length = read(ends[0], verdict, size - 1);
   close(ends[0]);
   waitpid(child, &status, 0);
   verdict[length > 0 && !status ? length : 0] = '\0';
}

static uint32_t hash_of(const char *text) {
   uint32_t hash = 2166136261u;
   for (; *text; text++)
      hash = (hash ^ (unsigned char)*text) * 16777619u;
   return hash ^ hash >> 15;
}

static bool is_word_of(const char *word, const char *list) {
   char padded[512], wanted[160];
   snprintf(padded, sizeof padded, " %s ", list);
   snprintf(wanted, sizeof wanted, " %s ", word);
   return strstr(padded, wanted) != NULL;
}

typedef struct subject {
   char path[128];
   bool kept;
   source_t source;
   uint64_t outputs; /* of the kernel as it is; 0: not known yet */
} subject_t;

/* what: ".OPERATOR.SITE.cu", or ".cu" or ".outputs" of the kernel as it is. */
static void place_of(const tally_t *tally, const char *kernel, const char *what, char *path, size_t size) {
   const char *name = strrchr(kernel, '/') ? strrchr(kernel, '/') + 1 : kernel;
   snprintf(path, size, "%s/%.*s%s", tally->folder, (int)strcspn(name, "."), name, what);
}

static void write_text(const tally_t *tally, const char *kernel, const char *what, const char *text) {
   char path[1024];
   place_of(tally, kernel, what, path, sizeof path);
   FILE *out = fopen(path, "w");
   assert_non_null(out);
   assert_true(fputs(text, out) >= 0 && fclose(out) == 0);
}

static void write_site(const tally_t *tally, const subject_t *subject, const char *operator_name,
                       uint32_t number, const char *text) {
   char what[128];
   snprintf(what, sizeof what, ".%s.%u.cu", operator_name, number);
   write_text(tally, subject->path, what, text);
}

static bool chosen(const tally_t *tally, const char *id) {
   return tally->only || hash_of(id) % SAMPLE == 0;
}

/* Whether a device showed the fault, in this text. */
static bool was_shown(const tally_t *tally, const char *id, const char *text) {
   char wanted[360];
   snprintf(wanted, sizeof wanted, "\n%s\t%08x\t", id, hash_of(text));
   return strstr(tally->labels, wanted) != NULL;
}

static void judge_site(subject_t *subject, const operator_t *operator_of, const site_t *site, uint32_t number,
                       tally_t *tally) {
   size_t bytes;
   char id[300], listed[320], verdict[160], *text = site_apply(&subject->source, site, &bytes);
   snprintf(id, sizeof id, "%s\t%s\t%u", subject->path, operator_of->name, number);
   snprintf(listed, sizeof listed, "\n%s\t", id);
   const bool shown = was_shown(tally, id, text), equivalent = strstr(tally->equivalent, listed) != NULL;
   tally->faults++;
   tally->shown += shown;
   if (tally->folder)
      write_site(tally, subject, operator_of->name, number, text);
   if (equivalent && shown) {
      print_message("%s: a device showed that it is a fault\n", id);
      tally->wrong++;
   }
   if (tally->folder || equivalent || !chosen(tally, id)) {
      free(text);
      return;
   }
   if (!subject->outputs) {
      find(subject->source.text, &subject->outputs, verdict, sizeof verdict);
      assert_string_equal(verdict, "pass");
   }
   find_apart(text, subject->outputs, verdict, sizeof verdict);
   free(text);
   const bool rejected = strncmp(verdict, "reject ", 7) == 0,
              named = rejected && is_word_of(verdict + 7, operator_of->reasons);
   tally->unbuilt += !verdict[0]; /* no fault of the machine's */
   if (!verdict[0])
      return;
   tally->judged++;
   tally->rejected += rejected;
   tally->named += named;
   tally->kept += subject->kept;
   tally->kept_rejected += subject->kept && rejected;
   tally->wrong += !named;
   if (!named || tally->only)
      print_message("%s: %s%s\n", id, verdict,
                    named      ? ""
                    : rejected ? " (another reason)"
                               : " (not rejected)");
}

/* "tuned idioms/bulk_ring.cu" */
static void judge_kernel(const char *line, tally_t *tally) {
   char part[16], whole[512];
   subject_t subject = {.outputs = 0};
   if (sscanf(line, "%15s %127s", part, subject.path) != 2 || line[0] == '#' ||
       (tally->only && strcmp(tally->only, "all") != 0 && !strstr(subject.path, tally->only)))
      return;
   subject.kept = strcmp(part, "kept") == 0;
   snprintf(whole, sizeof whole, FOLDER "%s", subject.path);
   char *text = expanded(whole);
   assert_non_null(text);
   source_open(text, strlen(text), &subject.source);
   tally->kernels++;
   if (tally->folder) {
      write_text(tally, subject.path, ".cu", subject.source.text);
      place_of(tally, subject.path, ".outputs", whole, sizeof whole);
      write_outputs(subject.source.text, whole);
   }
   for (uint32_t n = 0; n < asynchrony_operator_count; n++) {
      sites_t sites = {0};
      asynchrony_operators[n].find(&subject.source, &sites);
      for (uint32_t k = 0; k < sites.count && k < MOST_SITES; k++)
         judge_site(&subject, &asynchrony_operators[n], &sites.list[k], k, tally);
      sites_free(&sites);
   }
   source_close(&subject.source);
}

static void judge_all(tally_t *tally) {
   FILE *in = fopen(FOLDER "tensor_kernels.txt", "r");
   char line[256];
   tally->equivalent = harness_read_file(FOLDER "equivalent_faults.tsv");
   tally->labels = harness_read_file(FOLDER "tensor_labels.tsv");
   assert_true(in && tally->equivalent && tally->labels);
   while (fgets(line, sizeof line, in))
      judge_kernel(line, tally);
   fclose(in);
   free(tally->equivalent);
   free(tally->labels);
   print_message(
      "%u kernels, %u faults, %u judged: %u rejected, %u for a reason that names the fault; of %u kept out %u rejected; %u "
      "cannot be compiled; a device showed %u\n",
      tally->kernels, tally->faults, tally->judged, tally->rejected, tally->named, tally->kept,
      tally->kept_rejected, tally->unbuilt, tally->shown);
}

static void sampled_faults(void **state) {
   (void)state;
   tally_t tally = {0};
   judge_all(&tally);
   assert_true(tally.kernels >= 12 && tally.judged > 0 && tally.shown > 0);
   assert_int_equal(tally.wrong, 0);
}

int main(int count, char **arguments) {
   if (count > 1) {
      const bool writes = count > 2 && strcmp(arguments[1], "write") == 0;
      tally_t tally = {.only = writes ? NULL : arguments[1], .folder = writes ? arguments[2] : NULL};
      judge_all(&tally);
      return tally.wrong != 0;
   }
   const struct CMUnitTest tests[] = {cmocka_unit_test(sampled_faults)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
