/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_TEXT_CONTEXT_H
#define KWHY_REPORT_TEXT_CONTEXT_H

#include "base/arena.h"
#include "base/text.h"
#include "report/cost_ranking.h"
#include "report/finding_kinds.h"
#include "report/operations.h"
#include "report/report.h"
#include "report/totals.h"

/* Inputs and output of the sections of a text report. */
struct kwhy_text_context {
	const struct kwhy_report *report;
	const struct kwhy_text_style *style;
	const struct kwhy_totals *totals;
	const struct kwhy_operations *operations; /* [device_count] operations on memory */
	const struct kwhy_cost_ranking *rankings; /* [device_count] cost rankings */
	const struct kwhy_finding_kinds *kinds;
	struct kwhy_text *out;
};

/*
 * Writes a blank line (unless it is the first text), the heading, and after it `remark` unless that is NULL.
 * A remark that does not fit into the line of the heading is wrapped below it.
 */
void kwhy_text_context_heading(
	const struct kwhy_text_context *context, const char *title, const char *remark);
/*
 * Writes a short title as kwhy_text_context_heading() does, but a text that does not fit into its line begins
 * there nevertheless.
 */
void kwhy_text_context_entry(const struct kwhy_text_context *context, const char *title, const char *text);

/*
 * Writes `text`, which may come from a trace, as a paragraph: made safe for a terminal and wrapped at spaces,
 * but not between a number and its unit. `lead` is written before the first line, and later lines are
 * indented by its width.
 */
void kwhy_text_context_paragraph(const struct kwhy_text_context *context, const char *lead, const char *text);

/* Writes a sentence of the report, formatted as by printf() and wrapped like a paragraph. */
void kwhy_text_context_linef(const struct kwhy_text_context *context, const char *lead, const char *format,
	...) __attribute__((format(printf, 3, 4)));

/* Writes the name of a device: "GPU 0" or "GPU 0, rank 3". Returns `out`. */
#define KWHY_DEVICE_LABEL_BYTES 48
const char *kwhy_device_label(char out[KWHY_DEVICE_LABEL_BYTES], const struct kwhy_device *device);

/*
 * kwhy_text_context_shown() returns how many of `count` rows a section shows: at most `limit`, unless all are
 * requested. kwhy_text_context_more() writes a sentence on the rows that are not shown.
 */
size_t kwhy_text_context_shown(const struct kwhy_text_context *context, size_t count, size_t limit);
void kwhy_text_context_more(const struct kwhy_text_context *context, size_t count, size_t shown);

/*
 * Writes the means over steps: "12 steps of 1.3 ms and 0.4 J each, idle included; on the host 1.1 ms ...".
 * The first time is the length of the steps' loops (struct kwhy_loop_sum) divided by the number of steps.
 */
void kwhy_text_context_step_mean(const struct kwhy_text_context *context);

/*
 * Appends the estimated energy of the run's unmetered time and that time, "26.6 J in 190 ms"; for several
 * devices only the energy, as the times differ.
 */
void kwhy_text_context_add_unmetered(struct kwhy_text *out, const struct kwhy_text_context *context);

/* The sections in the order of the report. A section without content writes nothing. */
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
