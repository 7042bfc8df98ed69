/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_view.h"

#include "ledger/saturate.h"
#include "model/response.h"

#include <math.h>
#include <stdlib.h>

/*
 * A moment at which the sweep reads the power classes' levels (filtered_levels.h). The value read, times
 * `factor`, is added to the sum of an interval. For a counter, and between power samples, the sum of an
 * interval is the integral of the filtered level: that up to its end (factor 1) minus that up to its start
 * (factor -1). Between two readings of trailing means, it is the interval's length times the mean of both
 * readings; each reading is such a difference over its averaging window.
 */
struct look {
	int64_t time_ns;
	uint32_t interval;
	float factor;
	bool is_sharp; /* true: read the integral of the level itself; false: that of the level after the
			  meter's low-pass */
};

struct viewing {
	struct kwhy_metered_view *view;
	struct look *looks;
	size_t count;
	double delay_s, tau_s;
};

static int compare_looks(const void *a, const void *b)
{
	const struct look *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	if (left->interval != right->interval)
		return left->interval < right->interval ? -1 : 1;
	return (left->factor > right->factor) - (left->factor < right->factor);
}

static void add_look(struct viewing *viewing, size_t interval, int64_t time_ns, double factor)
{
	int64_t seen_ns;

	if (__builtin_sub_overflow(time_ns, llround(viewing->delay_s * 1e9), &seen_ns))
		seen_ns = INT64_MIN;
	viewing->looks[viewing->count++] = (struct look){seen_ns, (uint32_t)interval, (float)factor, false};
}

/*
 * Adds a start or end of an interval that coincides with a start or end of the recording (starts_sharp,
 * ends_sharp). time_ns is that moment plus the meter's lag (delay plus time constant). The lag is subtracted
 * again, and the level is read without the meter's low-pass.
 */
static void add_sharp(struct viewing *viewing, size_t interval, int64_t time_ns, double factor)
{
	int64_t tau_ns = llround(viewing->tau_s * 1e9);

	add_look(viewing, interval, kwhy_saturate_add(time_ns, -tau_ns), factor);
	viewing->looks[viewing->count - 1].is_sharp = true;
}

static void add_edge(struct viewing *viewing, size_t interval, int64_t time_ns, double factor, bool is_sharp)
{
	if (is_sharp)
		add_sharp(viewing, interval, time_ns, factor);
	else
		add_look(viewing, interval, time_ns, factor);
}

static void add_mean(
	struct viewing *viewing, size_t interval, int64_t time_ns, int64_t length_ns, int64_t window_ns)
{
	double factor = (double)length_ns / (2 * (double)window_ns);
	int64_t from_ns;

	if (__builtin_sub_overflow(time_ns, window_ns, &from_ns))
		from_ns = INT64_MIN / 2;
	add_look(viewing, interval, from_ns, -factor);
	add_look(viewing, interval, time_ns, factor);
}

static void list_looks(
	struct viewing *viewing, const struct kwhy_metered_total *total, const struct kwhy_profile *profile)
{
	const struct kwhy_response response = kwhy_response_of_profile(total->meter, profile);
	const int64_t window_ns = llround(response.average_window_s * 1e9);

	for (size_t i = 0; i < total->count; i++) {
		const struct kwhy_metered_interval *interval = &total->intervals[i];
		int64_t length_ns = interval->end_ns - interval->start_ns;

		if (kwhy_meter_is_mean(total->meter) && !total->is_deconvolved) {
			add_mean(viewing, i, interval->start_ns, length_ns, window_ns);
			add_mean(viewing, i, interval->end_ns, length_ns, window_ns);
		} else {
			add_edge(viewing, i, interval->start_ns, -1, i == 0 && total->starts_sharp);
			add_edge(viewing, i, interval->end_ns, 1, i + 1 == total->count && total->ends_sharp);
		}
	}
	qsort(viewing->looks, viewing->count, sizeof(*viewing->looks), compare_looks);
}

static void visit(void *context, const struct kwhy_filtered_levels *response, size_t readout)
{
	struct viewing *viewing = context;
	const struct look *look = &viewing->looks[readout];
	size_t channels = response->channel_count;
	double *seen_s = viewing->view->seen_s + look->interval * channels;

	for (size_t c = 0; c < channels; c++) {
		double filtered = response->level[c] - response->lag[c];

		seen_s[c] += (double)look->factor *
			(response->area_s[c] - (look->is_sharp ? 0 : response->tau_s[0] * filtered));
	}
}

static enum kwhy_status walk_looks(struct viewing *viewing, const struct kwhy_powers_question *question,
	double tau_s, struct kwhy_error *error)
{
	int64_t *times_ns = calloc(viewing->count + 1, sizeof(*times_ns));
	struct kwhy_response_walk walk = {
		.recording = question->recording,
		.device_ledger = question->device_ledger,
		.classes = question->classes,
		.covered = question->covered,
		.device = question->device,
		.sm_count = kwhy_power_sm_count(
			question->recording, question->device, question->options->profile),
		.with_base = true,
		.tau_count = 1,
		.tau_s = {tau_s},
		.times_ns = times_ns,
		.readout_count = viewing->count,
		.visit = visit,
		.context = viewing,
	};
	enum kwhy_status status;

	if (!times_ns)
		return kwhy_fail_memory(error, "metered intervals");
	for (size_t i = 0; i < viewing->count; i++)
		times_ns[i] = viewing->looks[i].time_ns;
	status = kwhy_response_walk(&walk, error);
	free(times_ns);
	return status;
}

/*
 * Sums the seconds of elevated idle time in each metered interval, and the joules drawn in them. Intervals
 * are moved earlier by the meter's delay. The meter's low-pass is neglected, since about as much energy
 * leaves an interval at its end as enters it at its start.
 */
static void see_elevated_idle(struct kwhy_metered_view *view, const struct kwhy_metered_total *total,
	const struct kwhy_device_ledger *device_ledger, double delay_s)
{
	const int64_t delay_ns = llround(delay_s * 1e9);

	for (size_t i = 0; i < total->count; i++)
		for (size_t k = 0; k < device_ledger->elevated_idle_count; k++) {
			const struct kwhy_elevated_idle *stretch = &device_ledger->elevated_idle[k];
			int64_t start_ns = kwhy_saturate_add(total->intervals[i].start_ns, -delay_ns);
			int64_t end_ns = kwhy_saturate_add(total->intervals[i].end_ns, -delay_ns);

			start_ns = start_ns > stretch->start_ns ? start_ns : stretch->start_ns;
			end_ns = end_ns < stretch->end_ns ? end_ns : stretch->end_ns;
			if (start_ns >= end_ns)
				continue;
			view->elevated_s[i] += (double)(end_ns - start_ns) * 1e-9;
			view->elevated_j[i] += (double)(end_ns - start_ns) * 1e-9 * stretch->power_w;
		}
}

enum kwhy_status kwhy_metered_view_init(struct kwhy_metered_view *view,
	const struct kwhy_metered_total *total, const struct kwhy_powers_question *question, double tau_s,
	double delay_s, struct kwhy_error *error)
{
	size_t channels = KWHY_METERED_CHANNELS(question->classes->count);
	struct viewing viewing = {.view = view, .delay_s = delay_s, .tau_s = tau_s};
	enum kwhy_status status = KWHY_OK;

	*view = (struct kwhy_metered_view){
		.interval_count = total->count,
		.class_count = question->classes->count,
		.seen_s = calloc(total->count * channels + 1, sizeof(*view->seen_s)),
		.elevated_s = calloc(total->count + 1, sizeof(*view->elevated_s)),
		.elevated_j = calloc(total->count + 1, sizeof(*view->elevated_j)),
	};
	viewing.looks = calloc(4 * total->count + 1, sizeof(*viewing.looks));
	if (!view->seen_s || !view->elevated_s || !view->elevated_j || !viewing.looks)
		status = kwhy_fail_memory(error, "metered intervals");
	if (!status) {
		list_looks(&viewing, total, question->options->profile);
		status = walk_looks(&viewing, question, tau_s, error);
	}
	for (size_t i = 0; !status && i < total->count * channels; i++)
		view->seen_s[i] = fmax(0, view->seen_s[i]);
	if (!status)
		see_elevated_idle(view, total, question->device_ledger, delay_s);
	free(viewing.looks);
	if (status)
		kwhy_metered_view_done(view);
	return status;
}

void kwhy_metered_view_done(struct kwhy_metered_view *view)
{
	free(view->seen_s);
	free(view->elevated_s);
	free(view->elevated_j);
	*view = (struct kwhy_metered_view){0};
}

double kwhy_metered_view_class_nj(
	const struct kwhy_metered_view *view, size_t interval, const struct kwhy_powers *powers, size_t class)
{
	const double *seen_s = view->seen_s + interval * KWHY_METERED_CHANNELS(view->class_count);
	double energy_j = seen_s[class] * powers->net_w[class] +
		seen_s[view->class_count + class] * powers->idle_w;

	return fmax(0, energy_j * 1e9);
}

double kwhy_metered_view_energy_nj(const struct kwhy_metered_view *view, size_t interval,
	const struct kwhy_powers *powers, double *out_nj)
{
	size_t classes = view->class_count;
	const double *seen_s = view->seen_s + interval * KWHY_METERED_CHANNELS(classes);
	double more_j = view->elevated_j[interval] - view->elevated_s[interval] * powers->idle_w;
	double sum_nj = fmax(0, (seen_s[2 * classes] * powers->idle_w + more_j) * 1e9);

	out_nj[classes] = sum_nj;
	for (size_t c = 0; c < classes; c++) {
		out_nj[c] = kwhy_metered_view_class_nj(view, interval, powers, c);
		sum_nj += out_nj[c];
	}
	return sum_nj;
}
