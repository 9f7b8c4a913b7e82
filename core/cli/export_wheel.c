/* rkb export --wheel (export_wheel.h): loads the files, checks that they belong to one task, and writes the
 * package's files. */
#include "cli/export_wheel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/file.h"
#include "base/memory.h"
#include "cli/export_subject.h"
#include "cli/shared/run_archive.h"
#include "kernel/build_report.h"
#include "kernel/export_package.h"

#define MOST_TEXT (16u << 20)

typedef struct wheel {
   const char *folder;
   char *name;
   rkb_candidate_file_t files[EXPORT_MOST_KERNELS];
   export_subject_t *subjects[EXPORT_MOST_KERNELS];
   char *operators[EXPORT_MOST_KERNELS], *bases[EXPORT_MOST_KERNELS];
   rkb_package_kernel_t kernels[EXPORT_MOST_KERNELS];
   uint32_t count;
   rkb_export_dim_t dims[EXPORT_MOST_NAMES];
   rkb_export_attribute_t attributes[EXPORT_MOST_NAMES];
   const char *require[EXPORT_MOST_NAMES + 1];
   rkb_export_package_t package;
} wheel_t;

static bool is_backward(const rkb_candidate_file_t *file) {
   return strcmp(file->manifest->direction, "backward") == 0;
}

/* Loads forward kernels first, each direction in the order of the command line. */
static int load_files(const rkb_arguments_t *arguments, wheel_t *wheel) {
   const char *path;
   int code = RKB_EXIT_OK;
   for (uint32_t i = 0; i < EXPORT_MOST_KERNELS && (path = rkb_positional(arguments, i)) && code == RKB_EXIT_OK; i++) {
      code = rkb_candidate_file_load(arguments, path, &wheel->files[i]);
      wheel->count = i + 1;
   }
   if (code == RKB_EXIT_OK && wheel->count > 1 && rkb_argument_list(arguments, "tune")) {
      fprintf(stderr, "--tune is for one file; write the values into the manifests of several\n");
      code = RKB_EXIT_USAGE;
   }
   for (uint32_t i = 1; i < wheel->count && code == RKB_EXIT_OK; i++) {
      if (strcmp(wheel->files[i].manifest->task, wheel->files[0].manifest->task) != 0) {
         fprintf(stderr, "%s is for the task %s, and %s for %s: a package is of one task\n", wheel->files[i].path,
                 wheel->files[i].manifest->task, wheel->files[0].path, wheel->files[0].manifest->task);
         code = RKB_EXIT_USAGE;
      }
      for (uint32_t k = i; k > 0 && !is_backward(&wheel->files[k]) && is_backward(&wheel->files[k - 1]); k--) {
         const rkb_candidate_file_t moved = wheel->files[k];
         wheel->files[k] = wheel->files[k - 1];
         wheel->files[k - 1] = moved;
      }
   }
   return code;
}

static char *base_name(const char *path) {
   const char *last = strrchr(path, '/');
   last = last ? last + 1 : path;
   const size_t length = strlen(last);
   return rkb_duplicate_part(last, length > 3 && strcmp(last + length - 3, ".cu") == 0 ? length - 3 : length);
}

static int find_conditions(const rkb_arguments_t *arguments, wheel_t *wheel) {
   const char *const *given = rkb_argument_list(arguments, "when");
   for (; given && *given; given++) {
      const char *equals = strchr(*given, '=');
      uint32_t at = 0;
      while (equals && at < wheel->count &&
             (strlen(wheel->bases[at]) != (size_t)(equals - *given) || strncmp(wheel->bases[at], *given, (size_t)(equals - *given)) != 0))
         at++;
      if (!equals || at == wheel->count) {
         fprintf(stderr, "--when takes NAME=CONDITION with the name of one of the files without .cu, not '%s'\n", *given);
         return RKB_EXIT_USAGE;
      }
      wheel->kernels[at].when = equals + 1;
   }
   for (uint32_t backward = 0; backward < 2; backward++) {
      const char *first = NULL;
      for (uint32_t i = 0; i < wheel->count; i++) {
         if (is_backward(&wheel->files[i]) != backward || wheel->kernels[i].when)
            continue;
         if (first) {
            fprintf(stderr, "%s and %s would both be taken for all sizes; say with --when which sizes one of them is for\n", first,
                    wheel->files[i].path);
            return RKB_EXIT_USAGE;
         }
         first = wheel->files[i].path;
      }
   }
   return RKB_EXIT_OK;
}

typedef struct names {
   const wheel_t *wheel;
   const char *unknown;
} names_t;

static void check_name(void *argument, const char *name) {
   names_t *names = argument;
   const rkb_export_subject_t *subject = &names->wheel->subjects[0]->of;
   for (uint32_t i = 0; i < subject->dim_count; i++)
      if (strcmp(subject->dims[i], name) == 0)
         return;
   for (uint32_t i = 0; i < subject->let_count; i++)
      if (strcmp(subject->lets[i].name, name) == 0)
         return;
   names->unknown = name;
}

/* Checks the conditions.  A condition becomes code of the package, so it may contain only sizes. */
static int check_conditions(const wheel_t *wheel) {
   for (uint32_t i = 0; i < wheel->count; i++) {
      const char *text = wheel->kernels[i].when;
      rkb_problems_t problems;
      names_t names = {wheel, NULL};
      if (!text)
         continue;
      rkb_problems_init(&problems);
      rkb_arena_t *arena = rkb_arena_new(1 << 20);
      const rkb_expression_t *condition = rkb_expression_parse(arena, text, strlen(text), (rkb_place_t){"--when", 1, 1}, &problems);
      if (!condition)
         fprintf(stderr, "--when: %s\n", problems.count ? problems.list[0].message : "the condition cannot be read");
      else
         rkb_expression_names(condition, check_name, &names);
      if (names.unknown)
         fprintf(stderr, "--when: the task has no size '%s'\n", names.unknown);
      const bool good = condition && !names.unknown;
      rkb_arena_free(arena);
      rkb_problems_free(&problems);
      if (!good)
         return RKB_EXIT_USAGE;
   }
   return RKB_EXIT_OK;
}

static void describe_domain(wheel_t *wheel) {
   const rkb_task_t *task = wheel->files[0].task;
   rkb_export_package_t *package = &wheel->package;
   for (; package->dim_count < rkb_task_dim_count(task) && package->dim_count < EXPORT_MOST_NAMES; package->dim_count++) {
      const rkb_task_domain_t domain = rkb_task_dim_domain(task, package->dim_count);
      wheel->dims[package->dim_count] = (rkb_export_dim_t){rkb_task_dim(task, package->dim_count, NULL), domain.low, domain.high,
                                                           domain.multiple_of, domain.choices, domain.choice_count};
   }
   for (; package->attribute_count < EXPORT_MOST_NAMES; package->attribute_count++) {
      rkb_export_attribute_t *attribute = &wheel->attributes[package->attribute_count];
      attribute->name = rkb_task_attribute_at(task, package->attribute_count, &attribute->least, &attribute->greatest);
      if (!attribute->name)
         break;
   }
   for (uint32_t i = 0; i < EXPORT_MOST_NAMES; i++)
      wheel->require[i] = rkb_task_require_at(task, i);
   package->dims = wheel->dims;
   package->attributes = wheel->attributes;
   package->require = wheel->require;
}

static int describe(const rkb_arguments_t *arguments, wheel_t *wheel) {
   uint32_t forward = 0, backward = 0;
   const rkb_task_info_t *info = rkb_task_info(wheel->files[0].task);
   const char *architecture = wheel->files[0].device->architecture;
   wheel->name = rkb_format("rkb_%s", info->name);
   for (uint32_t i = 0; i < wheel->count; i++) {
      const bool back = is_backward(&wheel->files[i]);
      wheel->subjects[i] = export_subject_new(&wheel->files[i]);
      if (!wheel->subjects[i])
         return RKB_EXIT_USAGE;
      wheel->bases[i] = base_name(wheel->files[i].path);
      wheel->operators[i] = rkb_format("%s_%u", back ? "backward" : "forward", back ? backward++ : forward++);
      wheel->subjects[i]->of.library = wheel->name;
      wheel->subjects[i]->of.operator_name = wheel->operators[i];
      wheel->subjects[i]->of.file = strrchr(wheel->files[i].path, '/') ? strrchr(wheel->files[i].path, '/') + 1 : wheel->files[i].path;
      wheel->kernels[i].subject = &wheel->subjects[i]->of;
   }
   /* PyTorch writes "sm_90a" as "9.0a". */
   char *spelled = rkb_format("%.*s.%s", (int)(strlen(architecture) > 5 ? 1 + (architecture[3] == '1') : 1), architecture + 3,
                              architecture + 4 + (architecture[3] == '1'));
   wheel->package = (rkb_export_package_t){.name = wheel->name, .task = info->name, .summary = info->summary, .version = RKB_VERSION,
                                           .architecture = spelled, .kernels = wheel->kernels, .kernel_count = wheel->count};
   describe_domain(wheel);
   int code = find_conditions(arguments, wheel);
   return code == RKB_EXIT_OK ? check_conditions(wheel) : code;
}

static int put(const wheel_t *wheel, const char *below, const char *name, const rkb_text_t *text) {
   rkb_error_t err = {0};
   char *path = below ? rkb_format("%s/%s/%s", wheel->folder, below, name) : rkb_format("%s/%s", wheel->folder, name);
   if (text->cut)
      rkb_fail(&err, RKB_ERR_LIMIT, "%s would be too large", path);
   const int status = text->cut ? RKB_ERR_LIMIT : rkb_file_write(path, rkb_text_get(text), text->length, &err);
   free(path);
   return status == RKB_OK ? RKB_EXIT_OK : rkb_say_error(&err);
}

static int say_finding(const rkb_finding_t *finding, const char *path) {
   rkb_text_t text;
   rkb_text_init(&text, MOST_TEXT);
   rkb_finding_report(finding, path, &text);
   fputs(rkb_text_get(&text), stderr);
   rkb_text_free(&text);
   return RKB_EXIT_NOTHING;
}

static int put_kernels(const wheel_t *wheel, rkb_text_t *text) {
   rkb_finding_t finding = {0};
   rkb_error_t err = {0};
   int code = RKB_EXIT_OK;
   for (uint32_t i = 0; i < wheel->count && code == RKB_EXIT_OK; i++) {
      const rkb_candidate_file_t *file = &wheel->files[i];
      rkb_text_clear(text);
      const int status = rkb_export(RKB_EXPORT_OPERATOR, &wheel->subjects[i]->of, file->source, file->tune, file->device, text, NULL,
                                    &finding, &err);
      char *name = rkb_format("%s.cu", wheel->operators[i]);
      code = status != RKB_OK    ? rkb_say_error(&err)
             : finding.reason[0] ? say_finding(&finding, file->path)
                                 : put(wheel, "kernels", name, text);
      free(name);
   }
   return code;
}

static int put_files(const wheel_t *wheel, rkb_text_t *text) {
   static const struct {
      const char *name;
      void (*write)(const rkb_export_package_t *package, rkb_text_t *out);
   } files[] = {{"pyproject.toml", rkb_export_package_project}, {"setup.py", rkb_export_package_setup}, {"README.md", rkb_export_package_readme}};
   int code = RKB_EXIT_OK;
   for (size_t i = 0; i < sizeof files / sizeof *files && code == RKB_EXIT_OK; i++) {
      rkb_text_clear(text);
      files[i].write(&wheel->package, text);
      code = put(wheel, NULL, files[i].name, text);
   }
   if (code == RKB_EXIT_OK) {
      rkb_text_clear(text);
      rkb_export_package_entry(text);
      code = put(wheel, "kernels", "module.cpp", text);
   }
   if (code == RKB_EXIT_OK) {
      rkb_text_clear(text);
      rkb_text_add(text, rkb_task_info(wheel->files[0].task)->reference);
      code = put(wheel, wheel->name, "reference.py", text);
   }
   return code;
}

/* Makes the module first, so that a kernel that cannot be exported is found before any file is written. */
static int write_package(const wheel_t *wheel) {
   rkb_finding_t finding = {0};
   rkb_text_t module, text;
   char *kernels = rkb_format("%s/kernels", wheel->folder), *package = rkb_format("%s/%s", wheel->folder, wheel->name);
   int code = RKB_EXIT_OK;
   rkb_text_init(&module, MOST_TEXT);
   rkb_text_init(&text, MOST_TEXT);
   if (!rkb_export_package_module(&wheel->package, &module, &finding))
      code = say_finding(&finding, wheel->files[0].path);
   else if (mkdir(wheel->folder, 0777) != 0 || mkdir(kernels, 0777) != 0 || mkdir(package, 0777) != 0) {
      fprintf(stderr, "cannot make the folder %s: %s\n", wheel->folder, strerror(errno));
      code = RKB_EXIT_USAGE;
   }
   if (code == RKB_EXIT_OK)
      code = put_kernels(wheel, &text);
   if (code == RKB_EXIT_OK)
      code = put_files(wheel, &text);
   if (code == RKB_EXIT_OK)
      code = put(wheel, wheel->name, "__init__.py", &module);
   if (code == RKB_EXIT_OK)
      printf("%s: the package %s; build it with: pip wheel %s --no-build-isolation\n", wheel->folder, wheel->name, wheel->folder);
   rkb_text_free(&text);
   rkb_text_free(&module);
   free(package);
   free(kernels);
   return code;
}

int export_wheel(const rkb_arguments_t *arguments) {
   wheel_t *wheel = rkb_allocate(1, sizeof *wheel);
   wheel->folder = rkb_argument(arguments, "wheel");
   int code = load_files(arguments, wheel);
   if (code == RKB_EXIT_OK && !rkb_task_info(wheel->files[0].task)->reference[0]) {
      fprintf(stderr, "the task %s has no reference.py, which the package would call outside the verified sizes\n",
              rkb_task_info(wheel->files[0].task)->name);
      code = RKB_EXIT_USAGE;
   }
   if (code == RKB_EXIT_OK)
      code = describe(arguments, wheel);
   if (code == RKB_EXIT_OK)
      code = write_package(wheel);
   for (uint32_t i = 0; i < wheel->count; i++) {
      free(wheel->subjects[i]);
      free(wheel->operators[i]);
      free(wheel->bases[i]);
      rkb_candidate_file_free(&wheel->files[i]);
   }
   free((char *)wheel->package.architecture);
   free(wheel->name);
   free(wheel);
   return code;
}
