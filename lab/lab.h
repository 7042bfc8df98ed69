/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_LAB_H
#define KWHY_LAB_LAB_H

#include "cli/command.h"

/* The commands of kwhy-lab, one for each workload. */
extern const struct kwhy_command lab_command_twin;
extern const struct kwhy_command lab_command_flow;
extern const struct kwhy_command lab_command_train;
extern const struct kwhy_command lab_command_decode;

#endif
