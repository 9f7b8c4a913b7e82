/* The file that sanitizer.c writes for rkb-play-plans: 64-bit numbers of this machine and bytes, one after
 * another.
 *
 *   magic, number of plans, length of the cubin, the cubin; for each plan: length, bytes (docs/plan-format.md), number of tensors;
 *   for each tensor: index, length, bytes */
#ifndef RKB_TOOLS_FAULTS_LABEL_PLANS_FILE_H
#define RKB_TOOLS_FAULTS_LABEL_PLANS_FILE_H

#define PLANS_FILE_MAGIC 0x31736e616c70ull /* "plans1" */

#endif
