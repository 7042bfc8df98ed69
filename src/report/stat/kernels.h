/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_STAT_KERNELS_H
#define KWHY_REPORT_STAT_KERNELS_H

#include "model/stat.h"
#include "report/json/writer.h"
#include "report/text_context.h"

/*
 * Write the kernels of the run that `kwhy stat --powers` recorded, in text and JSON. Without such a run
 * nothing is written.
 */
void kwhy_stat_kernels_text(const struct kwhy_stat *stat, const struct kwhy_text_context *context);
void kwhy_stat_kernels_json(const struct kwhy_stat *stat, struct kwhy_json *json);

#endif
