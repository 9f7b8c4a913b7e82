/* Finds the meaning of an exported kernel's names in its task (export_subject.h). */
#include "cli/export_subject.h"

#include <stdio.h>
#include "base/memory.h"

/* Takes names, types and shapes from any case of the direction, because all cases have the same tensors. */
export_subject_t *export_subject_new(const rkb_candidate_file_t *file) {
   const rkb_case_t *the_case = rkb_task_case(file->task, RKB_CASE_CHECK, 0);
   if (!the_case)
      the_case = rkb_task_case(file->task, RKB_CASE_BENCH, 0);
   if (!the_case || the_case->tensor_count > EXPORT_MOST_NAMES || the_case->dim_count > EXPORT_MOST_NAMES ||
       the_case->attribute_count > EXPORT_MOST_NAMES) {
      fprintf(stderr, "%s: its task has no case to tell its tensors from\n", file->path);
      return NULL;
   }
   export_subject_t *subject = rkb_allocate(1, sizeof *subject);
   for (uint32_t i = 0; i < the_case->tensor_count; i++)
      subject->tensors[i] = (rkb_export_tensor_t){
         the_case->tensors[i].name, the_case->tensors[i].role, the_case->tensors[i].dtype,
         rkb_task_shape_text(file->task, i), the_case->tensors[i].alignment};
   for (uint32_t i = 0; i < the_case->dim_count; i++)
      subject->dims[i] = the_case->dims[i].name;
   for (uint32_t i = 0; i < the_case->attribute_count; i++)
      subject->attributes[i] = the_case->attributes[i].name;
   for (const char *text; subject->of.let_count < EXPORT_MOST_NAMES; subject->of.let_count++) {
      const char *name = rkb_task_let_at(file->task, subject->of.let_count, &text);
      if (!name)
         break;
      subject->lets[subject->of.let_count] = (rkb_export_let_t){name, text};
   }
   subject->of.task = file->manifest->task;
   subject->of.direction = file->manifest->direction;
   subject->of.file = file->path;
   subject->of.tensors = subject->tensors;
   subject->of.tensor_count = the_case->tensor_count;
   subject->of.dims = subject->dims;
   subject->of.dim_count = the_case->dim_count;
   subject->of.attributes = subject->attributes;
   subject->of.attribute_count = the_case->attribute_count;
   subject->of.lets = subject->lets;
   return subject;
}
