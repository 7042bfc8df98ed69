/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_BENCH_WORKLOAD_SHOW_H
#define KWHY_CLI_BENCH_WORKLOAD_SHOW_H

#include "fit/median.h"
#include "measure/device_energy.h"
#include "report/json/writer.h"
#include "report/table.h"
#include "report/text_context.h"

/* Parts of text and JSON that all benchmarks of workloads and kwhy llm share. */

/* `count` units over `joules`: units a joule, with the interval's ends exchanged. */
struct kwhy_joules kwhy_workload_for_a_joule(double count, const struct kwhy_joules *joules);

/* Adds a cell "0.56 J ±3 %"; "<0.2 J" where the interval reaches down to 0; "n/a". */
void kwhy_workload_joules_cell(struct kwhy_table *table, const struct kwhy_joules *joules);

/* Adds the cell without the interval. */
void kwhy_workload_joules_short_cell(struct kwhy_table *table, const struct kwhy_joules *joules);

/* Notes that `name` was unavailable and why; writes nothing where `missing` is NULL. */
void kwhy_workload_missing_note(
	const struct kwhy_text_context *context, const char *name, const char *missing);

/* Number of rows that ran, by whether the energy of their GPUs is known. */
struct kwhy_workload_energies {
	size_t known, unknown;
	const char *first_unknown; /* borrowed; NULL: no such row */
};

void kwhy_workload_energies_add(
	struct kwhy_workload_energies *energies, const char *row, const struct kwhy_window_joules *energy);

/* `missing`, or NULL where all rows have energy: the reason is then of GPUs that no row used. */
const char *kwhy_workload_energies_missing(
	const struct kwhy_workload_energies *energies, const char *missing);

/* Writes notes on all rows at the end of a page, and which rows lack energy; each text may be NULL. */
void kwhy_workload_end_notes(const struct kwhy_text_context *context,
	const struct kwhy_workload_energies *energies, const char *energy_missing, const char *ended);

void kwhy_workload_median_json(struct kwhy_json *json, const char *key, const struct kwhy_median *median);
void kwhy_workload_joules_json(struct kwhy_json *json, const char *key, struct kwhy_joules joules);
void kwhy_workload_gpu_json(struct kwhy_json *json, const char *key, const struct kwhy_gpu_facts *facts);
void kwhy_workload_gpus_json(struct kwhy_json *json, const struct kwhy_gpu_facts *gpus, uint32_t count);

/* Writes duration, basis and power of a window as members of the open object. */
void kwhy_workload_window_json(struct kwhy_json *json, const struct kwhy_window_joules *window);

#endif
