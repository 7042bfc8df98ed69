/* SPDX-License-Identifier: Apache-2.0 */
#include "import/power/intake.h"

#include "base/plural.h"

#include "import/identity.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum kwhy_status kwhy_power_intake_init(struct kwhy_power_intake *intake, struct kwhy_recording *recording,
	const char *path, struct kwhy_error *error)
{
	*intake = (struct kwhy_power_intake){.recording = recording, .path = path};
	intake->levels = calloc(recording->device_count * KWHY_METER_COUNT + 1, sizeof(*intake->levels));
	return intake->levels ? KWHY_OK : kwhy_fail_memory(error, "reading power");
}

void kwhy_power_intake_done(struct kwhy_power_intake *intake)
{
	free(intake->levels);
}

static struct kwhy_power_level *level_of(
	const struct kwhy_power_intake *intake, uint32_t device, enum kwhy_meter meter)
{
	return &intake->levels[(size_t)device * KWHY_METER_COUNT + meter];
}

/*
 * Adds a reading. If it is of a meter of the host (device KWHY_NONE), the meter belongs to the recording's
 * machine; if the recording has no or several machines, the meter's machine is unknown.
 */
enum kwhy_status kwhy_power_intake_add(struct kwhy_power_intake *intake,
	const struct kwhy_power_intake_row *reading, struct kwhy_error *error)
{
	const bool is_known = reading->device == KWHY_NONE && intake->recording->machine_count == 1;
	const struct kwhy_power_source source = {.meter = reading->meter,
		.device = reading->device,
		.domain = reading->domain,
		.machine = is_known ? 0 : KWHY_NONE};

	if (reading->device == KWHY_NONE)
		kwhy_power_window_add(&intake->window, reading->time_ns);
	else
		kwhy_power_level_add(
			level_of(intake, reading->device, reading->meter), reading->time_ns, reading->value);
	intake->readings++;
	return kwhy_recording_add_power(intake->recording, &source, reading->time_ns, reading->value, error);
}

/*
 * Removes the readings of a dead meter from the recording and adds a note. A meter is dead if it always reads
 * 0 or, if it is a counter, does not change. Refuses the file if it has no other readings.
 */
static enum kwhy_status leave_out(
	struct kwhy_power_intake *intake, uint32_t device, enum kwhy_meter meter, struct kwhy_error *error)
{
	const struct kwhy_power_level *level = level_of(intake, device, meter);
	const char *does = kwhy_meter_is_counter(meter) ? "does not move" : "reads 0 throughout";
	const int32_t index = intake->recording->devices[device].index;

	intake->readings -= level->readings;
	if (intake->readings == 0)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s: %s of device %" PRId32 " %s, and no GPU draws nothing; record power again",
			intake->path, kwhy_meter_name(meter), index, does);
	kwhy_recording_drop_power(intake->recording, meter, device, level->readings);
	return kwhy_recording_add_note(intake->recording, KWHY_NOTE_WARNING, "dead-meter", error,
		"%s: %s of device %" PRId32 " %s, and no GPU draws nothing: it is left out.", intake->path,
		kwhy_meter_name(meter), index, does);
}

static enum kwhy_status refuse_unit(
	double power_mw, int32_t index, enum kwhy_meter meter, const char *path, struct kwhy_error *error)
{
	if (kwhy_meter_is_counter(meter))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s: %s of device %" PRId32
			" tells of %.3g mW on average, and no GPU idles that low; if it counts joules, write "
			"%s",
			path, kwhy_meter_name(meter), index, power_mw, kwhy_meter_unit_name(meter));
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s: no reading of %s of device %" PRId32
		" is above %.0f mW, and no GPU idles that low; if these are watts, write milliwatts",
		path, kwhy_meter_name(meter), index, power_mw);
}

/*
 * Leaves out a dead meter, refuses a file with a power below that of any GPU, which is probably in another
 * unit, and extends the file's window by the times of the meter. The powers of a meter of a GPU's memory are
 * not checked, because memory may draw little.
 */
static enum kwhy_status check_level(
	struct kwhy_power_intake *intake, uint32_t device, enum kwhy_meter meter, struct kwhy_error *error)
{
	const struct kwhy_power_level *level = level_of(intake, device, meter);
	const bool may_be_little = kwhy_meter_row(meter)->owner == KWHY_METER_OWNER_GPU_MEMORY;
	double power_mw = kwhy_power_level_too_low_mw(level, meter);

	if (!may_be_little && kwhy_power_level_is_dead(level, meter))
		return leave_out(intake, device, meter, error);
	if (!may_be_little && !isnan(power_mw))
		return refuse_unit(
			power_mw, intake->recording->devices[device].index, meter, intake->path, error);
	kwhy_power_window_add(&intake->window, level->start_ns);
	kwhy_power_window_add(&intake->window, level->end_ns);
	return KWHY_OK;
}

static enum kwhy_status check_levels(struct kwhy_power_intake *intake, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t device = 0; !status && device < intake->recording->device_count; device++)
		for (enum kwhy_meter meter = 0; !status && meter < KWHY_METER_COUNT; meter++)
			if (level_of(intake, device, meter)->readings)
				status = check_level(intake, device, meter, error);
	return status;
}

enum kwhy_status kwhy_power_intake_close(struct kwhy_power_intake *intake, struct kwhy_error *error)
{
	enum kwhy_status status = check_levels(intake, error);

	if (!status)
		status = kwhy_identity_check_power(intake->recording,
			&(struct kwhy_power_file){intake->path, intake->readings, intake->digest}, error);
	return status ? status
		      : kwhy_power_window_check(&intake->window, intake->recording, intake->path, error);
}

enum kwhy_status kwhy_power_intake_note_elsewhere(
	const struct kwhy_power_intake *intake, uint64_t readings, struct kwhy_error *error)
{
	if (readings == 0)
		return KWHY_OK;
	return kwhy_recording_add_note(intake->recording, KWHY_NOTE_WARNING, "power-of-other-devices", error,
		"%s: %" PRIu64 " %s not in the trace %s left out.", intake->path, readings,
		kwhy_plural(readings, "reading of a device that is", "readings of devices that are"),
		kwhy_plural(readings, "was", "were"));
}
