/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/workload_show.h"

#include "base/quantity.h"

#include <math.h>
#include <stdio.h>

struct kwhy_joules kwhy_workload_for_a_joule(double count, const struct kwhy_joules *joules)
{
	return (struct kwhy_joules){
		count / joules->value, count / joules->high, joules->low > 0 ? count / joules->low : NAN};
}

void kwhy_workload_energies_add(
	struct kwhy_workload_energies *energies, const char *row, const struct kwhy_window_joules *energy)
{
	if (isfinite(energy->gross.value)) {
		energies->known++;
		return;
	}
	if (!energies->unknown++)
		energies->first_unknown = row;
}

const char *kwhy_workload_energies_missing(const struct kwhy_workload_energies *energies, const char *missing)
{
	return energies->known && !energies->unknown ? NULL : missing;
}

/* --- Text --- */

void kwhy_workload_joules_cell(struct kwhy_table *table, const struct kwhy_joules *joules)
{
	char value[KWHY_QUANTITY_BYTES], text[2 * KWHY_QUANTITY_BYTES];
	double half = (joules->high - joules->low) / 2;

	if (!isfinite(joules->value) || joules->low <= 0 || !isfinite(half)) {
		kwhy_workload_joules_short_cell(table, joules);
		return;
	}
	snprintf(text, sizeof(text), "%s ±%.2g %%", kwhy_quantity_si(value, joules->value, "J", 3),
		100 * half / joules->value);
	kwhy_table_cell(table, text);
}

void kwhy_workload_joules_short_cell(struct kwhy_table *table, const struct kwhy_joules *joules)
{
	char most[KWHY_QUANTITY_BYTES], text[2 * KWHY_QUANTITY_BYTES];

	if (!isfinite(joules->value) || !(joules->low <= 0)) {
		kwhy_table_real(table, joules->value, "J");
		return;
	}
	snprintf(text, sizeof(text), "<%s", kwhy_quantity_si(most, fmax(joules->high, 0), "J", 2));
	kwhy_table_cell(table, text);
}

void kwhy_workload_missing_note(
	const struct kwhy_text_context *context, const char *name, const char *missing)
{
	if (missing)
		kwhy_text_context_linef(context, "note   ", "%s is not available: %s", name, missing);
}

static void write_energy_missing(const struct kwhy_text_context *context,
	const struct kwhy_workload_energies *energies, const char *missing)
{
	if (energies->known)
		kwhy_text_context_linef(context, "energy ",
			"not available in %zu of %zu rows, first in '%s': %s", energies->unknown,
			energies->known + energies->unknown, energies->first_unknown, missing);
	else
		kwhy_text_context_linef(context, "energy ", "not available: %s", missing);
}

void kwhy_workload_end_notes(const struct kwhy_text_context *context,
	const struct kwhy_workload_energies *energies, const char *energy_missing, const char *ended)
{
	const char *missing = kwhy_workload_energies_missing(energies, energy_missing);

	if (missing)
		write_energy_missing(context, energies, missing);
	if (ended)
		kwhy_text_context_linef(context, "ended  ", "%s", ended);
}

/* --- JSON --- */

void kwhy_workload_median_json(struct kwhy_json *json, const char *key, const struct kwhy_median *median)
{
	kwhy_json_row(json, key);
	kwhy_json_count(json, "count", median->count);
	kwhy_json_real(json, "median", median->median);
	kwhy_json_real(json, "low", median->low);
	kwhy_json_real(json, "high", median->high);
	kwhy_json_real(json, "least", median->least);
	kwhy_json_real(json, "p5", median->p5);
	kwhy_json_real(json, "p95", median->p95);
	kwhy_json_object_end(json);
}

void kwhy_workload_joules_json(struct kwhy_json *json, const char *key, struct kwhy_joules joules)
{
	kwhy_json_row(json, key);
	kwhy_json_real(json, "value", joules.value);
	kwhy_json_real(json, "low", joules.low);
	kwhy_json_real(json, "high", joules.high);
	kwhy_json_object_end(json);
}

void kwhy_workload_gpu_json(struct kwhy_json *json, const char *key, const struct kwhy_gpu_facts *facts)
{
	kwhy_json_row(json, key);
	kwhy_json_string(json, "name", facts->name);
	kwhy_json_string(json, "pci_address", *facts->pci_address ? facts->pci_address : NULL);
	kwhy_json_string(json, "driver_api", *facts->driver_api ? facts->driver_api : NULL);
	kwhy_json_string(json, "compiler", *facts->compiler ? facts->compiler : NULL);
	kwhy_json_object_end(json);
}

void kwhy_workload_gpus_json(struct kwhy_json *json, const struct kwhy_gpu_facts *gpus, uint32_t count)
{
	kwhy_json_array(json, "gpus");
	for (uint32_t i = 0; i < count; i++)
		kwhy_workload_gpu_json(json, NULL, &gpus[i]);
	kwhy_json_array_end(json);
}

void kwhy_workload_window_json(struct kwhy_json *json, const struct kwhy_window_joules *window)
{
	kwhy_json_real(json, "window_s", window->seconds);
	kwhy_json_string(json, "basis", window->basis);
	kwhy_json_real(json, "mean_w", window->mean_w);
}
