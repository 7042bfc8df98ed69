/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/slow_kernels.h"
#include "base/quantity.h"
#include "detect/families.h"
#include "detect/tally.h"
#include "model/host_time.h"
#include "model/operator_work.h"

#include <math.h>
#include <stdlib.h>

/*
 * Detector of kernels that take much longer than the device's peaks allow. The work that a kernel had to do
 * is found in four ways:
 * - The work of a PyTorch operator follows from the shapes of its inputs, where the trace has them; all
 *   kernels that the operator launched do that work together.
 * - The work of a memset or of a copy on the device follows from its bytes.
 * - The device's counters show how busy memory and arithmetic were.
 * - A kernel with one thread for each value of a copied array is assumed to read and write such an array.
 * If none of these finds a slow kernel, the work that the user stated for the run is compared with the time
 * of all kernels. Kernels about which nothing is known, and those that the detector under-filled-kernels
 * reports, are not judged.
 */

enum { IS_TENSOR = 1, IS_UNDER_FILLED = 2 };

/* A kernel is under-filled if its fill ratio (kwhy_detect_fill_ratio()) is below this share. */
static const double FILLED_RATIO = 0.5;

/*
 * Sums over the slow activities of one operator name or kernel name: their time and least time in ns, and the
 * work (FLOP, bytes) of those of them whose work is known.
 */
struct slow_name {
	double time_ns, least_ns, flop, bytes;
};

struct finder {
	struct kwhy_tally *tally;
	struct kwhy_gpu_peaks peaks;
	double max_ratio, min_ns;
	uint32_t *operators; /* [activities of the device] host range of each kernel's operator; KWHY_NONE:
				no range around the launch states shapes */
	double *time_ns;     /* [host ranges] total time of the kernels that each operator launched */
	uint8_t *flags;	     /* [host ranges] bits IS_TENSOR and IS_UNDER_FILLED: the operator launched such a
				kernel */
	/*
	 * [names] sums over the slow activities by name of their operator or, without one, by their own name
	 */
	struct slow_name *names;
	/*
	 * [names] activity of memory and arithmetic while kernels of each name ran (kwhy_slow_by_counters());
	 * NAN: unknown
	 */
	double *active;
	struct kwhy_slow_arrays arrays;
	bool by_array; /* some kernel was judged by the size of an array that the program copies */
	/* some least time was computed from peaks of the device's data sheet, because none were measured */
	bool by_datasheet;
	/* name whose slow activities exceed their least times by most; 0: none is slow */
	uint32_t first;
};

static double length_ns(const struct kwhy_activities *rows, size_t row)
{
	return (double)(rows->end_ns[row] - rows->start_ns[row]);
}

/*
 * The innermost host range around the kernel's launch that has shapes of inputs; KWHY_NONE: there is none, or
 * the row is no kernel.
 */
static uint32_t operator_of(const struct kwhy_detect_view *view, size_t row)
{
	const struct kwhy_host_ranges *ranges = &view->recording->host_ranges;
	uint32_t range;

	if (view->recording->activities.kind[row] != KWHY_ACTIVITY_KERNEL)
		return KWHY_NONE;
	range = view->range_of_launch[row];
	while (range != KWHY_NONE && !kwhy_host_range_shape(ranges, range))
		range = ranges->parent[range];
	return range;
}

static void group_by_operator(struct finder *finder)
{
	const struct kwhy_detect_view *view = finder->tally->context->view;
	const struct kwhy_device_view *seen = &view->devices[finder->tally->device];

	for (size_t i = seen->begin; i < seen->end; i++) {
		uint32_t range = operator_of(view, i);

		finder->operators[i - seen->begin] = range;
		if (range == KWHY_NONE)
			continue;
		finder->time_ns[range] += length_ns(&view->recording->activities, i);
		if (kwhy_detect_is_tensor_kernel(view, i))
			finder->flags[range] |= IS_TENSOR;
		if (kwhy_detect_fill_ratio(view->recording, i) < FILLED_RATIO)
			finder->flags[range] |= IS_UNDER_FILLED;
	}
}

/*
 * Peak in FLOP/s at which the operator's kernels could compute in a precision. FP32 products of which a
 * kernel used tensor cores run in TF32.
 */
static double peak_of(const struct finder *finder, uint32_t range, enum kwhy_precision precision)
{
	if (precision == KWHY_PRECISION_FP32 && finder->flags[range] & IS_TENSOR)
		precision = KWHY_PRECISION_TF32;
	return finder->peaks.flop_per_s[precision];
}

/*
 * Least time in ns that the work of the operator of a host range can take at the device's peaks: the longer
 * one of its arithmetic and its memory traffic. *work receives the work. NAN: the work or a peak is unknown.
 */
static double least_ns(const struct finder *finder, uint32_t range, struct kwhy_operator_work *work)
{
	const struct kwhy_recording *recording = finder->tally->context->recording;
	double arithmetic_s = 0;

	if (!kwhy_operator_work(kwhy_names_get(&recording->names, recording->host_ranges.name[range]),
		    kwhy_names_get(&recording->names, kwhy_host_range_shape(&recording->host_ranges, range)),
		    work))
		return NAN;
	if (work->flop > 0)
		arithmetic_s = work->flop / peak_of(finder, range, work->precision);
	if (isnan(arithmetic_s) || isnan(finder->peaks.bytes_per_s))
		return NAN;
	return 1e9 * fmax(arithmetic_s, work->bytes / finder->peaks.bytes_per_s);
}

static bool is_slow(const struct finder *finder, double least, double time)
{
	return time >= finder->min_ns && least < finder->max_ratio * time;
}

/*
 * Marks an activity that would take the share `ratio` of its time if it ran at the device's peaks, and adds
 * it to the sums of a name. `range` is the host range of the activity's operator (KWHY_NONE: unknown). `work`
 * is the part of the operator's work that the activity does.
 */
static void mark(struct finder *finder, size_t row, double ratio, uint32_t range,
	const struct kwhy_operator_work *work)
{
	const struct kwhy_recording *recording = finder->tally->context->recording;
	const struct kwhy_activities *rows = &recording->activities;
	uint32_t name = range == KWHY_NONE ? rows->name[row] : recording->host_ranges.name[range];
	struct slow_name *sums = &finder->names[name], *first = &finder->names[finder->first];
	struct kwhy_occurrence occurrence = kwhy_occurrence_at(rows->start_ns[row], rows->end_ns[row]);

	kwhy_tally_mark(finder->tally, row, ratio * length_ns(rows, row));
	finder->tally->count++;
	occurrence.row = (uint32_t)row;
	occurrence.range = range;
	kwhy_tally_add_occurrence(finder->tally, occurrence);
	sums->time_ns += length_ns(rows, row);
	sums->least_ns += ratio * length_ns(rows, row);
	sums->flop += work->flop;
	sums->bytes += work->bytes;
	if (sums->time_ns - sums->least_ns > first->time_ns - first->least_ns)
		finder->first = name;
}

static void judge_kernel(struct finder *finder, size_t row, uint32_t range)
{
	const struct kwhy_activities *rows = &finder->tally->context->recording->activities;
	struct kwhy_operator_work work;
	double time = finder->time_ns[range], least = least_ns(finder, range, &work);

	if (isnan(least) || finder->flags[range] & IS_UNDER_FILLED || !is_slow(finder, least, time))
		return;
	finder->by_datasheet |= !finder->peaks.measured;
	work.flop *= length_ns(rows, row) / time;
	work.bytes *= length_ns(rows, row) / time;
	mark(finder, row, least / time, range, &work);
}

/*
 * Judges an activity that moves at least `bytes` bytes from or to device memory (reads plus writes; 0:
 * unknown) by the peak memory rate. Marks it and returns true if it is slow.
 */
static bool judge_traffic(struct finder *finder, size_t row, double bytes)
{
	double time = length_ns(&finder->tally->context->recording->activities, row);
	double least = 1e9 * bytes / finder->peaks.bytes_per_s;
	struct kwhy_operator_work work = {.bytes = bytes};

	if (!(bytes > 0) || !is_slow(finder, least, time))
		return false;
	finder->by_datasheet |= !finder->peaks.measured;
	mark(finder, row, least / time, KWHY_NONE, &work);
	return true;
}

/* Judges a copy within the device, which reads and writes its bytes, or a memset, which writes them. */
static void judge_bytes(struct finder *finder, size_t row)
{
	const struct kwhy_activities *rows = &finder->tally->context->recording->activities;
	bool copies = rows->kind[row] == KWHY_ACTIVITY_COPY && rows->copy_kind[row] == KWHY_COPY_D2D;

	if ((copies || rows->kind[row] == KWHY_ACTIVITY_MEMSET) && rows->bytes[row] != KWHY_UNKNOWN_BYTES)
		judge_traffic(finder, row, (copies ? 2 : 1) * (double)rows->bytes[row]);
}

/*
 * Judges a kernel without a known operator: by the device's counters or, where these say nothing and it is no
 * matrix product, by the size of an array that the program copies. Under-filled kernels are not judged.
 */
static void judge_plain_kernel(struct finder *finder, size_t row)
{
	const struct kwhy_detect_view *view = finder->tally->context->view;
	const struct kwhy_recording *recording = view->recording;
	double active = finder->active[recording->activities.name[row]];

	if (recording->activities.kind[row] != KWHY_ACTIVITY_KERNEL ||
		kwhy_detect_fill_ratio(recording, row) < FILLED_RATIO)
		return;
	if (!isnan(active)) {
		if (is_slow(finder, active * length_ns(&recording->activities, row),
			    length_ns(&recording->activities, row)))
			mark(finder, row, active, KWHY_NONE, &(struct kwhy_operator_work){0});
	} else if (!kwhy_detect_is_product(view, row)) {
		finder->by_array |= judge_traffic(
			finder, row, 2 * (double)kwhy_slow_array_bytes(&finder->arrays, recording, row));
	}
}

/*
 * Judges all kernels of the device together by the work that the user stated for the run. If they are slow,
 * all are marked.
 */
static void judge_by_stated_work(struct finder *finder)
{
	const struct kwhy_activities *rows = &finder->tally->context->recording->activities;
	const struct kwhy_device_view *seen = &finder->tally->context->view->devices[finder->tally->device];
	double least = kwhy_slow_by_stated_work(finder->tally->context, &finder->peaks), time = 0;

	for (size_t i = seen->begin; i < seen->end; i++)
		time += rows->kind[i] == KWHY_ACTIVITY_KERNEL ? length_ns(rows, i) : 0;
	if (isnan(least) || !is_slow(finder, least, time))
		return;
	finder->by_datasheet |= !finder->peaks.measured;
	for (size_t i = seen->begin; i < seen->end; i++)
		if (rows->kind[i] == KWHY_ACTIVITY_KERNEL)
			mark(finder, i, least / time, KWHY_NONE, &(struct kwhy_operator_work){0});
}

static void judge(struct finder *finder)
{
	const struct kwhy_device_view *seen = &finder->tally->context->view->devices[finder->tally->device];

	for (size_t i = seen->begin; i < seen->end; i++) {
		uint32_t range = finder->operators[i - seen->begin];

		if (range != KWHY_NONE) {
			judge_kernel(finder, i, range);
			continue;
		}
		judge_bytes(finder, i);
		judge_plain_kernel(finder, i);
	}
	if (finder->tally->count == 0)
		judge_by_stated_work(finder);
}

/* Formats text such as "; most is lost in aten::mm: 3.1 TFLOP/s, 120 GB/s, 12 % of the roofline". */
static const char *words_of_first(const struct finder *finder)
{
	const struct slow_name *sums = &finder->names[finder->first];
	char flop[KWHY_QUANTITY_BYTES] = "", bytes[KWHY_QUANTITY_BYTES] = "";

	if (!finder->first)
		return "";
	if (sums->flop > 0)
		kwhy_quantity_si(flop, sums->flop / sums->time_ns * 1e9, "FLOP/s", 3);
	if (sums->bytes > 0)
		kwhy_quantity_si(bytes, sums->bytes / sums->time_ns * 1e9, "B/s", 3);
	return kwhy_tally_words(finder->tally, "; most is lost in %s: %s%s%s%s%.3g %% of the roofline",
		kwhy_names_get(&finder->tally->context->recording->names, finder->first), flop,
		*flop ? ", " : "", bytes, *bytes ? ", " : "", 100 * sums->least_ns / sums->time_ns);
}

/*
 * Parts of the sentence on what the saving assumes (assumption_of()). ARRAYS is used if a kernel was judged
 * by the size of an array, DATASHEET or MEASURED by the source of the peaks.
 */
#define WORK "the work that shapes, bytes, counters or you state is done "
#define DATASHEET "at the peaks of the device's data sheet, which no kernel quite reaches"
#define MEASURED "at the measured peaks"
#define ONCE ", each value read or written once"
#define ARRAYS                                                                                         \
	"; a kernel with one thread for each value of a copied array reads one such array and writes " \
	"one, which may be less than it does"

static const char *assumption_of(const struct finder *finder)
{
	if (finder->by_array)
		return finder->by_datasheet ? WORK DATASHEET ONCE ARRAYS : WORK MEASURED ONCE ARRAYS;
	return finder->by_datasheet ? WORK DATASHEET ONCE : WORK MEASURED ONCE;
}

static enum kwhy_status conclude(struct finder *finder)
{
	struct kwhy_finding_terms terms = kwhy_finding_terms_default();
	struct kwhy_tally *tally = finder->tally;
	char count[KWHY_QUANTITY_BYTES];

	terms.title = kwhy_tally_words(tally, "Slow kernels: %s at less than %.3g %% of the roofline%s",
		kwhy_quantity_count(count, tally->count), 100 * finder->max_ratio, words_of_first(finder));
	terms.assumption = assumption_of(finder);
	terms.cure = finder->by_array ? "let threads that run together read memory that lies together "
					"(order of loops, arrays of fields), and read each value once"
				      : NULL;
	terms.work_remains = true;
	return kwhy_tally_finish(tally, terms);
}

static bool allocate(struct finder *finder)
{
	const struct kwhy_recording *recording = finder->tally->context->recording;
	const struct kwhy_device_view *seen = &finder->tally->context->view->devices[finder->tally->device];

	finder->operators = malloc((seen->end - seen->begin + 1) * sizeof(*finder->operators));
	finder->time_ns = calloc(recording->host_ranges.count + 1, sizeof(*finder->time_ns));
	finder->flags = calloc(recording->host_ranges.count + 1, sizeof(*finder->flags));
	finder->active = malloc((recording->names.count + 1) * sizeof(*finder->active));
	finder->names = calloc(recording->names.count + 1, sizeof(*finder->names));
	return finder->operators && finder->time_ns && finder->flags && finder->names && finder->active;
}

enum kwhy_status kwhy_detect_slow_kernels(const struct kwhy_detect_context *context)
{
	struct kwhy_tally tally;
	struct finder finder = {.tally = &tally,
		.peaks = kwhy_gpu_peaks_of(&context->recording->devices[context->device], context->profile),
		.max_ratio = kwhy_detect_threshold(context, "max_ratio"),
		.min_ns = kwhy_detect_threshold(context, "min_us") * 1e3};
	enum kwhy_status status;

	kwhy_tally_init(&tally, context);
	if (!allocate(&finder))
		tally.status = kwhy_fail_memory(context->error, "operators of kernels");
	else
		tally.status = kwhy_slow_by_counters(context, finder.active);
	if (!tally.status) {
		kwhy_slow_arrays_find(context, &finder.arrays);
		group_by_operator(&finder);
		judge(&finder);
	}
	status = conclude(&finder);
	free(finder.operators);
	free(finder.time_ns);
	free(finder.flags);
	free(finder.active);
	free(finder.names);
	return status;
}
