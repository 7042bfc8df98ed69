/* SPDX-License-Identifier: Apache-2.0 */
#include "import/power/books.h"

#include "import/identity.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum kwhy_status kwhy_power_books_init(struct kwhy_power_books *device_ledger,
	struct kwhy_recording *recording, const char *path, struct kwhy_error *error)
{
	*device_ledger = (struct kwhy_power_books){.recording = recording, .path = path};
	device_ledger->levels = calloc(
		recording->device_count * KWHY_METER_COUNT + 1, sizeof(*device_ledger->levels));
	return device_ledger->levels ? KWHY_OK : kwhy_fail_memory(error, "reading power");
}

void kwhy_power_books_done(struct kwhy_power_books *device_ledger)
{
	free(device_ledger->levels);
}

static struct kwhy_power_level *level_of(
	const struct kwhy_power_books *device_ledger, uint32_t device, enum kwhy_meter meter)
{
	return &device_ledger->levels[(size_t)device * KWHY_METER_COUNT + meter];
}

/* Meters of a host are the one machine's that the recording is of; of several nobody says whose they are. */
enum kwhy_status kwhy_power_books_add(struct kwhy_power_books *device_ledger,
	const struct kwhy_power_reading *reading, struct kwhy_error *error)
{
	const bool is_known = reading->device == KWHY_NONE && device_ledger->recording->machine_count == 1;
	const struct kwhy_power_source source = {.meter = reading->meter,
		.device = reading->device,
		.domain = reading->domain,
		.machine = is_known ? 0 : KWHY_NONE};

	if (reading->device == KWHY_NONE)
		kwhy_power_window_add(&device_ledger->window, reading->time_ns);
	else
		kwhy_power_level_add(level_of(device_ledger, reading->device, reading->meter),
			reading->time_ns, reading->value);
	device_ledger->readings++;
	return kwhy_recording_add_power(
		device_ledger->recording, &source, reading->time_ns, reading->value, error);
}

/* A meter without life is none. Beside others it is left out; alone it would make 0 J of the run. */
static enum kwhy_status leave_out(struct kwhy_power_books *device_ledger, uint32_t device,
	enum kwhy_meter meter, struct kwhy_error *error)
{
	const struct kwhy_power_level *level = level_of(device_ledger, device, meter);
	const char *does = kwhy_meter_is_counter(meter) ? "does not move" : "reads 0 throughout";
	const int32_t index = device_ledger->recording->devices[device].index;

	device_ledger->readings -= level->readings;
	if (device_ledger->readings == 0)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s: %s of device %" PRId32 " %s, and no GPU draws nothing; record power again",
			device_ledger->path, kwhy_meter_name(meter), index, does);
	kwhy_recording_drop_power(device_ledger->recording, meter, device, level->readings);
	return kwhy_recording_add_note(device_ledger->recording, KWHY_NOTE_WARNING, "dead-meter", error,
		"%s: %s of device %" PRId32 " %s, and no GPU draws nothing: it is left out.",
		device_ledger->path, kwhy_meter_name(meter), index, does);
}

static enum kwhy_status refuse_unit(
	double power_mw, int32_t index, enum kwhy_meter meter, const char *path, struct kwhy_error *error)
{
	if (kwhy_meter_is_counter(meter))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s: %s of device %" PRId32
			" tells of %.3g mW on average, and no GPU idles that low; if it counts joules, write "
			"%s",
			path, kwhy_meter_name(meter), index, power_mw,
			meter == KWHY_METER_ROCM_ENERGY ? "microjoules" : "millijoules");
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s: no reading of %s of device %" PRId32
		" is above %.0f mW, and no GPU idles that low; if these are watts, write milliwatts",
		path, kwhy_meter_name(meter), index, power_mw);
}

/* Of its memory alone a GPU may draw little. */
static enum kwhy_status check_level(struct kwhy_power_books *device_ledger, uint32_t device,
	enum kwhy_meter meter, struct kwhy_error *error)
{
	const struct kwhy_power_level *level = level_of(device_ledger, device, meter);
	const bool may_be_little = meter == KWHY_METER_NVML_MEMORY_AVERAGE;
	double power_mw = kwhy_power_level_too_low_mw(level, meter);

	if (!may_be_little && kwhy_power_level_is_dead(level, meter))
		return leave_out(device_ledger, device, meter, error);
	if (!may_be_little && !isnan(power_mw))
		return refuse_unit(power_mw, device_ledger->recording->devices[device].index, meter,
			device_ledger->path, error);
	kwhy_power_window_add(&device_ledger->window, level->start_ns);
	kwhy_power_window_add(&device_ledger->window, level->end_ns);
	return KWHY_OK;
}

static enum kwhy_status check_levels(struct kwhy_power_books *device_ledger, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t device = 0; !status && device < device_ledger->recording->device_count; device++)
		for (enum kwhy_meter meter = 0; !status && meter < KWHY_METER_COUNT; meter++)
			if (level_of(device_ledger, device, meter)->readings)
				status = check_level(device_ledger, device, meter, error);
	return status;
}

enum kwhy_status kwhy_power_books_close(struct kwhy_power_books *device_ledger, struct kwhy_error *error)
{
	enum kwhy_status status = check_levels(device_ledger, error);

	if (!status)
		status = kwhy_identity_check_power(device_ledger->recording,
			&(struct kwhy_power_file){
				device_ledger->path, device_ledger->readings, device_ledger->digest},
			error);
	return status ? status
		      : kwhy_power_window_check(
				&device_ledger->window, device_ledger->recording, device_ledger->path, error);
}
