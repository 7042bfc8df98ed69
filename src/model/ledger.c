/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ledger.h"

#include <math.h>

/*
 * Length of an interval in nanoseconds, each nanosecond weighted by the ratio of metered to modelled energy
 * at its time (the energy curve), or by unmetered_scale where the curve has no ratio. If the device has no
 * curve, the weight is 1.
 */
static double scaled_ns(const struct kwhy_energy_curve *curve, int64_t start_ns, int64_t end_ns)
{
	const double unmetered = curve->count ? curve->unmetered_scale : 1;
	double sum_ns = unmetered * ((double)end_ns - (double)start_ns);
	size_t piece = kwhy_energy_curve_piece(curve, start_ns);

	if (piece == curve->count && curve->count > 0 && start_ns < curve->edge_ns[0])
		piece = 0;
	for (; piece < curve->count && curve->edge_ns[piece] < end_ns; piece++) {
		int64_t from_ns = curve->edge_ns[piece], to_ns = curve->edge_ns[piece + 1];

		from_ns = from_ns < start_ns ? start_ns : from_ns;
		to_ns = to_ns > end_ns ? end_ns : to_ns;
		if (to_ns > from_ns && !isnan(curve->scale[piece]))
			sum_ns += (curve->scale[piece] - unmetered) * (double)(to_ns - from_ns);
	}
	return sum_ns;
}

double kwhy_ledger_activity_nj(
	const struct kwhy_ledger *ledger, const struct kwhy_recording *recording, size_t activity)
{
	uint32_t device = kwhy_recording_device_of(recording, activity);
	const struct kwhy_device_ledger *device_ledger = &ledger->devices[device];
	size_t row = activity - recording->activities.first[device];
	uint32_t class;

	if (!device_ledger->energy.known)
		return NAN;
	class = device_ledger->accounts[device_ledger->account_of[row]].power_class;
	if (class == KWHY_NONE)
		return NAN;
	return device_ledger->classes[class].power_w *
		scaled_ns(&device_ledger->curve, recording->activities.start_ns[activity],
			recording->activities.end_ns[activity]);
}

double kwhy_ledger_idle_nj(
	const struct kwhy_ledger *ledger, uint32_t device, int64_t start_ns, int64_t end_ns)
{
	const struct kwhy_device_ledger *device_ledger = &ledger->devices[device];

	if (!device_ledger->energy.known || end_ns < start_ns)
		return NAN;
	return device_ledger->energy.context_idle_w * scaled_ns(&device_ledger->curve, start_ns, end_ns);
}
