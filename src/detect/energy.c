/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/energy.h"

#include "model/run_energy.h"

#include <math.h>

/*
 * Sets idle_low_ratio and idle_high_ratio: the sums of the lower and of the upper ends of the idle accounts'
 * intervals, divided by the sum of their energies; NAN: none has a known interval.
 */
static void idle_interval(struct kwhy_energy_source *source, const struct kwhy_device_ledger *ledger)
{
	double gross = 0, low = 0, high = 0;

	for (size_t i = 0; i < ledger->account_count; i++) {
		const struct kwhy_account *account = &ledger->accounts[i];

		if (!kwhy_category_is_idle(account->category) || account->gross_nj <= 0 ||
			account->low_nj == KWHY_UNKNOWN_NJ || account->high_nj == KWHY_UNKNOWN_NJ)
			continue;
		gross += (double)account->gross_nj;
		low += (double)account->low_nj;
		high += (double)account->high_nj;
	}
	source->idle_low_ratio = gross > 0 ? low / gross : NAN;
	source->idle_high_ratio = gross > 0 ? high / gross : NAN;
}

void kwhy_energy_source_init(
	struct kwhy_energy_source *source, const struct kwhy_detect_view *view, uint32_t device)
{
	*source = (struct kwhy_energy_source){.view = view, .device = device, .recorded_nj = NAN};
	if (!view->ledger || device >= view->ledger->device_count)
		return;
	source->recorded_nj = kwhy_run_energy_of(&view->ledger->devices[device]).recorded_nj;
	source->known = !isnan(source->recorded_nj);
	if (source->known)
		idle_interval(source, &view->ledger->devices[device]);
}

static bool rate_holds(const struct kwhy_energy_source *source, int64_t start_ns, int64_t end_ns)
{
	return start_ns >= source->rate_start_ns && end_ns <= source->rate_end_ns &&
		source->rate_end_ns > source->rate_start_ns;
}

static double idle_nj(struct kwhy_energy_source *source, int64_t start_ns, int64_t end_ns)
{
	const struct kwhy_ledger *ledger = source->view->ledger;
	const struct kwhy_energy_curve *curve = &ledger->devices[source->device].curve;
	size_t piece = rate_holds(source, start_ns, end_ns) ? curve->count
							    : kwhy_energy_curve_piece(curve, start_ns);

	if (piece < curve->count) {
		source->rate_start_ns = curve->edge_ns[piece];
		source->rate_end_ns = curve->edge_ns[piece + 1];
		source->idle_nj_per_ns = kwhy_ledger_idle_nj(ledger, source->device, source->rate_start_ns,
						 source->rate_end_ns) /
			(double)(source->rate_end_ns - source->rate_start_ns);
	}
	if (rate_holds(source, start_ns, end_ns))
		return source->idle_nj_per_ns * (double)(end_ns - start_ns);
	return kwhy_ledger_idle_nj(ledger, source->device, start_ns, end_ns);
}

void kwhy_energy_add_idle(struct kwhy_energy_ci90 *energy, struct kwhy_energy_source *source,
	int64_t start_ns, int64_t end_ns, double share)
{
	double nj = source->known ? idle_nj(source, start_ns, end_ns) * share : NAN;

	energy->nj += nj;
	energy->low_nj += nj * source->idle_low_ratio;
	energy->high_nj += nj * source->idle_high_ratio;
}

static double bound_ratio(int64_t bound_nj, int64_t gross_nj)
{
	return bound_nj == KWHY_UNKNOWN_NJ ? NAN : (double)bound_nj / (double)gross_nj;
}

/*
 * Ends of the 90 % interval of an account's energy, divided by that energy. If none of the account's work was
 * metered, the ends of the interval of its power class's power, divided by that power. Unchanged if nothing
 * of the account was metered and it has no power class.
 */
static void work_interval(const struct kwhy_device_ledger *ledger, const struct kwhy_account *account,
	double *out_low_ratio, double *out_high_ratio)
{
	if (account->gross_nj > 0) {
		*out_low_ratio = bound_ratio(account->low_nj, account->gross_nj);
		*out_high_ratio = bound_ratio(account->high_nj, account->gross_nj);
	} else if (account->power_class != KWHY_NONE) {
		const struct kwhy_power_class *class = &ledger->classes[account->power_class];

		*out_low_ratio = class->low_w / class->power_w;
		*out_high_ratio = class->high_w / class->power_w;
	}
}

void kwhy_energy_add_activity(
	struct kwhy_energy_ci90 *energy, const struct kwhy_energy_source *source, size_t row, double share)
{
	const struct kwhy_detect_view *view = source->view;
	double nj = source->known ? kwhy_ledger_activity_nj(view->ledger, view->recording, row) * share : NAN;
	double low_ratio = NAN, high_ratio = NAN;

	if (source->known) {
		const struct kwhy_device_ledger *ledger = &view->ledger->devices[source->device];
		const struct kwhy_account *account =
			&ledger->accounts[ledger->account_of[row - view->devices[source->device].begin]];

		work_interval(ledger, account, &low_ratio, &high_ratio);
	}
	energy->nj += nj;
	energy->low_nj += nj * low_ratio;
	energy->high_nj += nj * high_ratio;
}

struct kwhy_energy_ci90 kwhy_energy_idle_mean(const struct kwhy_energy_source *source, double length_ns)
{
	const struct kwhy_device_view *device = &source->view->devices[source->device];
	struct kwhy_energy_source whole = *source;
	struct kwhy_energy_ci90 energy = {0};
	int64_t span_ns = device->last_ns - device->first_ns;

	if (span_ns > 0)
		kwhy_energy_add_idle(
			&energy, &whole, device->first_ns, device->last_ns, length_ns / (double)span_ns);
	return energy;
}

struct kwhy_energy_ci90 kwhy_energy_sum(
	struct kwhy_energy_ci90 a, double share_a, struct kwhy_energy_ci90 b, double share_b)
{
	return (struct kwhy_energy_ci90){
		.nj = a.nj * share_a + b.nj * share_b,
		.low_nj = a.low_nj * share_a + b.low_nj * share_b,
		.high_nj = a.high_nj * share_a + b.high_nj * share_b,
	};
}

int64_t kwhy_energy_round(double nj, double limit_nj)
{
	if (isnan(nj))
		return KWHY_UNKNOWN_NJ;
	return (int64_t)fmin(fmax(nj, 0), fmin(limit_nj, 0x1p62));
}
