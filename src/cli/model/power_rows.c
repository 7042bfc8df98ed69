/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/model/power_rows.h"

#include "cli/model/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SM, FP32, TENSOR, DRAM, PCIE, NVLINK, CLOCK, OCCUPANCY, INTEGER, FP16, FP64, COMPUTE, MEMORY, IO };

const struct kwhy_power_gauge kwhy_power_gauges[KWHY_POWER_GAUGE_KINDS] = {
	[SM] = {"gpm_sm_active_permille", KWHY_POWER_COMPUTE, true, NULL},
	[FP32] = {"gpm_fp32_active_permille", KWHY_POWER_COMPUTE, true, NULL},
	[TENSOR] = {"gpm_tensor_active_permille", KWHY_POWER_COMPUTE, true, NULL},
	[DRAM] = {"gpm_dram_active_permille", KWHY_POWER_MEMORY, false, NULL},
	[PCIE] = {"pcie_bytes_per_s", KWHY_POWER_IO, false, NULL},
	[NVLINK] = {"nvlink_bytes_per_s", KWHY_POWER_IO, false, NULL},
	[CLOCK] = {"sm_clock_hz", KWHY_POWER_BASE, false, "GHz^2"},
	[OCCUPANCY] = {"gpm_sm_occupancy_permille", KWHY_POWER_COMPUTE, true, NULL},
	[INTEGER] = {"gpm_integer_active_permille", KWHY_POWER_COMPUTE, true, NULL},
	[FP16] = {"gpm_fp16_active_permille", KWHY_POWER_COMPUTE, true, NULL},
	[FP64] = {"gpm_fp64_active_permille", KWHY_POWER_COMPUTE, true, NULL},
	[COMPUTE] = {"compute", KWHY_POWER_COMPUTE, true, NULL},
	[MEMORY] = {"memory", KWHY_POWER_MEMORY, false, NULL},
	[IO] = {"io", KWHY_POWER_IO, false, NULL},
};

static enum kwhy_status reserve(struct kwhy_power_rows *rows, size_t row_count, struct kwhy_error *error)
{
	rows->power_w = calloc(row_count + 1, sizeof(double));
	rows->seconds = calloc(row_count + 1, sizeof(double));
	rows->gauges = calloc(row_count * rows->data.gauge_count + 1, sizeof(double));
	rows->memory_w = calloc(row_count + 1, sizeof(double));
	rows->data.power_w = rows->power_w;
	rows->data.seconds = rows->seconds;
	rows->data.gauges = rows->gauges;
	return rows->power_w && rows->seconds && rows->gauges && rows->memory_w
		? KWHY_OK
		: kwhy_fail_memory(error, "power rows");
}

static enum kwhy_status use_gauge(struct kwhy_power_rows *rows, size_t kind, struct kwhy_error *error)
{
	if (rows->data.gauge_count == KWHY_POWER_GAUGES_MAX)
		return kwhy_fail(error, KWHY_E_INPUT, "a power model takes at most %d gauges",
			(int)KWHY_POWER_GAUGES_MAX);
	rows->has_clock |= kind == CLOCK;
	rows->data.terms[rows->data.gauge_count] = kwhy_power_gauges[kind].term;
	rows->kinds[rows->data.gauge_count++] = kind;
	return KWHY_OK;
}

/*
 * Converts the gauges of a row, in place, from readings to the regressors of the linear model: the clock in
 * Hz becomes its square in GHz^2, and gauges with by_clock are multiplied by that square.
 */
static void settle(const struct kwhy_power_rows *rows, double *gauges)
{
	double ghz2 = 1;

	for (size_t j = 0; j < rows->data.gauge_count; j++)
		if (rows->kinds[j] == CLOCK)
			gauges[j] = ghz2 = gauges[j] * gauges[j] * 1e-18;
	for (size_t j = 0; j < rows->data.gauge_count; j++)
		if (kwhy_power_gauges[rows->kinds[j]].by_clock)
			gauges[j] *= ghz2;
}

static bool has_column(const struct kwhy_model_csv *csv, size_t column)
{
	for (size_t i = 0; i < csv->row_count; i++)
		if (!isnan(kwhy_model_csv_number(csv, i, column)))
			return true;
	return false;
}

enum { CSV_POWER, CSV_SECONDS, CSV_GAUGES, CSV_COLUMNS = CSV_GAUGES + KWHY_POWER_GAUGE_KINDS };

static void copy_rows(struct kwhy_power_rows *rows, const struct kwhy_model_csv *csv)
{
	bool timed = has_column(csv, CSV_SECONDS);

	rows->data.row_count = csv->row_count;
	for (size_t i = 0; i < csv->row_count; i++) {
		rows->power_w[i] = kwhy_model_csv_number(csv, i, CSV_POWER);
		rows->seconds[i] = timed ? kwhy_model_csv_number(csv, i, CSV_SECONDS) : 1;
		for (size_t j = 0; j < rows->data.gauge_count; j++)
			rows->gauges[i * rows->data.gauge_count + j] = kwhy_model_csv_number(
				csv, i, CSV_GAUGES + rows->kinds[j]);
		settle(rows, rows->gauges + i * rows->data.gauge_count);
	}
}

enum kwhy_status kwhy_power_rows_read(
	struct kwhy_power_rows *rows, const char *path, struct kwhy_error *error)
{
	struct kwhy_csv_column columns[CSV_COLUMNS] = {
		[CSV_POWER] = {"power_w", true}, [CSV_SECONDS] = {"seconds", false}};
	struct kwhy_model_csv csv;
	enum kwhy_status status;

	for (size_t i = 0; i < KWHY_POWER_GAUGE_KINDS; i++)
		columns[CSV_GAUGES + i].name = kwhy_power_gauges[i].name;
	*rows = (struct kwhy_power_rows){.lag_s = NAN};
	status = kwhy_model_csv_read(path, columns, CSV_COLUMNS, 0, &csv, error);
	for (size_t i = 0; !status && i < KWHY_POWER_GAUGE_KINDS; i++)
		if (has_column(&csv, CSV_GAUGES + i))
			status = use_gauge(rows, i, error);
	if (!status)
		status = reserve(rows, csv.row_count, error);
	if (!status)
		copy_rows(rows, &csv);
	kwhy_model_csv_done(&csv);
	return status;
}

static const struct kwhy_gauge_series *gauge_of(
	const struct kwhy_recording *recording, enum kwhy_gauge gauge, uint32_t device)
{
	for (size_t i = 0; i < recording->gauge_count; i++)
		if (recording->gauges[i].gauge == gauge && recording->gauges[i].device == device)
			return &recording->gauges[i];
	return NULL;
}

/* The series of a device from a meter of the given owner and role; NULL: there is none. */
static const struct kwhy_power_series *power_of(const struct kwhy_recording *recording,
	enum kwhy_meter_owner owner, enum kwhy_meter_role role, uint32_t device)
{
	for (size_t i = 0; i < recording->power_count; i++) {
		const struct kwhy_meter_row *row = kwhy_meter_row(recording->power[i].meter);

		if (row->owner == owner && row->role == role && recording->power[i].device == device)
			return &recording->power[i];
	}
	return NULL;
}

/* Index of the first reading at or after a time; series->count: there is none. */
static size_t place_from(const struct kwhy_gauge_series *series, int64_t time_ns)
{
	size_t low = 0, high = series->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (series->time_ns[middle] < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The reading at exactly a given time; NAN: there is none. */
static double reading_at(const struct kwhy_gauge_series *series, int64_t time_ns)
{
	size_t at = place_from(series, time_ns);

	return at < series->count && series->time_ns[at] == time_ns ? (double)series->value[at] : NAN;
}

/* The reading nearest to a time; NAN: there is none within `space_ns`. */
static double reading_near(const struct kwhy_gauge_series *series, int64_t time_ns, int64_t space_ns)
{
	size_t at = place_from(series, time_ns);

	if (at > 0 &&
		(at == series->count || time_ns - series->time_ns[at - 1] < series->time_ns[at] - time_ns))
		at--;
	if (at == series->count || llabs(series->time_ns[at] - time_ns) > space_ns)
		return NAN;
	return (double)series->value[at];
}

/*
 * Mean of the readings whose times are in (start, end]; NAN: there are fewer than `least`. *at is the index
 * from which readings are searched; it is moved past end_ns.
 */
static double mean_w(
	const struct kwhy_power_series *samples, int64_t start_ns, int64_t end_ns, size_t least, size_t *at)
{
	double sum = 0;
	size_t count = 0;

	while (*at < samples->count && samples->time_ns[*at] <= start_ns)
		(*at)++;
	for (; *at < samples->count && samples->time_ns[*at] <= end_ns; (*at)++, count++)
		sum += (double)samples->value[*at] * 1e-3;
	return count < least ? NAN : sum / (double)count;
}

/*
 * The gauges of a recording from which each entry of kwhy_power_gauges is computed; KWHY_GAUGE_COUNT: there
 * is no second one. Two gauges, such as bytes sent and received, are added. is_of_moments: readings are
 * values at a moment, so the mean of the readings at both ends of an interval is used; readings of the other
 * gauges are means over the interval.
 */
static const struct {
	enum kwhy_gauge gauge, second;
	bool is_of_moments;
} sources[] = {
	[SM] = {KWHY_GAUGE_SM_ACTIVE, KWHY_GAUGE_COUNT, false},
	[FP32] = {KWHY_GAUGE_FP32_ACTIVE, KWHY_GAUGE_COUNT, false},
	[TENSOR] = {KWHY_GAUGE_TENSOR_ACTIVE, KWHY_GAUGE_COUNT, false},
	[DRAM] = {KWHY_GAUGE_DRAM_ACTIVE, KWHY_GAUGE_COUNT, false},
	[PCIE] = {KWHY_GAUGE_PCIE_RX, KWHY_GAUGE_PCIE_TX, false},
	[NVLINK] = {KWHY_GAUGE_NVLINK_RX, KWHY_GAUGE_NVLINK_TX, false},
	[CLOCK] = {KWHY_GAUGE_SM_CLOCK, KWHY_GAUGE_COUNT, true},
	[OCCUPANCY] = {KWHY_GAUGE_SM_OCCUPANCY, KWHY_GAUGE_COUNT, false},
	[INTEGER] = {KWHY_GAUGE_INTEGER_ACTIVE, KWHY_GAUGE_COUNT, false},
	[FP16] = {KWHY_GAUGE_FP16_ACTIVE, KWHY_GAUGE_COUNT, false},
	[FP64] = {KWHY_GAUGE_FP64_ACTIVE, KWHY_GAUGE_COUNT, false},
};

#define LATE_S                                                                                               \
	0.05 /* a window may be this many seconds shorter than requested, because its first reading may have \
		come late */

enum { SOURCES = sizeof(sources) / sizeof(sources[0]) };

struct joining {
	const struct kwhy_gauge_series *series[SOURCES][2];
	/* power series of the device; `memory` may be NULL */
	const struct kwhy_power_series *samples, *memory;
	int64_t window_ns;
};

/*
 * Delay in ns of NVML's memory power, which is the mean over the last second: it stands for the moment half a
 * second before the reading.
 */
#define MEMORY_LAG_NS INT64_C(500000000)

static double value_of(const struct joining *joining, size_t source, int64_t start_ns, int64_t end_ns)
{
	const struct kwhy_gauge_series *const *series = joining->series[source];
	int64_t space_ns = (end_ns - start_ns) / 2;
	double sum = 0;

	if (sources[source].is_of_moments)
		return (reading_near(series[0], start_ns, space_ns) +
			       reading_near(series[0], end_ns, space_ns)) /
			2;
	for (int part = 0; part < 2; part++)
		sum += series[part] ? reading_at(series[part], end_ns) : 0;
	return sum;
}

/*
 * Reads the gauges of one interval between two readings of the device's counters (GPM), whose values at
 * end_ns are means since start_ns.
 */
static void read_gauges(const struct kwhy_power_rows *rows, const struct joining *joining, int64_t start_ns,
	int64_t end_ns, double gauges[KWHY_POWER_GAUGES_MAX])
{
	for (size_t j = 0; j < rows->data.gauge_count; j++)
		gauges[j] = value_of(joining, rows->kinds[j], start_ns, end_ns);
	settle(rows, gauges);
}

/* Positions in the series up to which readings have been used. */
struct places {
	size_t sample, memory;
};

/*
 * Makes one row from the interval between the counter readings `first` and `last`: means of the gauges over
 * it, and the mean power, shifted by lag_s. Adds no row if a gauge or the power is unknown.
 */
static void add_window(struct kwhy_power_rows *rows, const struct joining *joining, size_t first, size_t last,
	struct places *places)
{
	const int64_t *times = joining->series[SM][0]->time_ns;
	size_t row = rows->data.row_count, count = rows->data.gauge_count;
	double *gauges = rows->gauges + row * count, parts[KWHY_POWER_GAUGES_MAX];
	int64_t lag_ns = (int64_t)(rows->lag_s * 1e9), length_ns = times[last] - times[first];
	bool known = true;

	rows->seconds[row] = (double)length_ns * 1e-9;
	rows->power_w[row] = mean_w(
		joining->samples, times[first] + lag_ns, times[last] + lag_ns, 2, &places->sample);
	memset(gauges, 0, count * sizeof(*gauges));
	for (size_t i = first + 1; i <= last; i++) {
		read_gauges(rows, joining, times[i - 1], times[i], parts);
		for (size_t j = 0; j < count; j++)
			gauges[j] += parts[j] * (double)(times[i] - times[i - 1]) / (double)length_ns;
	}
	for (size_t j = 0; j < count; j++)
		known &= isfinite(gauges[j]);
	if (joining->memory) {
		rows->memory_w[row] = mean_w(joining->memory, times[first] + MEMORY_LAG_NS,
			times[last] + MEMORY_LAG_NS, 1, &places->memory);
		known &= isfinite(rows->memory_w[row]);
	}
	rows->data.row_count += known && isfinite(rows->power_w[row]);
}

static void join(struct kwhy_power_rows *rows, const struct joining *joining, double lag_s)
{
	const struct kwhy_gauge_series *readings = joining->series[SM][0];
	struct places places = {0};
	size_t first = 0;

	rows->lag_s = lag_s;
	rows->data.row_count = 0;
	for (size_t i = 1; i < readings->count; i++) {
		if (readings->time_ns[i] - readings->time_ns[first] < joining->window_ns)
			continue;
		add_window(rows, joining, first, i, &places);
		first = i;
	}
}

enum { SHIFTS = 10 };
#define SHIFT_S 0.02 /* step in seconds between the delays that are tried */

/*
 * Finds the delay of the power samples against the counters at which a fit has the smallest residuals, and
 * makes the rows with it. Delays within SHIFTS * SHIFT_S of the profile's delay of the power samples are
 * tried, because counters may be older than samples that were read at the same time (by 60 to 120 ms on an
 * H200), which no profile states. If no delay leaves enough windows for a fit, the profile's delay is used.
 */
static void align(struct kwhy_power_rows *rows, const struct joining *joining)
{
	double lag_s = rows->lag_s, best_s = lag_s, least = INFINITY;

	for (int shift = -SHIFTS; shift <= SHIFTS; shift++) {
		struct kwhy_power_model model;
		struct kwhy_error ignored;

		join(rows, joining, lag_s + shift * SHIFT_S);
		if (kwhy_power_fit(&rows->data, &model, &ignored) || !(model.rms_ratio < least))
			continue;
		least = model.rms_ratio;
		best_s = rows->lag_s;
	}
	join(rows, joining, best_s);
}

enum kwhy_status kwhy_power_rows_of(struct kwhy_power_rows *rows, const struct kwhy_recording *recording,
	const struct kwhy_power_rows_request *request, struct kwhy_error *error)
{
	const struct kwhy_profile *profile = request->profile;
	uint32_t device = request->device;
	struct joining joining = {
		.samples = power_of(recording, KWHY_METER_OWNER_GPU, KWHY_METER_ROLE_SAMPLES, device),
		/*
		 * memory power only serves the fit, and rows with the delay of another recording are not
		 * fitted
		 */
		.memory = isfinite(request->lag_s)
			? NULL
			: power_of(recording, KWHY_METER_OWNER_GPU_MEMORY, KWHY_METER_ROLE_MEANS, device),
		.window_ns = (int64_t)((request->window_s - LATE_S) * 1e9),
	};
	enum kwhy_status status = KWHY_OK;
	double lag_s = profile ? profile->sensor.time_constant_s.value + profile->sensor.delay_s.value : 0;

	*rows = (struct kwhy_power_rows){.lag_s = isfinite(lag_s) ? lag_s : 0};
	for (size_t i = 0; !status && i < SOURCES; i++) {
		joining.series[i][0] = gauge_of(recording, sources[i].gauge, device);
		if (sources[i].second != KWHY_GAUGE_COUNT)
			joining.series[i][1] = gauge_of(recording, sources[i].second, device);
		if (joining.series[i][0])
			status = use_gauge(rows, i, error);
	}
	if (status)
		return status;
	if (!joining.series[SM][0] || !joining.samples)
		return kwhy_fail(error, KWHY_E_INPUT,
			"device %u has no %s in the recording; a Hopper or later records them with kwhy "
			"record",
			device, joining.samples ? "GPM gauges" : "20 ms power samples");
	status = reserve(rows, joining.series[SM][0]->count, error);
	if (status)
		return status;
	rows->data.memory_w = joining.memory ? rows->memory_w : NULL;
	if (isfinite(request->lag_s))
		join(rows, &joining, request->lag_s);
	else
		align(rows, &joining);
	return KWHY_OK;
}

static bool has_kind(const struct kwhy_power_rows *rows, size_t kind)
{
	for (size_t j = 0; j < rows->data.gauge_count; j++)
		if (rows->kinds[j] == kind)
			return true;
	return false;
}

size_t kwhy_power_rows_keep_common(struct kwhy_power_rows *rows, const struct kwhy_power_rows *other)
{
	size_t count = rows->data.gauge_count, kept = 0, places[KWHY_POWER_GAUGES_MAX];

	for (size_t j = 0; j < count; j++) {
		if (!has_kind(other, rows->kinds[j]))
			continue;
		rows->kinds[kept] = rows->kinds[j];
		rows->data.terms[kept] = rows->data.terms[j];
		places[kept++] = j;
	}
	for (size_t i = 0; i < rows->data.row_count; i++)
		for (size_t j = 0; j < kept; j++)
			rows->gauges[i * kept + j] = rows->gauges[i * count + places[j]];
	rows->data.gauge_count = kept;
	return count - kept;
}

void kwhy_power_rows_done(struct kwhy_power_rows *rows)
{
	free(rows->power_w);
	free(rows->seconds);
	free(rows->gauges);
	free(rows->memory_w);
}
