/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_BENCH_WORKLOAD_SHOW_H
#define KWHY_CLI_BENCH_WORKLOAD_SHOW_H

#include "fit/median.h"
#include "measure/device_energy.h"
#include "report/json/writer.h"
#include "report/table.h"
#include "report/text_context.h"

/* What the pages and the JSON of all benchmarks of workloads, and of kwhy llm, have in common. */

/* So many of something for a joule; the interval's ends change places. */
struct kwhy_joules kwhy_workload_for_a_joule(double count, const struct kwhy_joules *joules);

/* "0.56 J ±3 %"; "<0.2 J" where the interval reaches down to 0; "n/a". */
void kwhy_workload_joules_cell(struct kwhy_table *table, const struct kwhy_joules *joules);

/* The same without its interval. */
void kwhy_workload_joules_short_cell(struct kwhy_table *table, const struct kwhy_joules *joules);

/* That `name` was not to be had; nothing where `missing` is NULL. */
void kwhy_workload_missing_note(
	const struct kwhy_text_context *context, const char *name, const char *missing);

/* Rows that ran, by whether the energy of their GPUs is known. */
struct kwhy_workload_energies {
	size_t known, unknown;
	const char *first_unknown; /* borrowed; NULL: there is none */
};

void kwhy_workload_energies_add(
	struct kwhy_workload_energies *energies, const char *row, const struct kwhy_window_joules *energy);

/* NULL where the reason is of none of these rows: other GPUs may lack what all of theirs have. */
const char *kwhy_workload_energies_missing(
	const struct kwhy_workload_energies *energies, const char *missing);

/* What goes for all rows, at the end of a page, and which of them lack energy; each text may be NULL. */
void kwhy_workload_end_notes(const struct kwhy_text_context *context,
	const struct kwhy_workload_energies *energies, const char *energy_missing, const char *ended);

void kwhy_workload_median_json(struct kwhy_json *json, const char *key, const struct kwhy_median *median);
void kwhy_workload_joules_json(struct kwhy_json *json, const char *key, struct kwhy_joules joules);
void kwhy_workload_gpu_json(struct kwhy_json *json, const char *key, const struct kwhy_gpu_facts *facts);
void kwhy_workload_gpus_json(struct kwhy_json *json, const struct kwhy_gpu_facts *gpus, uint32_t count);

/* Length, basis and power of a window, as members of the object that is open. */
void kwhy_workload_window_json(struct kwhy_json *json, const struct kwhy_window_joules *window);

#endif
