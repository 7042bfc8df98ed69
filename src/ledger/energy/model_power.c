/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/model_power.h"

#include "ledger/energy/running_power.h"

#include <math.h>
#include <stdlib.h>

static enum kwhy_status open_curve(struct kwhy_ledger *ledger, uint32_t device, size_t bins,
	struct kwhy_power_curve *curve, struct kwhy_error *error)
{
	const struct kwhy_device_time *time = &ledger->devices[device].time;
	int64_t bin_ns = time->span_ns / (int64_t)bins + 1;

	curve->time_ns = kwhy_arena_alloc(&ledger->arena, bins + 1, sizeof(*curve->time_ns));
	curve->power_mw = kwhy_arena_alloc(&ledger->arena, bins + 1, sizeof(*curve->power_mw));
	if (!curve->time_ns || !curve->power_mw)
		return kwhy_fail_memory(error, "the modelled power");
	for (size_t i = 0; i <= bins; i++) {
		int64_t at_ns = time->first_ns + (int64_t)i * bin_ns;

		curve->time_ns[i] = at_ns < time->last_ns ? at_ns : time->last_ns;
		if (curve->time_ns[i] == time->last_ns) {
			curve->count = i + 1;
			break;
		}
	}
	return KWHY_OK;
}

/* Mean power in mW over the part of a bin whose energy is known, at least 0; -1: no part is. */
static int64_t mean_mw(double energy_nj, int64_t known_ns)
{
	double power_mw = energy_nj * 1e3 / (double)known_ns;

	if (known_ns <= 0)
		return -1;
	return power_mw > 0 ? llround(power_mw) : 0;
}

static enum kwhy_status fill_curve(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	uint32_t device, struct kwhy_power_curve *curve, struct kwhy_error *error)
{
	struct kwhy_running_power running = {.ledger = ledger, .recording = recording, .device = device};
	struct kwhy_sweep sweep;
	struct kwhy_sweep_interval stretch;
	double energy_nj = 0;
	int64_t known_ns = 0;
	size_t bin = 0;
	int ended;

	kwhy_sweep_init(&sweep, recording, device, curve->time_ns[0], curve->time_ns[curve->count - 1],
		curve->time_ns, curve->count);
	while ((ended = kwhy_sweep_next(&sweep, &stretch, error)) == 0) {
		double stretch_nj = kwhy_running_power_nj(&running, &stretch);

		energy_nj += isfinite(stretch_nj) ? stretch_nj : 0;
		known_ns += isfinite(stretch_nj) ? stretch.end_ns - stretch.start_ns : 0;
		if (bin + 1 < curve->count && stretch.end_ns == curve->time_ns[bin + 1]) {
			curve->power_mw[bin] = mean_mw(energy_nj, known_ns);
			energy_nj = 0;
			known_ns = 0;
			bin++;
		}
	}
	kwhy_sweep_done(&sweep);
	if (curve->count > 1)
		curve->power_mw[curve->count - 1] = curve->power_mw[curve->count - 2];
	return ended < 0 ? error->status : KWHY_OK;
}

enum kwhy_status kwhy_ledger_model_power(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	size_t bins, struct kwhy_power_curve **out, struct kwhy_error *error)
{
	struct kwhy_power_curve *curves = kwhy_arena_alloc(
		&ledger->arena, ledger->device_count + 1, sizeof(*curves));
	enum kwhy_status status = curves ? KWHY_OK : kwhy_fail_memory(error, "the modelled power");

	for (uint32_t d = 0; !status && d < ledger->device_count; d++) {
		if (!ledger->devices[d].energy.known || ledger->devices[d].time.span_ns <= 0)
			continue;
		status = open_curve(ledger, d, bins, &curves[d], error);
		if (!status)
			status = fill_curve(ledger, recording, d, &curves[d], error);
	}
	if (!status)
		*out = curves;
	return status;
}
