/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_apportion.h"

#include "ledger/energy/apportion.h"
#include "ledger/energy/energy_lag.h"

#include <math.h>
#include <stdlib.h>

#define CHECKED_MIN 3

/*
 * POWERS_SPREAD: relative standard deviation of the energy predicted for recorded time. UNRECORDED_SPREAD: of
 * the power of unrecorded time. If an interval has recorded and unrecorded time, the difference between its
 * metered and its predicted energy is divided between these in proportion to the variances of their predicted
 * energies.
 */
#define POWERS_SPREAD 0.03
#define UNRECORDED_SPREAD 0.5

static enum kwhy_status apportioned_allocate(
	struct kwhy_apportioned *apportioned, size_t classes, size_t intervals, struct kwhy_error *error)
{
	*apportioned = (struct kwhy_apportioned){
		.class_count = classes,
		.gross_nj = calloc(classes + 2, sizeof(int64_t)),
		.net_s = calloc(classes + 2, sizeof(double)),
		.base_s = calloc(classes + 2, sizeof(double)),
		.base_unscaled_s = calloc(classes + 2, sizeof(double)),
		.scale = calloc(intervals + 1, sizeof(double)),
		.unrecorded_nj = calloc(intervals + 1, sizeof(double)),
	};
	if (apportioned->gross_nj && apportioned->net_s && apportioned->base_s &&
		apportioned->base_unscaled_s && apportioned->scale && apportioned->unrecorded_nj)
		return KWHY_OK;
	kwhy_apportioned_done(apportioned);
	return kwhy_fail_memory(error, "the ledger");
}

void kwhy_apportioned_done(struct kwhy_apportioned *apportioned)
{
	free(apportioned->gross_nj);
	free(apportioned->net_s);
	free(apportioned->base_s);
	free(apportioned->base_unscaled_s);
	free(apportioned->scale);
	free(apportioned->unrecorded_nj);
	*apportioned = (struct kwhy_apportioned){0};
}

static void add_seen(
	struct kwhy_apportioned *apportioned, const struct kwhy_metered_view *view, size_t interval)
{
	size_t classes = view->class_count;
	const double *seen_s = view->seen_s + interval * KWHY_METERED_CHANNELS(classes);
	double scale = apportioned->scale[interval];

	for (size_t c = 0; c < classes; c++)
		apportioned->net_s[c] += scale * seen_s[c];
	for (size_t c = 0; c <= classes; c++) {
		apportioned->base_s[c] += scale * seen_s[classes + c];
		apportioned->base_unscaled_s[c] += seen_s[classes + c];
	}
}

/* State while the metered intervals are divided. */
struct dividing {
	struct kwhy_apportioned *apportioned;
	const struct kwhy_metered_total *total;
	const struct kwhy_metered_view *view;
	const struct kwhy_powers *powers;
	struct kwhy_apportioner apportioner;
	double *modelled_nj; /* [class_count + 2] predicted energy of the current interval: by power class, of
				idle time, of unrecorded time */
	double unrecorded_w; /* Mean power of unrecorded time: (the energy of all intervals with unrecorded
				time, minus the energy predicted for power classes and idle in them) / the
				length of the unrecorded time. */
	double recorded_nj,
		decided_nj; /* sums over the intervals. recorded_nj: energy predicted for recorded time;
			       decided_nj: the part of recorded_nj that the meter determines */
};

static enum kwhy_status dividing_init(struct dividing *dividing, struct kwhy_error *error)
{
	double left_nj = 0, unrecorded_s = 0;

	dividing->modelled_nj = calloc(dividing->view->class_count + 2, sizeof(double));
	if (!dividing->modelled_nj)
		return kwhy_fail_memory(error, "the ledger");
	for (size_t i = 0; i < dividing->total->count; i++) {
		double unrecorded = kwhy_metered_view_unrecorded_s(dividing->view, i);

		if (!(unrecorded > 0))
			continue;
		unrecorded_s += unrecorded;
		left_nj += (double)dividing->total->intervals[i].energy_nj -
			kwhy_metered_view_energy_nj(
				dividing->view, i, dividing->powers, dividing->modelled_nj);
	}
	dividing->unrecorded_w = unrecorded_s > 0 ? fmax(left_nj * 1e-9 / unrecorded_s, 0) : 0;
	return kwhy_apportioner_init(&dividing->apportioner, dividing->view->class_count + 2, error);
}

static void dividing_done(struct dividing *dividing)
{
	kwhy_apportioner_done(&dividing->apportioner);
	free(dividing->modelled_nj);
}

/*
 * Returns the part of an interval's metered energy, energy_nj, that goes to recorded time (power classes and
 * idle). recorded_nj and unrecorded_nj are the energies predicted for recorded and for unrecorded time. If
 * unrecorded_nj is 0, recorded time gets all energy.
 */
static double recorded_part(
	struct dividing *dividing, double recorded_nj, double unrecorded_nj, double energy_nj)
{
	double ours = pow(POWERS_SPREAD * recorded_nj, 2), theirs = pow(UNRECORDED_SPREAD * unrecorded_nj, 2);
	double share = ours > 0 ? ours / (ours + theirs) : 0;

	dividing->recorded_nj += recorded_nj;
	dividing->decided_nj += unrecorded_nj > 0 ? share * recorded_nj : recorded_nj;
	if (!(unrecorded_nj > 0))
		return energy_nj;
	return fmin(fmax(recorded_nj + share * (energy_nj - recorded_nj - unrecorded_nj), 0), energy_nj);
}

static void divide_interval(struct dividing *dividing, size_t i)
{
	struct kwhy_apportioned *apportioned = dividing->apportioned;
	size_t classes = apportioned->class_count;
	double unrecorded_s = kwhy_metered_view_unrecorded_s(dividing->view, i);
	double recorded_nj = kwhy_metered_view_energy_nj(
		dividing->view, i, dividing->powers, dividing->modelled_nj);
	int64_t energy_nj = dividing->total->intervals[i].energy_nj;
	double part_nj = recorded_part(
		dividing, recorded_nj, dividing->unrecorded_w * unrecorded_s * 1e9, (double)energy_nj);

	apportioned->scale[i] = recorded_nj > 0 ? part_nj / recorded_nj : NAN;
	for (size_t c = 0; c <= classes && unrecorded_s > 0 && recorded_nj > 0; c++)
		dividing->modelled_nj[c] *= part_nj / recorded_nj;
	apportioned->unrecorded_nj[i] = unrecorded_s > 0 ? (double)energy_nj - part_nj : 0;
	dividing->modelled_nj[classes + 1] = apportioned->unrecorded_nj[i];
	kwhy_apportion(&dividing->apportioner, energy_nj, dividing->modelled_nj, classes + 2,
		unrecorded_s > 0 ? classes + 1 : classes, apportioned->gross_nj);
	apportioned->base_unscaled_s[classes + 1] += unrecorded_s;
	if (recorded_nj > 0)
		add_seen(apportioned, dividing->view, i);
}

enum kwhy_status kwhy_apportioned_init(struct kwhy_apportioned *apportioned,
	const struct kwhy_metered_total *total, const struct kwhy_metered_view *view,
	const struct kwhy_powers *powers, struct kwhy_error *error)
{
	struct dividing dividing = {
		.apportioned = apportioned, .total = total, .view = view, .powers = powers};
	enum kwhy_status status = apportioned_allocate(apportioned, view->class_count, total->count, error);

	if (!status)
		status = dividing_init(&dividing, error);
	for (size_t i = 0; !status && i < total->count; i++)
		divide_interval(&dividing, i);
	if (!status)
		apportioned->metered_ratio = dividing.recorded_nj > 0
			? dividing.decided_nj / dividing.recorded_nj
			: 1;
	dividing_done(&dividing);
	if (status)
		kwhy_apportioned_done(apportioned);
	return status;
}

bool kwhy_apportioned_is_covered(
	const struct kwhy_metered_view *view, const struct kwhy_metered_interval *interval, size_t at)
{
	size_t classes = view->class_count;
	const double *base_s = view->seen_s + at * KWHY_METERED_CHANNELS(classes) + classes;
	double sum_s = 0;

	for (size_t c = 0; c <= classes; c++)
		sum_s += base_s[c];
	return sum_s > 0.999e-9 * (double)(interval->end_ns - interval->start_ns);
}

enum kwhy_status kwhy_apportioned_check(const struct kwhy_metered_total *total,
	const struct kwhy_powers_question *question, const struct kwhy_powers *powers, double *out_ratio,
	struct kwhy_error *error)
{
	struct kwhy_metered_view view;
	double *modelled_nj, squares = 0, length_ns = 0, delay_s;
	size_t count = 0;
	enum kwhy_status status = kwhy_energy_lag_find(total, question, powers, &delay_s, error);

	if (!status)
		status = kwhy_metered_view_init(&view, total, question, powers->tau_s, delay_s, error);
	if (status)
		return status;
	modelled_nj = calloc(view.class_count + 1, sizeof(*modelled_nj));
	for (size_t i = 0; modelled_nj && i < total->count; i++) {
		const struct kwhy_metered_interval *interval = &total->intervals[i];
		const double each_ns = (double)(interval->end_ns - interval->start_ns);
		double sum_nj = kwhy_metered_view_energy_nj(&view, i, powers, modelled_nj);

		/*
		 * Left out: intervals with unrecorded time, and those before the first activity or call.
		 * Before the first activity or call, the device may have had no context, but the predicted
		 * idle level is that with a context. These intervals are not left out if time without a
		 * context was found, because the prediction then takes it into account.
		 */
		if (interval->energy_nj <= 0 ||
			(!question->device_ledger->clean_count &&
				interval->start_ns < question->recording->start_ns) ||
			!kwhy_apportioned_is_covered(&view, interval, i))
			continue;
		squares += each_ns * pow(sum_nj / (double)interval->energy_nj - 1, 2);
		length_ns += each_ns;
		count++;
	}
	kwhy_metered_view_done(&view);
	if (!modelled_nj)
		return kwhy_fail_memory(error, "metered intervals");
	free(modelled_nj);
	*out_ratio = count >= CHECKED_MIN ? sqrt(squares / length_ns) : NAN;
	return KWHY_OK;
}
