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
 * Units per joule: `count` divided by `joules`. The lower bound of the result comes from the upper bound of
 * the joules, and its upper bound from the lower bound of the joules.
 */
struct kwhy_joules kwhy_workload_for_a_joule(double count, const struct kwhy_joules *joules);

/* Adds a cell with joules: "0.56 J ±3 %", "<0.2 J" if the interval includes 0, or "n/a". */
void kwhy_workload_joules_cell(struct kwhy_table *table, const struct kwhy_joules *joules);

/* Adds a cell with joules and no interval. */
void kwhy_workload_joules_short_cell(struct kwhy_table *table, const struct kwhy_joules *joules);

/* Notes that `name` was not available, with the reason `missing`. Writes nothing if `missing` is NULL. */
void kwhy_workload_missing_note(
	const struct kwhy_text_context *context, const char *name, const char *missing);

/*
 * Rows that ran: number of rows for which the energy of their GPUs is known, and number of the other rows.
 */
struct kwhy_workload_energies {
	size_t known, unknown;
	/* id of the first row with unknown energy, not copied; NULL: there is none */
	const char *first_unknown;
};

void kwhy_workload_energies_add(
	struct kwhy_workload_energies *energies, const char *row, const struct kwhy_window_joules *energy);

/*
 * The reason to show for missing energies: `missing`, or NULL if all rows have energy. In the latter case
 * `missing` concerns only GPUs that no row used.
 */
const char *kwhy_workload_energies_missing(
	const struct kwhy_workload_energies *energies, const char *missing);

/*
 * Writes the notes at the end of the text: notes about all rows, and which rows lack energy. Each text may be
 * NULL.
 */
void kwhy_workload_end_notes(const struct kwhy_text_context *context,
	const struct kwhy_workload_energies *energies, const char *energy_missing, const char *ended);

void kwhy_workload_median_json(struct kwhy_json *json, const char *key, const struct kwhy_median *median);
void kwhy_workload_joules_json(struct kwhy_json *json, const char *key, struct kwhy_joules joules);
void kwhy_workload_gpu_json(struct kwhy_json *json, const char *key, const struct kwhy_gpu_facts *facts);
void kwhy_workload_gpus_json(struct kwhy_json *json, const struct kwhy_gpu_facts *gpus, uint32_t count);

/* Writes duration, basis and power of an energy window as members of the open JSON object. */
void kwhy_workload_window_json(struct kwhy_json *json, const struct kwhy_window_joules *window);

#endif
