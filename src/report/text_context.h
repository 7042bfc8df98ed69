/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_CONTEXT_H
#define KWHY_REPORT_CONTEXT_H

#include "base/arena.h"
#include "base/text.h"
#include "report/cost_ranking.h"
#include "report/operations.h"
#include "report/report.h"
#include "report/totals.h"

/* Inputs and output of the sections of the text report. */
struct kwhy_text_context {
	const struct kwhy_report *report;
	const struct kwhy_text_style *style;
	const struct kwhy_totals *totals;
	const struct kwhy_operations *operations; /* [device_count] */
	const struct kwhy_cost_ranking *rankings; /* [device_count] */
	struct kwhy_text *out;
};

/* Writes a blank line and the heading, followed by `remark` unless that is NULL. */
void kwhy_text_context_heading(
	const struct kwhy_text_context *context, const char *title, const char *remark);

/* Writes untrusted text, made safe for a terminal and wrapped at words; `lead` goes before the first line. */
void kwhy_text_context_paragraph(const struct kwhy_text_context *context, const char *lead, const char *text);

/* Like printf, for the report's own sentences, wrapped like a paragraph. */
void kwhy_text_context_linef(const struct kwhy_text_context *context, const char *lead, const char *format,
	...) __attribute__((format(printf, 3, 4)));

/* Writes "GPU 0" or "GPU 0, rank 3". Returns `out`. */
#define KWHY_DEVICE_LABEL_BYTES 48
const char *kwhy_device_label(char out[KWHY_DEVICE_LABEL_BYTES], const struct kwhy_device *device);

/*
 * Number of rows that a section shows of `count`; the second function writes the sentence on the rows left
 * out.
 */
size_t kwhy_text_context_shown(const struct kwhy_text_context *context, size_t count, size_t limit);
void kwhy_text_context_more(const struct kwhy_text_context *context, size_t count, size_t shown);

/*
 * Writes "12 steps of 1.3 ms and 0.4 J each, idle included; on the host 1.1 ms ...", from the work of the
 * first step to that of the last.
 */
void kwhy_text_context_step_mean(const struct kwhy_text_context *context);

/*
 * Appends the unmetered part of the run, "26.6 J in 190 ms"; for several devices without the time, which
 * differs.
 */
void kwhy_text_context_add_unmetered(struct kwhy_text *out, const struct kwhy_text_context *context);

/* The sections, in the order of the report. Each writes nothing when it has no content. */
void kwhy_section_cost(const struct kwhy_text_context *context);
void kwhy_section_where(const struct kwhy_text_context *context);
void kwhy_section_advice(const struct kwhy_text_context *context);
void kwhy_section_time(const struct kwhy_text_context *context);
void kwhy_section_waits(const struct kwhy_text_context *context);
void kwhy_section_utilisation(const struct kwhy_text_context *context);
void kwhy_section_accounts(const struct kwhy_text_context *context);
void kwhy_section_kernels(const struct kwhy_text_context *context);
void kwhy_section_groups(const struct kwhy_text_context *context);
void kwhy_section_categories(const struct kwhy_text_context *context);
void kwhy_section_copies(const struct kwhy_text_context *context);
void kwhy_section_operations(const struct kwhy_text_context *context);
void kwhy_section_split(const struct kwhy_text_context *context);
void kwhy_section_cost_ranking(const struct kwhy_text_context *context);
void kwhy_section_work(const struct kwhy_text_context *context);
void kwhy_section_api(const struct kwhy_text_context *context);
void kwhy_section_steps(const struct kwhy_text_context *context);
void kwhy_section_ranges(const struct kwhy_text_context *context);
void kwhy_section_ranks(const struct kwhy_text_context *context);
void kwhy_section_processes(const struct kwhy_text_context *context);
void kwhy_section_streams(const struct kwhy_text_context *context);
void kwhy_section_memory(const struct kwhy_text_context *context);
void kwhy_section_gauges(const struct kwhy_text_context *context);
void kwhy_section_hosts(const struct kwhy_text_context *context);
void kwhy_section_probing(const struct kwhy_text_context *context);
void kwhy_section_overhead(const struct kwhy_text_context *context);
void kwhy_section_findings(const struct kwhy_text_context *context);
void kwhy_section_plan(const struct kwhy_text_context *context);
void kwhy_section_unknown(const struct kwhy_text_context *context);
void kwhy_section_method(const struct kwhy_text_context *context);

#endif
