/* Every command of `rkb`, one file each: command_<name>.c. */
#ifndef RKB_CLI_COMMANDS_H
#define RKB_CLI_COMMANDS_H

#include "cli/shared/arguments.h"

extern const rkb_command_t rkb_command_bench;
extern const rkb_command_t rkb_command_best;
extern const rkb_command_t rkb_command_build;
extern const rkb_command_t rkb_command_cases;
extern const rkb_command_t rkb_command_check;
extern const rkb_command_t rkb_command_diff;
extern const rkb_command_t rkb_command_doctor;
extern const rkb_command_t rkb_command_expected;
extern const rkb_command_t rkb_command_export;
extern const rkb_command_t rkb_command_help;
extern const rkb_command_t rkb_command_judge;
extern const rkb_command_t rkb_command_library;
extern const rkb_command_t rkb_command_pipelines;
extern const rkb_command_t rkb_command_plugins;
extern const rkb_command_t rkb_command_replay;
extern const rkb_command_t rkb_command_report;
extern const rkb_command_t rkb_command_serve;
extern const rkb_command_t rkb_command_show;
extern const rkb_command_t rkb_command_task;
extern const rkb_command_t rkb_command_tasks;
extern const rkb_command_t rkb_command_validate;

#endif
