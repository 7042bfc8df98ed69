/* SPDX-License-Identifier: Apache-2.0 */
#include "base/large.h"
#include "ledger/energy/running_power.h"
#include "ledger/sums/marks.h"
#include "ledger/sums/process_devices.h"
#include "ledger/sums/range_items.h"
#include "ledger/sweep.h"
#include "ledger/time/resident.h"

#include <math.h>
#include <stdlib.h>

/*
 * Sums over a device's time from its first mark (start or end of a range) to a later mark. unknown_energy_ns:
 * time in which the energy is unknown; energy_nj is without it.
 */
struct past {
	int64_t busy_ns, unknown_grid_ns, unknown_energy_ns;
	unsigned __int128 resident_ns; /* sum of ns * share of the device that was filled with blocks, in
					  units of 1 / KWHY_RESIDENT_FULL */
	double energy_nj;
};

struct windows {
	const struct kwhy_ledger *ledger;
	const struct kwhy_recording *recording;
	struct kwhy_process_devices devices;
	struct kwhy_marks marks; /* marks whose scope is the device */
	struct past *pasts; /* [marks.count] sums up to each mark, from the first mark of the same device */
	/*
	 * [device_count] where the marks of the latest range were found on each device, for the next search
	 */
	struct kwhy_marks_near *near;
};

static const uint32_t *devices_of(
	const struct windows *windows, const struct kwhy_range_item *item, size_t *out_count)
{
	uint32_t thread = windows->recording->ranges[item->range].thread;
	uint32_t process = thread == KWHY_NONE ? KWHY_NONE : windows->recording->threads[thread].process;

	return kwhy_process_devices_of(&windows->devices, process, out_count);
}

static enum kwhy_status mark_item(
	struct windows *windows, const struct kwhy_range_item *item, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	size_t count;
	const uint32_t *devices = devices_of(windows, item, &count);

	for (size_t i = 0; !status && i < count; i++) {
		status = kwhy_marks_add(&windows->marks, devices[i], item->start_ns, error);
		if (!status)
			status = kwhy_marks_add(&windows->marks, devices[i], item->end_ns, error);
	}
	return status;
}

static enum kwhy_status mark_edges(
	struct windows *windows, const struct kwhy_range_items *items, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_process_devices_init(&windows->devices, windows->recording, error);

	for (size_t i = 0; !status && i < items->count; i++)
		status = mark_item(windows, &items->items[i], error);
	if (status)
		return status;
	kwhy_marks_sort(&windows->marks);
	windows->pasts = kwhy_large(calloc(windows->marks.count + 1, sizeof(*windows->pasts)),
		(windows->marks.count + 1) * sizeof(*windows->pasts));
	windows->near = calloc(windows->recording->device_count + 1, sizeof(*windows->near));
	return windows->pasts && windows->near ? KWHY_OK : kwhy_fail_memory(error, "sums of ranges");
}

struct walk {
	const struct windows *windows;
	uint32_t device;
	bool energy_known;
	struct kwhy_running_power power;
	struct kwhy_resident resident;
	struct past past;
};

static void add_stretch(struct walk *walk, const struct kwhy_sweep_interval *stretch)
{
	int64_t length_ns = stretch->end_ns - stretch->start_ns;
	uint64_t share = kwhy_resident_follow(
		&walk->resident, walk->windows->recording, walk->device, stretch);
	double energy_nj = walk->energy_known ? kwhy_running_power_nj(&walk->power, stretch) : NAN;

	walk->past.busy_ns += stretch->row_count ? length_ns : 0;
	walk->past.unknown_grid_ns += walk->resident.unknown_count ? length_ns : 0;
	walk->past.resident_ns += (unsigned __int128)share * (uint64_t)length_ns;
	walk->past.unknown_energy_ns += isnan(energy_nj) ? length_ns : 0;
	walk->past.energy_nj += isnan(energy_nj) ? 0 : energy_nj;
}

/*
 * Computes pasts[] of the marks [first, end), which are all marks of one device. cuts[end - first]: their
 * times, at which the sweep splits its intervals.
 */
static enum kwhy_status walk_marks(
	struct walk *walk, size_t first, size_t end, const int64_t *cuts, struct kwhy_error *error)
{
	struct past *pasts = walk->windows->pasts;
	struct kwhy_sweep_interval stretch;
	struct kwhy_sweep sweep;
	size_t mark = first + 1;
	int ended;

	kwhy_sweep_init(&sweep, walk->windows->recording, walk->device, cuts[0], cuts[end - first - 1], cuts,
		end - first);
	while ((ended = kwhy_sweep_next(&sweep, &stretch, error)) == 0) {
		add_stretch(walk, &stretch);
		if (stretch.end_ns == cuts[mark - first])
			pasts[mark++] = walk->past;
	}
	kwhy_sweep_done(&sweep);
	return ended < 0 ? error->status : KWHY_OK;
}

static enum kwhy_status walk_device(
	struct windows *windows, size_t first, size_t end, struct kwhy_error *error)
{
	const struct kwhy_mark *marks = windows->marks.items;
	uint32_t device = (uint32_t)marks[first].scope;
	struct walk walk = {
		.windows = windows,
		.device = device,
		.energy_known = windows->ledger->devices[device].energy.known,
		.power = {.ledger = windows->ledger, .recording = windows->recording, .device = device},
	};
	int64_t *cuts = calloc(end - first, sizeof(*cuts));
	enum kwhy_status status;

	if (!cuts)
		return kwhy_fail_memory(error, "sums of ranges");
	for (size_t i = first; i < end; i++)
		cuts[i - first] = marks[i].time_ns;
	status = walk_marks(&walk, first, end, cuts, error);
	free(cuts);
	return status;
}

static enum kwhy_status walk_devices(struct windows *windows, struct kwhy_error *error)
{
	const struct kwhy_marks *marks = &windows->marks;
	enum kwhy_status status = KWHY_OK;

	for (size_t first = 0, end = 0; !status && first < marks->count; first = end) {
		while (end < marks->count && marks->items[end].scope == marks->items[first].scope)
			end++;
		status = walk_device(windows, first, end, error);
	}
	return status;
}

static void read_device(const struct windows *windows, struct kwhy_range_item *item, uint32_t device)
{
	struct kwhy_marks_near *near = &windows->near[device];
	const struct past *from =
		&windows->pasts[kwhy_marks_up_to_near(&windows->marks, device, item->start_ns, &near->start) -
			1];
	const struct past *to =
		&windows->pasts[kwhy_marks_up_to_near(&windows->marks, device, item->end_ns, &near->end) - 1];

	item->busy_ns += to->busy_ns - from->busy_ns;
	if (to->unknown_energy_ns > from->unknown_energy_ns)
		item->window_nj = NAN;
	item->window_nj += to->energy_nj - from->energy_nj;
	item->unknown_grid_ns += to->unknown_grid_ns - from->unknown_grid_ns;
	item->resident_ns += (double)(to->resident_ns - from->resident_ns) / (double)KWHY_RESIDENT_FULL;
}

static void read_item(const struct windows *windows, struct kwhy_range_item *item)
{
	size_t count;
	const uint32_t *devices = devices_of(windows, item, &count);

	item->device_count = (uint32_t)count;
	item->window_nj = count ? 0 : NAN;
	for (size_t i = 0; i < count; i++)
		read_device(windows, item, devices[i]);
}

enum kwhy_status kwhy_range_windows(struct kwhy_range_items *items, const struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, struct kwhy_error *error)
{
	struct windows windows = {.ledger = ledger, .recording = recording};
	enum kwhy_status status = mark_edges(&windows, items, error);

	if (!status)
		status = walk_devices(&windows, error);
	for (size_t i = 0; !status && i < items->count; i++)
		read_item(&windows, &items->items[i]);
	free(windows.pasts);
	free(windows.near);
	kwhy_marks_done(&windows.marks);
	kwhy_process_devices_done(&windows.devices);
	return status;
}
