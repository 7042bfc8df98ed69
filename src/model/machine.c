/* SPDX-License-Identifier: Apache-2.0 */
#include "base/column.h"
#include "model/recording.h"

/* The name of the machine's host, followed by a number if earlier machines have the same name. */
static const char *name_machine(struct kwhy_recording *recording, uint32_t host)
{
	const char *name = kwhy_names_get(&recording->names, host);
	size_t duplicates = 0;

	for (size_t i = 0; i < recording->machine_count; i++)
		duplicates += recording->machines[i].host == host;
	return duplicates ? kwhy_arena_printf(&recording->arena, "%s (%zu)", name, duplicates + 1)
			  : kwhy_arena_printf(&recording->arena, "%s", name);
}

enum kwhy_status kwhy_recording_add_machine(struct kwhy_recording *recording,
	const struct kwhy_machine *machine, uint32_t *out_index, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_column_reserve((void **)&recording->machines,
		&recording->machine_capacity, recording->machine_count + 1, sizeof(*recording->machines),
		"machines", error);
	struct kwhy_machine row = *machine;

	if (status)
		return status;
	row.name = row.host ? name_machine(recording, row.host) : NULL;
	if (row.host && !row.name)
		return kwhy_fail_memory(error, "machines");
	*out_index = (uint32_t)recording->machine_count;
	recording->machines[recording->machine_count++] = row;
	return KWHY_OK;
}

uint32_t kwhy_recording_machine_of(const struct kwhy_recording *recording, uint32_t process)
{
	if (process >= recording->process_count ||
		recording->processes[process].machine >= recording->machine_count)
		return KWHY_NONE;
	return recording->processes[process].machine;
}

uint32_t kwhy_recording_machine_of_device(const struct kwhy_recording *recording, uint32_t device)
{
	if (device >= recording->device_count ||
		recording->devices[device].machine >= recording->machine_count)
		return KWHY_NONE;
	return recording->devices[device].machine;
}

uint32_t kwhy_recording_machine_of_meter(
	const struct kwhy_recording *recording, const struct kwhy_power_series *series)
{
	if (series->device != KWHY_NONE)
		return kwhy_recording_machine_of_device(recording, series->device);
	return series->machine < recording->machine_count ? series->machine : KWHY_NONE;
}

const char *kwhy_recording_machine_name(const struct kwhy_recording *recording, uint32_t machine)
{
	return machine < recording->machine_count ? recording->machines[machine].name : NULL;
}

bool kwhy_recording_has_hosts(const struct kwhy_recording *recording)
{
	const struct kwhy_power_series *first = NULL;

	for (size_t i = 0; i < recording->power_count; i++) {
		const struct kwhy_power_series *series = &recording->power[i];

		if (series->device != KWHY_NONE)
			continue;
		if (first && series->machine != first->machine)
			return true;
		first = series;
	}
	return false;
}

const char *kwhy_recording_host_of(
	const struct kwhy_recording *recording, const struct kwhy_power_series *series)
{
	return series->device == KWHY_NONE ? kwhy_recording_machine_name(recording, series->machine) : NULL;
}
