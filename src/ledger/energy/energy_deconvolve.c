/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_deconvolve.h"

#include "base/quantile.h"
#include "ledger/energy/deconvolve_solve.h"
#include "ledger/energy/energy_view.h"
#include "ledger/saturate.h"
#include "model/response.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * CELLS_MIN, CELLS_MAX: least and largest number of cells (short intervals of constant power) in the
 * averaging window of a reading. To limit time and memory, a recording with more than FINE_CELLS_MAX cells
 * gets CELLS_MIN a window; one with still more than ALL_CELLS_MAX is not deconvolved.
 */
#define CELLS_MIN 10
#define CELLS_MAX 20
#define FINE_CELLS_MAX 20000
#define ALL_CELLS_MAX 200000

/* Relative standard error of the run's energy from taking the power as constant within a cell. */
#define MODEL_SPREAD 6e-4

/* Readings up to this many averaging windows before and after the recorded time are used, too. */
#define OUTSIDE_WINDOWS 2

enum scale { LAG, STAMP, RECORDED, OUTSIDE, NOISE, LENGTH, SCALES };

enum { PASSES = 2 };
/* largest number of values of one parameter; number of combinations of values of all */
enum { VALUES_MAX = 9, POINTS = 9 * 3 * 4 * 2 * 3 * 2 };

/*
 * Values that are tried for each parameter of the model: LAG is the delay of the readings in seconds, the
 * others are fields of struct kwhy_deconvolve_scales. `first` is the index of the value that is tried first.
 */
static const struct {
	size_t count, first;
	double value[VALUES_MAX];
} tried[SCALES] = {
	[LAG] = {9, 0, {0, 4e-3, 8e-3, 12e-3, 17e-3, 25e-3, 40e-3, 60e-3, 80e-3}},
	[STAMP] = {3, 0, {0.5e-3, 5e-3, 30e-3}},
	[RECORDED] = {4, 1, {0.02, 0.08, 0.3, 1}},
	[OUTSIDE] = {2, 0, {0.02, 0.3}},
	[NOISE] = {3, 1, {0.03, 0.5, 3}},
	[LENGTH] = {2, 1, {0.2, 2}},
};

/*
 * Start or end of a window or cell. The energy predicted from origin_ns to time_ns is added to *sum, times
 * `sign` (1: end, -1: start); the two terms give the energy of the window or cell.
 */
struct look {
	int64_t time_ns;
	struct kwhy_deconvolve_prior *sum;
	double sign;
};

struct deconvolution {
	struct kwhy_metered_total *total;
	const struct kwhy_powers_question *question;
	const struct kwhy_powers *powers;
	const struct kwhy_power_series *series;
	int64_t window_ns, longest_ns; /* window_ns: length of the averaging window. longest_ns: longest time
					  between two readings that does not count as a gap */
	size_t first, end;	       /* indices of the readings in use: [first, end) */
	int64_t origin_ns; /* time in ns at which the times in seconds of cells and readings begin */
	int64_t *edges_ns; /* times that must be edges of cells */
	size_t edge_count;
	struct kwhy_deconvolve_cell *cells;
	int64_t *cell_ns; /* [cell_count + 1] starts of the cells, and the end of the last one */
	size_t cell_count;
	bool *is_seen; /* [cell_count] whether the cell lies in recorded time and in the window of at least
			  one reading */
	struct kwhy_deconvolve_reading *readings; /* [readings in use] readings at the current delay */
	struct kwhy_deconvolve_prior
		*priors; /* [delays tried * readings in use] predicted energy of each window at each delay */
	struct look *looks;
	size_t look_count;
	bool is_tried[POINTS];
	double best_log, weight;  /* best_log: largest log evidence so far. weight: sum over the tried
				     combinations of evidence / largest evidence */
	double *energy_j, *sum_j; /* [cell_count] energies for one combination of values; sums of the energies
				     for all of them, weighted by evidence */
	double run_j, run_j2;
};

static size_t reading_count(const struct deconvolution *deconvolution)
{
	return deconvolution->end - deconvolution->first;
}

static void choose_readings(struct deconvolution *deconvolution)
{
	const struct kwhy_power_series *series = deconvolution->series;
	const struct kwhy_window *hull = &deconvolution->question->covered->hull;
	const int64_t before_ns = OUTSIDE_WINDOWS * deconvolution->window_ns;
	size_t first = 0, end;

	while (first < series->count && series->time_ns[first] <= hull->start_ns - before_ns)
		first++;
	for (end = first; end < series->count &&
		series->time_ns[end] - deconvolution->window_ns < hull->end_ns + before_ns;)
		end++;
	deconvolution->first = first;
	deconvolution->end = end;
}

/*
 * Lists the moments at which a cell must begin or end, in order of time. These are the start and the end of
 * the recorded time, of the run, of the time from the first to the last averaging window of the readings, and
 * of each gap between these windows.
 */
static enum kwhy_status list_edges(struct deconvolution *deconvolution, struct kwhy_error *error)
{
	const struct kwhy_power_series *series = deconvolution->series;
	const struct kwhy_window *hull = &deconvolution->question->covered->hull;
	const struct kwhy_device_time *time = &deconvolution->question->device_ledger->time;
	const int64_t lag_ns = llround(tried[LAG].value[tried[LAG].count - 1] * 1e9);
	const int64_t seen_ns = series->time_ns[deconvolution->first] - deconvolution->window_ns;
	const int64_t last_ns = series->time_ns[deconvolution->end - 1];
	int64_t *edges_ns = calloc(2 * reading_count(deconvolution) + 8, sizeof(*edges_ns));
	size_t count = 0;

	if (!edges_ns)
		return kwhy_fail_memory(error, "metered intervals");
	edges_ns[count++] = hull->start_ns;
	edges_ns[count++] = hull->end_ns;
	edges_ns[count++] = time->first_ns;
	edges_ns[count++] = time->last_ns;
	edges_ns[count++] = seen_ns;
	edges_ns[count++] = last_ns;
	edges_ns[count++] = (seen_ns < hull->start_ns ? seen_ns : hull->start_ns) - lag_ns;
	for (size_t i = deconvolution->first + 1; i < deconvolution->end; i++) {
		int64_t from_ns = series->time_ns[i - 1],
			to_ns = series->time_ns[i] - deconvolution->window_ns;

		if (series->time_ns[i] - from_ns <= deconvolution->longest_ns || to_ns <= from_ns)
			continue;
		edges_ns[count++] = from_ns;
		edges_ns[count++] = to_ns;
	}
	kwhy_sort_integers(edges_ns, count);
	deconvolution->edges_ns = edges_ns;
	deconvolution->edge_count = count;
	return KWHY_OK;
}

static size_t parts_of(int64_t length_ns, int64_t cell_ns)
{
	return length_ns > 0 ? (size_t)((length_ns + cell_ns - 1) / cell_ns) : 0;
}

/* Length of a cell: half the mean time between readings, with CELLS_MIN to CELLS_MAX cells in a window. */
static int64_t cell_length_ns(const struct deconvolution *deconvolution)
{
	const struct kwhy_power_series *series = deconvolution->series;
	const int64_t usual_ns = (series->time_ns[deconvolution->end - 1] -
					 series->time_ns[deconvolution->first]) /
		(int64_t)(2 * reading_count(deconvolution));
	const int64_t least_ns = deconvolution->window_ns / CELLS_MAX,
		      most_ns = deconvolution->window_ns / CELLS_MIN;

	if (usual_ns < least_ns)
		return least_ns;
	return usual_ns < most_ns ? usual_ns : most_ns;
}

/* Whether a time lies outside all windows of readings: before the first, after the last, or in a gap. */
static bool in_hole(const struct deconvolution *deconvolution, int64_t time_ns)
{
	const struct kwhy_power_series *series = deconvolution->series;
	size_t low = deconvolution->first, high = deconvolution->end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (series->time_ns[middle] <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == deconvolution->end)
		return true;
	return time_ns < series->time_ns[low] - deconvolution->window_ns &&
		(low == deconvolution->first ||
			series->time_ns[low] - series->time_ns[low - 1] > deconvolution->longest_ns);
}

static void add_cell(struct deconvolution *deconvolution, int64_t start_ns, int64_t end_ns)
{
	const struct kwhy_window *hull = &deconvolution->question->covered->hull;
	const struct kwhy_device_time *time = &deconvolution->question->device_ledger->time;
	const size_t at = deconvolution->cell_count++;
	struct kwhy_deconvolve_cell *cell = &deconvolution->cells[at];

	*cell = (struct kwhy_deconvolve_cell){
		.start_s = (double)(start_ns - deconvolution->origin_ns) * 1e-9,
		.end_s = (double)(end_ns - deconvolution->origin_ns) * 1e-9,
		.is_recorded = start_ns >= hull->start_ns && end_ns <= hull->end_ns,
	};
	deconvolution->is_seen[at] = cell->is_recorded &&
		!in_hole(deconvolution, start_ns + (end_ns - start_ns) / 2);
	cell->is_counted = deconvolution->is_seen[at] && start_ns >= time->first_ns &&
		end_ns <= time->last_ns;
	deconvolution->cell_ns[at] = start_ns;
	deconvolution->cell_ns[at + 1] = end_ns;
}

static size_t count_cells(const struct deconvolution *deconvolution, int64_t length_ns)
{
	size_t count = 0;

	for (size_t i = 1; i < deconvolution->edge_count; i++)
		count += parts_of(deconvolution->edges_ns[i] - deconvolution->edges_ns[i - 1], length_ns);
	return count;
}

static enum kwhy_status allocate_cells(
	struct deconvolution *deconvolution, size_t count, struct kwhy_error *error)
{
	deconvolution->cells = calloc(count + 1, sizeof(*deconvolution->cells));
	deconvolution->cell_ns = calloc(count + 1, sizeof(*deconvolution->cell_ns));
	deconvolution->is_seen = calloc(count + 1, sizeof(*deconvolution->is_seen));
	deconvolution->energy_j = calloc(count + 1, sizeof(double));
	deconvolution->sum_j = calloc(count + 1, sizeof(double));
	if (deconvolution->cells && deconvolution->cell_ns && deconvolution->is_seen &&
		deconvolution->energy_j && deconvolution->sum_j)
		return KWHY_OK;
	return kwhy_fail_memory(error, "metered intervals");
}

static enum kwhy_status make_cells(struct deconvolution *deconvolution, struct kwhy_error *error)
{
	const int64_t *edges_ns = deconvolution->edges_ns;
	int64_t length_ns = cell_length_ns(deconvolution);
	enum kwhy_status status;

	if (count_cells(deconvolution, length_ns) > FINE_CELLS_MAX)
		length_ns = deconvolution->window_ns / CELLS_MIN;
	if (count_cells(deconvolution, length_ns) > ALL_CELLS_MAX)
		return KWHY_OK;
	status = allocate_cells(deconvolution, count_cells(deconvolution, length_ns), error);
	if (status)
		return status;
	deconvolution->origin_ns = edges_ns[0];
	for (size_t i = 1; i < deconvolution->edge_count; i++) {
		int64_t all_ns = edges_ns[i] - edges_ns[i - 1];
		size_t parts = parts_of(all_ns, length_ns);

		for (size_t k = 0; k < parts; k++)
			add_cell(deconvolution, edges_ns[i - 1] + all_ns * (int64_t)k / (int64_t)parts,
				edges_ns[i - 1] + all_ns * (int64_t)(k + 1) / (int64_t)parts);
	}
	return KWHY_OK;
}

/* Derivative of a window's energy with respect to the reading's time stamp, in J/s. */
static double slope_w(const struct deconvolution *deconvolution, size_t i)
{
	const struct kwhy_power_series *series = deconvolution->series;
	size_t before = i > deconvolution->first ? i - 1 : i, after = i + 1 < deconvolution->end ? i + 1 : i;
	double change_j = (double)(series->value[after] - series->value[before]) * 1e-3 *
		(double)deconvolution->window_ns * 1e-9;

	return after > before ? change_j / ((double)(series->time_ns[after] - series->time_ns[before]) * 1e-9)
			      : 0;
}

static enum kwhy_status make_readings(struct deconvolution *deconvolution, struct kwhy_error *error)
{
	const size_t count = reading_count(deconvolution);

	deconvolution->readings = calloc(count, sizeof(*deconvolution->readings));
	deconvolution->priors = calloc(count * tried[LAG].count, sizeof(*deconvolution->priors));
	if (!deconvolution->readings || !deconvolution->priors)
		return kwhy_fail_memory(error, "metered intervals");
	for (size_t i = 0; i < count; i++) {
		deconvolution->readings[i]
			.energy_j = (double)deconvolution->series->value[deconvolution->first + i] * 1e-3 *
			(double)deconvolution->window_ns * 1e-9;
		deconvolution->readings[i].slope_w = slope_w(deconvolution, deconvolution->first + i);
	}
	return KWHY_OK;
}

/*
 * Adds the start (sign -1) or end (sign 1) of a cell or window, whose predicted energy is *sum. The device is
 * taken to be idle before and after the recorded time: that part of the energy is added here. visit() adds
 * the part inside the recorded time.
 */
static void add_look(
	struct deconvolution *deconvolution, int64_t time_ns, struct kwhy_deconvolve_prior *sum, double sign)
{
	const struct kwhy_window *hull = &deconvolution->question->covered->hull;
	int64_t outside_ns = (time_ns < hull->start_ns ? time_ns : hull->start_ns) - deconvolution->origin_ns;

	if (time_ns > hull->end_ns)
		outside_ns += time_ns - hull->end_ns;
	sum->idle_j += sign * deconvolution->powers->idle_w * (double)outside_ns * 1e-9;
	time_ns = time_ns < hull->start_ns ? hull->start_ns : time_ns;
	time_ns = time_ns > hull->end_ns ? hull->end_ns : time_ns;
	deconvolution->looks[deconvolution->look_count++] = (struct look){time_ns, sum, sign};
}

static int compare_looks(const void *a, const void *b)
{
	const struct look *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return (left->sum > right->sum) - (left->sum < right->sum);
}

static int64_t window_end_ns(const struct deconvolution *deconvolution, size_t reading, size_t lag)
{
	return deconvolution->series->time_ns[deconvolution->first + reading] -
		llround(tried[LAG].value[lag] * 1e9);
}

static enum kwhy_status list_looks(struct deconvolution *deconvolution, struct kwhy_error *error)
{
	const size_t count = reading_count(deconvolution);

	deconvolution->looks = calloc(
		2 * (deconvolution->cell_count + count * tried[LAG].count), sizeof(*deconvolution->looks));
	if (!deconvolution->looks)
		return kwhy_fail_memory(error, "metered intervals");
	for (size_t i = 0; i < deconvolution->cell_count; i++) {
		add_look(deconvolution, deconvolution->cell_ns[i], &deconvolution->cells[i].prior, -1);
		add_look(deconvolution, deconvolution->cell_ns[i + 1], &deconvolution->cells[i].prior, 1);
	}
	for (size_t lag = 0; lag < tried[LAG].count; lag++)
		for (size_t i = 0; i < count; i++) {
			struct kwhy_deconvolve_prior *prior = &deconvolution->priors[lag * count + i];
			int64_t end_ns = window_end_ns(deconvolution, i, lag);

			add_look(deconvolution, end_ns - deconvolution->window_ns, prior, -1);
			add_look(deconvolution, end_ns, prior, 1);
		}
	qsort(deconvolution->looks, deconvolution->look_count, sizeof(*deconvolution->looks), compare_looks);
	return KWHY_OK;
}

static void visit(void *context, const struct kwhy_filtered_levels *response, size_t readout)
{
	struct deconvolution *deconvolution = context;
	const struct look *look = &deconvolution->looks[readout];
	const size_t classes = response->class_count;
	double net_j = 0, idle_s = 0;

	for (size_t c = 0; c < classes; c++)
		net_j += response->area_s[c] * deconvolution->powers->net_w[c];
	for (size_t c = classes; c + 1 < response->channel_count;
		c++) /* without the last channel, which is that of unrecorded time */
		idle_s += response->area_s[c];
	look->sum->net_j += look->sign * net_j;
	look->sum->idle_j += look->sign * idle_s * deconvolution->powers->idle_w;
}

static enum kwhy_status predict(struct deconvolution *deconvolution, struct kwhy_error *error)
{
	const struct kwhy_powers_question *question = deconvolution->question;
	int64_t *times_ns = calloc(deconvolution->look_count + 1, sizeof(*times_ns));
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
		.tau_s = {KWHY_METERED_NO_TAU_S},
		.times_ns = times_ns,
		.readout_count = deconvolution->look_count,
		.visit = visit,
		.context = deconvolution,
	};
	enum kwhy_status status;

	if (!times_ns)
		return kwhy_fail_memory(error, "metered intervals");
	for (size_t i = 0; i < deconvolution->look_count; i++)
		times_ns[i] = deconvolution->looks[i].time_ns;
	status = kwhy_response_walk(&walk, error);
	free(times_ns);
	return status;
}

/* Adds the answer for one combination of values to the sums, weighted by its evidence. */
static void mix(struct deconvolution *deconvolution, const struct kwhy_deconvolve_answer *answer)
{
	double shrink = 1, weight = 1;

	if (deconvolution->weight > 0 && answer->log_evidence > deconvolution->best_log)
		shrink = exp(deconvolution->best_log - answer->log_evidence);
	else if (deconvolution->weight > 0)
		weight = exp(answer->log_evidence - deconvolution->best_log);
	if (weight == 1)
		deconvolution->best_log = answer->log_evidence;
	for (size_t i = 0; i < deconvolution->cell_count; i++)
		deconvolution->sum_j[i] = shrink * deconvolution->sum_j[i] + weight * answer->energy_j[i];
	deconvolution->weight = shrink * deconvolution->weight + weight;
	deconvolution->run_j = shrink * deconvolution->run_j + weight * answer->counted_j;
	deconvolution->run_j2 = shrink * deconvolution->run_j2 +
		weight * (answer->variance_j2 + answer->counted_j * answer->counted_j);
}

static void set_lag(struct deconvolution *deconvolution, size_t lag)
{
	const size_t count = reading_count(deconvolution);

	for (size_t i = 0; i < count; i++) {
		struct kwhy_deconvolve_reading *reading = &deconvolution->readings[i];
		int64_t end_ns = window_end_ns(deconvolution, i, lag);

		reading->end_s = (double)(end_ns - deconvolution->origin_ns) * 1e-9;
		reading->start_s = reading->end_s - (double)deconvolution->window_ns * 1e-9;
		reading->prior = deconvolution->priors[lag * count + i];
	}
}

/* Index of a combination in is_tried; at[] has the index of the value of each parameter. */
static size_t number_of(const size_t at[SCALES])
{
	size_t number = 0;

	for (size_t s = 0; s < SCALES; s++)
		number = number * tried[s].count + at[s];
	return number;
}

/*
 * Solves the model for one combination of values and adds the answer to the sums. Writes the log evidence;
 * -INFINITY: this combination was tried before, or the answer is not finite.
 */
static enum kwhy_status try(struct deconvolution *deconvolution, const size_t at[SCALES], double *out_log,
	struct kwhy_error *error)
{
	struct kwhy_deconvolve_model model = {
		.cells = deconvolution->cells,
		.cell_count = deconvolution->cell_count,
		.readings = deconvolution->readings,
		.reading_count = reading_count(deconvolution),
		.scales = {.noise_w = tried[NOISE].value[at[NOISE]],
			.stamp_s = tried[STAMP].value[at[STAMP]],
			.recorded_sd = tried[RECORDED].value[at[RECORDED]],
			.outside_sd = tried[OUTSIDE].value[at[OUTSIDE]],
			.length_s = tried[LENGTH].value[at[LENGTH]]},
	};
	struct kwhy_deconvolve_answer answer = {.energy_j = deconvolution->energy_j};
	enum kwhy_status status;

	*out_log = -INFINITY;
	if (deconvolution->is_tried[number_of(at)])
		return KWHY_OK;
	deconvolution->is_tried[number_of(at)] = true;
	set_lag(deconvolution, at[LAG]);
	status = kwhy_deconvolve_solve(&model, &answer, error);
	if (status || !isfinite(answer.log_evidence) || !isfinite(answer.counted_j))
		return status;
	*out_log = answer.log_evidence;
	mix(deconvolution, &answer);
	return KWHY_OK;
}

/*
 * Coordinate search for the combination with the largest evidence: PASSES times, each parameter in turn takes
 * all its values, the others their best so far. All tried combinations contribute to the sums.
 */
static enum kwhy_status search(struct deconvolution *deconvolution, struct kwhy_error *error)
{
	size_t at[SCALES], best[SCALES];
	enum kwhy_status status = KWHY_OK;
	double best_log;

	for (size_t s = 0; s < SCALES; s++)
		best[s] = at[s] = tried[s].first;
	status = try(deconvolution, at, &best_log, error);
	for (size_t step = 0; !status && step < PASSES * SCALES; step++) {
		size_t scale = step % SCALES;

		memcpy(at, best, sizeof(at));
		for (size_t v = 0; !status && v < tried[scale].count; v++) {
			double evidence_log;

			at[scale] = v;
			status = try(deconvolution, at, &evidence_log, error);
			if (status || !(evidence_log > best_log))
				continue;
			best_log = evidence_log;
			best[scale] = v;
		}
	}
	return status;
}

/*
 * Replaces the intervals of the metered total by the cells for which is_seen is set, in whole nanojoules. A
 * cell with negative energy gets 0, and the others are scaled to keep the sum.
 */
static enum kwhy_status write_total(struct deconvolution *deconvolution, struct kwhy_error *error)
{
	struct kwhy_metered_total *total = deconvolution->total;
	struct kwhy_metered_interval *intervals = calloc(deconvolution->cell_count + 1, sizeof(*intervals));
	double sum_j = 0, positive_j = 0, run_j = deconvolution->run_j / deconvolution->weight;
	double variance_j2 = deconvolution->run_j2 / deconvolution->weight - run_j * run_j;

	if (!intervals)
		return kwhy_fail_memory(error, "metered intervals");
	for (size_t i = 0; i < deconvolution->cell_count; i++) {
		double energy_j = deconvolution->is_seen[i] ? deconvolution->sum_j[i] / deconvolution->weight
							    : 0;

		sum_j += energy_j;
		positive_j += fmax(0, energy_j);
	}
	free(total->intervals);
	total->intervals = intervals;
	total->count = 0;
	total->sum_nj = total->sum_ns = 0;
	for (size_t i = 0; i < deconvolution->cell_count; i++) {
		double energy_j = fmax(0, deconvolution->sum_j[i] / deconvolution->weight);
		struct kwhy_metered_interval interval = {deconvolution->cell_ns[i],
			deconvolution->cell_ns[i + 1],
			positive_j > 0 ? llround(energy_j * fmax(0, sum_j) / positive_j * 1e9) : 0};

		if (!deconvolution->is_seen[i])
			continue;
		intervals[total->count++] = interval;
		total->sum_nj += interval.energy_nj;
		total->sum_ns += interval.end_ns - interval.start_ns;
	}
	total->sampling_ratio = run_j > 0 ? 1.645 * hypot(MODEL_SPREAD, sqrt(fmax(0, variance_j2)) / run_j)
					  : 0;
	total->is_deconvolved = true;
	return KWHY_OK;
}

static enum kwhy_status deconvolve(struct deconvolution *deconvolution, struct kwhy_error *error)
{
	enum kwhy_status status;

	choose_readings(deconvolution);
	if (reading_count(deconvolution) < 2)
		return KWHY_OK;
	status = list_edges(deconvolution, error);
	if (!status)
		status = make_cells(deconvolution, error);
	if (status || !deconvolution->cell_count)
		return status;
	status = make_readings(deconvolution, error);
	if (!status)
		status = list_looks(deconvolution, error);
	if (!status)
		status = predict(deconvolution, error);
	if (!status)
		status = search(deconvolution, error);
	return status || !(deconvolution->weight > 0) ? status : write_total(deconvolution, error);
}

static void deconvolution_done(struct deconvolution *deconvolution)
{
	free(deconvolution->edges_ns);
	free(deconvolution->cells);
	free(deconvolution->cell_ns);
	free(deconvolution->is_seen);
	free(deconvolution->readings);
	free(deconvolution->priors);
	free(deconvolution->looks);
	free(deconvolution->energy_j);
	free(deconvolution->sum_j);
}

enum kwhy_status kwhy_energy_deconvolve(struct kwhy_metered_total *total,
	const struct kwhy_powers_question *question, const struct kwhy_powers *powers,
	struct kwhy_error *error)
{
	const struct kwhy_response response = kwhy_response_of_profile(
		total->meter, question->options->profile);
	struct deconvolution deconvolution = {.total = total,
		.question = question,
		.powers = powers,
		.series = question->meters->series[total->meter],
		.window_ns = llround(response.average_window_s * 1e9),
		.longest_ns = total->longest_step_ns};
	enum kwhy_status status;

	if (!kwhy_meter_is_mean(total->meter) || question->covered->unrecorded_count ||
		question->covered->is_all_idle || !kwhy_device_was_active(&question->device_ledger->time))
		return KWHY_OK;
	status = deconvolve(&deconvolution, error);
	deconvolution_done(&deconvolution);
	return status;
}
