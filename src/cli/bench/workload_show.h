/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_BENCH_WORKLOAD_SHOW_H
#define KWHY_CLI_BENCH_WORKLOAD_SHOW_H

#include "fit/median.h"
#include "measure/device_energy.h"
#include "report/json/writer.h"
#include "report/table.h"
#include "report/text_context.h"

/* Parts of text and JSON that all benchmarks of workloads and kwhy llm write. */

/*
 * Units per joule: `count` divided by `joules`. The lower bound of the quotient is `count` divided by the
 * upper bound of `joules`. The upper bound of the quotient is `count` divided by the lower bound of `joules`,
 * or NAN if that lower bound is not above 0.
 */
struct kwhy_joules kwhy_workload_for_a_joule(double count, const struct kwhy_joules *joules);

/*
 * Adds a cell with joules and half of their interval in percent, "0.56 J ±3 %"; the upper bound, "<0.2 J", if
 * the interval includes 0; or "n/a".
 */
void kwhy_workload_joules_cell(struct kwhy_table *table, const struct kwhy_joules *joules);

/*
 * Adds a cell with joules, without their interval: "0.56 J"; the upper bound, "<0.2 J", if the interval
 * includes 0; or "n/a".
 */
void kwhy_workload_joules_short_cell(struct kwhy_table *table, const struct kwhy_joules *joules);

/*
 * Writes a line that the row `name` is not available, with the reason `missing`. Writes nothing if `missing`
 * is NULL.
 */
void kwhy_workload_missing_note(
	const struct kwhy_text_context *context, const char *name, const char *missing);

/*
 * Number of rows of a benchmark that ran and whose GPU energy is known, and number of those that ran and
 * whose GPU energy is unknown.
 */
struct kwhy_workload_energies {
	size_t known, unknown;
	/* id of the first row with unknown energy, not copied; NULL: there is none */
	const char *first_unknown;
};

void kwhy_workload_energies_add(
	struct kwhy_workload_energies *energies, const char *row, const struct kwhy_window_joules *energy);

/*
 * The reason to show for missing energies: `missing` or, if rows ran and the energy of all of them is known,
 * NULL, because `missing` then concerns only GPUs that no row used.
 */
const char *kwhy_workload_energies_missing(
	const struct kwhy_workload_energies *energies, const char *missing);

/*
 * Writes the notes at the end of the text: which rows lack energy, with the reason energy_missing, and why
 * the benchmark ended early (`ended`). Each of the two may be NULL.
 */
void kwhy_workload_end_notes(const struct kwhy_text_context *context,
	const struct kwhy_workload_energies *energies, const char *energy_missing, const char *ended);

void kwhy_workload_median_json(struct kwhy_json *json, const char *key, const struct kwhy_median *median);
void kwhy_workload_joules_json(struct kwhy_json *json, const char *key, struct kwhy_joules joules);
void kwhy_workload_gpu_json(struct kwhy_json *json, const char *key, const struct kwhy_gpu_facts *facts);
void kwhy_workload_gpus_json(struct kwhy_json *json, const struct kwhy_gpu_facts *gpus, uint32_t count);

/*
 * Writes duration (window_s), source of the energy (basis) and mean power (mean_w) of the window in which an
 * energy was measured, as members of the open JSON object.
 */
void kwhy_workload_window_json(struct kwhy_json *json, const struct kwhy_window_joules *window);

#endif
