/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/view.h"

#include "base/quantity.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * Columns of the first line of a device and of the line of another meter: where the name of a device starts,
 * and before which column the power, its range, the power limit and the energy in J and Wh end. INDENT:
 * blanks between texts of other lines. WORDS: bytes of a text.
 */
enum {
	NAME = 7,
	POWER_END = 40,
	RANGE_END = 53,
	LIMIT_END = 62,
	JOULES_END = 71,
	WATTHOURS_END = 80,
	INDENT = 2,
	REMARK = 27, /* columns that are kept for the remark to the right of the power curve */
	WORDS = 128
};

static const char lost_words[] = "lost: answers no more", gone_words[] = "gone: divided anew (MIG)",
		  other_words[] = "divided anew (MIG): restart";

struct drawing {
	const struct kwhy_live_snapshot *snapshot;
	struct kwhy_screen *screen;
};

static void put_right(struct drawing *drawing, size_t end, const char *text)
{
	kwhy_screen_put_left_of(drawing->screen, end, KWHY_STYLE_PLAIN, text);
}

static const char *watts(char out[KWHY_QUANTITY_BYTES], double value)
{
	if (isnan(value))
		snprintf(out, KWHY_QUANTITY_BYTES, "n/a");
	else
		snprintf(out, KWHY_QUANTITY_BYTES, value < 99.95 ? "%.1f W" : "%.0f W", value);
	return out;
}

/*
 * Writes the present power, its lowest and highest value in the last second, and the energy since the start
 * in J and Wh.
 */
static void put_metered(struct drawing *drawing, const struct kwhy_live_metered *metered)
{
	char text[KWHY_QUANTITY_BYTES], range[WORDS];

	put_right(drawing, POWER_END, watts(text, metered->mean_w));
	if (!isnan(metered->low_w)) {
		snprintf(range, sizeof(range), "%.0f to %.0f", metered->low_w, metered->high_w);
		kwhy_screen_put_left_of(drawing->screen, RANGE_END, KWHY_STYLE_QUIET, range);
	}
	put_right(drawing, JOULES_END, kwhy_quantity_si(text, metered->energy_j, "J", 3));
	put_right(drawing, WATTHOURS_END, kwhy_quantity_si(text, metered->energy_j / 3600, "Wh", 3));
}

/*
 * Whether the screen is narrower than the line of put_wide(). Lines then have only the most important values,
 * without fixed columns, and are cut at the edge.
 */
static bool is_narrow(const struct drawing *drawing)
{
	return drawing->screen->columns < WATTHOURS_END;
}

/* Text in place of the power of a device whose power is not shown; NULL: it is shown. */
static const char *instead_of_power(const struct kwhy_live_device *device)
{
	if (device->lost)
		return device->mig_index < 0 ? lost_words : gone_words;
	if (device->metered)
		return NULL;
	return device->mig_index < 0 ? "power: not available" : "power: of the whole GPU alone";
}

static size_t put_next(struct drawing *drawing, size_t column, enum kwhy_style style, const char *text)
{
	return kwhy_screen_put(drawing->screen, column + INDENT, style, text);
}

/*
 * For narrow screens: writes, from `column` on, the power and the text `limit`, such as "of 700 W" (if
 * `instead` is not NULL, `instead` in place of both), and then the energy. Returns the column after them.
 */
static size_t put_narrow(struct drawing *drawing, size_t column, const char *instead, const char *limit,
	const struct kwhy_live_metered *metered)
{
	char text[KWHY_QUANTITY_BYTES];

	if (instead) {
		column = put_next(drawing, column,
			instead == lost_words ? KWHY_STYLE_FAULT : KWHY_STYLE_QUIET, instead);
	} else {
		column = put_next(drawing, column, KWHY_STYLE_PLAIN, watts(text, metered->mean_w));
		if (*limit)
			column = kwhy_screen_put(drawing->screen, column + 1, KWHY_STYLE_QUIET, limit);
	}
	if (metered)
		column = put_next(
			drawing, column, KWHY_STYLE_PLAIN, kwhy_quantity_si(text, metered->energy_j, "J", 3));
	return column;
}

static void put_wide(struct drawing *drawing, const struct kwhy_live_device *device, const char *limit)
{
	char name[POWER_END - NAME];

	snprintf(name, sizeof(name), "%.24s", device->name ? device->name : "");
	kwhy_screen_put(drawing->screen, NAME, KWHY_STYLE_NAME, name);
	if (!device->metered) {
		kwhy_screen_put_left_of(
			drawing->screen, WATTHOURS_END, KWHY_STYLE_QUIET, instead_of_power(device));
		return;
	}
	put_metered(drawing, device->metered);
	kwhy_screen_put_left_of(drawing->screen, LIMIT_END, KWHY_STYLE_QUIET, limit);
}

static void draw_first_line(struct drawing *drawing, const struct kwhy_live_device *device)
{
	const struct kwhy_live_value *limit = &device->gauges[KWHY_GAUGE_POWER_LIMIT];
	char text[WORDS], limit_text[WORDS] = "";
	size_t column;

	if (limit->known)
		snprintf(limit_text, sizeof(limit_text), "of %.0f W", (double)limit->value * 1e-3);
	kwhy_screen_begin_line(drawing->screen, KWHY_STYLE_PLAIN);
	if (device->mig_index < 0)
		snprintf(text, sizeof(text), "GPU %" PRId32, device->index);
	else
		snprintf(text, sizeof(text), "%" PRId32 ":%" PRId32, device->index, device->mig_index);
	column = kwhy_screen_put(drawing->screen, 0, KWHY_STYLE_NAME, text);
	if (!is_narrow(drawing)) {
		put_wide(drawing, device, limit_text);
		return;
	}
	column = put_narrow(drawing, column, instead_of_power(device), limit_text, device->metered);
	put_next(drawing, column, KWHY_STYLE_NAME, device->name ? device->name : "");
}

/*
 * Gauges of a device in the order in which they are shown in its second line. The values are shown as value *
 * scale.
 */
static const struct gauge_words {
	enum kwhy_gauge gauge;
	const char *format; /* printf format of value * scale, a double */
	double scale;
} gauge_words[] = {
	{KWHY_GAUGE_BUSY, "busy %.0f %%", 0.1},
	{KWHY_GAUGE_SM_ACTIVE, "SM %.0f %%", 0.1},
	{KWHY_GAUGE_TENSOR_ACTIVE, "tensor %.0f %%", 0.1},
	{KWHY_GAUGE_DRAM_ACTIVE, "DRAM %.0f %%", 0.1},
	{KWHY_GAUGE_SM_CLOCK, "%.0f MHz", 1e-6},
	{KWHY_GAUGE_TEMPERATURE, "%.0f C", 1e-3},
	{KWHY_GAUGE_MEMORY_USED, "%.1f", 1e-9},
	{KWHY_GAUGE_MEMORY_TEMPERATURE, "HBM %.0f C", 1e-3},
	{KWHY_GAUGE_SM_OCCUPANCY, "occupancy %.0f %%", 0.1},
	{KWHY_GAUGE_PCIE_RX, "PCIe in %.1f GB/s", 1e-9},
	{KWHY_GAUGE_PCIE_TX, "out %.1f GB/s", 1e-9},
	{KWHY_GAUGE_FAN_SPEED, "fan %.0f %%", 0.1},
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* the formats are those in gauge_words above */
static void gauge_text(
	char out[WORDS], const struct gauge_words *words, const struct kwhy_live_device *device)
{
	size_t length = (size_t)snprintf(
		out, WORDS, words->format, (double)device->gauges[words->gauge].value * words->scale);

	if (words->gauge != KWHY_GAUGE_MEMORY_USED)
		return;
	if (device->memory_bytes)
		length += (size_t)snprintf(
			out + length, WORDS - length, " of %.0f", (double)device->memory_bytes * 1e-9);
	snprintf(out + length, WORDS - length, " GB");
}
#pragma GCC diagnostic pop

/* Draws the second line of a device: its known gauges, as many as fit; no line if no gauge is known. */
static void draw_gauges(struct drawing *drawing, const struct kwhy_live_device *device)
{
	size_t column = 0;
	char text[WORDS];

	for (size_t i = 0; i < sizeof(gauge_words) / sizeof(gauge_words[0]); i++) {
		if (!device->gauges[gauge_words[i].gauge].known)
			continue;
		if (column == 0)
			kwhy_screen_begin_line(drawing->screen, KWHY_STYLE_PLAIN);
		gauge_text(text, &gauge_words[i], device);
		if (column + INDENT + strlen(text) > drawing->screen->columns)
			return;
		column = kwhy_screen_put(drawing->screen, column + INDENT, KWHY_STYLE_PLAIN, text);
	}
}

static double highest(const struct kwhy_live_metered *metered, size_t first)
{
	double most = NAN;

	for (size_t i = first; i < metered->history_count; i++)
		most = fmax(most, (double)metered->history_w[i]);
	return most;
}

/*
 * Character that shows a power as the height of a bar, in eight levels. share: the power, divided by the
 * highest one that is shown; NAN: no readings, shown as a blank.
 */
static uint32_t curve_code(const struct kwhy_screen *screen, double share)
{
	static const char ascii[] = "_.-:=+*#";
	int level = (int)(share * 8);

	if (isnan(share))
		return ' ';
	level = level < 0 ? 0 : level > 7 ? 7 : level;
	return screen->ascii ? (uint32_t)ascii[level] : 0x2581 + (uint32_t)level;
}

/*
 * Writes why the clocks are reduced, such as "held by power cap", without the reason "idle", which costs no
 * performance. False: there is no other reason.
 */
static bool throttle_words(const struct kwhy_live_device *device, char out[WORDS])
{
	const struct kwhy_live_value *reasons = &device->gauges[KWHY_GAUGE_THROTTLE_REASONS];
	size_t length = 0;

	for (unsigned bit = 0; reasons->known && bit < KWHY_THROTTLE_COUNT; bit++) {
		if (!(reasons->value >> bit & 1) || 1 << bit == KWHY_THROTTLE_IDLE)
			continue;
		length += (size_t)snprintf(out + length, WORDS - length, "%s%s", length ? ", " : "held by ",
			kwhy_throttle_name(bit));
		if (length >= WORDS - 1)
			break;
	}
	for (char *c = out; length > 0 && *c; c++)
		if (*c == '_')
			*c = ' ';
	return length > 0;
}

/*
 * Writes the remark to the right of a power curve of `steps` steps, and returns its style: that the device is
 * lost or divided anew, or why its clocks are reduced, or else the highest power in the curve and its time
 * span. "": none of these is known.
 */
static enum kwhy_style remark_of(
	const struct kwhy_live_device *device, double most_w, size_t steps, char out[WORDS])
{
	char power[KWHY_QUANTITY_BYTES];

	*out = '\0';
	if (device->lost) {
		snprintf(out, WORDS, "%s", lost_words);
		return KWHY_STYLE_FAULT;
	}
	if (device->division == KWHY_DIVISION_OTHER) {
		snprintf(out, WORDS, "%s", other_words);
		return KWHY_STYLE_WARNING;
	}
	if (throttle_words(device, out))
		return KWHY_STYLE_WARNING;
	if (!isnan(most_w))
		snprintf(out, WORDS, "up to %s in %.0f s", watts(power, most_w),
			(double)steps * (double)KWHY_LIVE_STEP_NS * 1e-9);
	return KWHY_STYLE_QUIET;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Draws the third line of a device: a curve of its mean powers in steps of KWHY_LIVE_STEP_NS, the newest at
 * the right, and a remark. The full height is the highest of these powers. A remark of more than REMARK
 * columns makes the curve shorter.
 */
static void draw_curve(struct drawing *drawing, const struct kwhy_live_device *device)
{
	const struct kwhy_live_metered *metered = device->metered;
	size_t columns = drawing->screen->columns, space = columns - INDENT - INDENT - REMARK;
	size_t steps = smaller(metered->history_count, space);
	double most_w = highest(metered, metered->history_count - steps);
	char remark[WORDS];
	enum kwhy_style style = remark_of(device, most_w, steps, remark);

	if (strlen(remark) > REMARK)
		space -= smaller(strlen(remark) - REMARK, space);
	steps = smaller(steps, space);
	kwhy_screen_begin_line(drawing->screen, KWHY_STYLE_PLAIN);
	for (size_t i = 0; i < steps; i++)
		kwhy_screen_put_code(drawing->screen, INDENT + space - steps + i, KWHY_STYLE_CURVE,
			curve_code(drawing->screen,
				(double)metered->history_w[metered->history_count - steps + i] / most_w));
	kwhy_screen_put(drawing->screen, INDENT + space + INDENT, style, remark);
}

static void draw_devices(struct drawing *drawing)
{
	for (size_t d = 0; d < drawing->snapshot->device_count; d++) {
		const struct kwhy_live_device *device = &drawing->snapshot->devices[d];

		draw_first_line(drawing, device);
		draw_gauges(drawing, device);
		if (device->metered && !(device->lost && is_narrow(drawing)))
			draw_curve(drawing, device);
	}
}

static void draw_domains(struct drawing *drawing)
{
	for (size_t m = 0; m < drawing->snapshot->metered_count; m++) {
		const struct kwhy_live_metered *metered = &drawing->snapshot->metered[m];
		char name[POWER_END - INDENT];
		size_t column;

		if (metered->kind == KWHY_METERED_DEVICE)
			continue;
		snprintf(name, sizeof(name), "%.28s", metered->name);
		kwhy_screen_begin_line(drawing->screen, KWHY_STYLE_PLAIN);
		column = kwhy_screen_put(drawing->screen, 0, KWHY_STYLE_NAME, name);
		if (is_narrow(drawing))
			put_narrow(drawing, column, NULL, "", metered);
		else
			put_metered(drawing, metered);
	}
}

/*
 * Finds the process with the most device memory among those of the first `devices` devices that are not drawn
 * yet. The processes of device d are sorted by memory, and its first taken[d] are drawn already. False: all
 * are drawn.
 */
static bool next_process(const struct kwhy_live_snapshot *snapshot, size_t taken[], size_t devices,
	size_t *out_device, const struct kwhy_live_process **out)
{
	*out = NULL;
	for (size_t d = 0; d < devices; d++) {
		const struct kwhy_live_device *device = &snapshot->devices[d];

		if (taken[d] == device->process_count)
			continue;
		if (!*out || device->processes[taken[d]].memory_bytes > (*out)->memory_bytes) {
			*out = &device->processes[taken[d]];
			*out_device = d;
		}
	}
	return *out != NULL;
}

static void draw_process(struct drawing *drawing, const struct kwhy_live_device *device,
	const struct kwhy_live_process *process)
{
	char text[WORDS], memory[KWHY_QUANTITY_BYTES] = "n/a";

	if (process->memory_bytes >= 0)
		kwhy_quantity_bytes(memory, (uint64_t)process->memory_bytes);
	snprintf(text, sizeof(text), "%9" PRId64 "%5" PRId32 "%12s  %s", process->pid, device->index, memory,
		*process->command ? process->command : "(not of this container)");
	kwhy_screen_begin_line(drawing->screen, KWHY_STYLE_PLAIN);
	kwhy_screen_put(drawing->screen, 0, KWHY_STYLE_PLAIN, text);
}

enum { DEVICES_MAX = 64 };

static void draw_processes(struct drawing *drawing, size_t most)
{
	size_t devices = drawing->snapshot->device_count < DEVICES_MAX ? drawing->snapshot->device_count
								       : DEVICES_MAX;
	size_t taken[DEVICES_MAX] = {0}, d = 0;
	const struct kwhy_live_process *process;

	for (size_t drawn = 0; drawn < most && next_process(drawing->snapshot, taken, devices, &d, &process);
		drawn++) {
		if (drawn == 0) {
			kwhy_screen_begin_line(drawing->screen, KWHY_STYLE_PLAIN);
			kwhy_screen_put(
				drawing->screen, 0, KWHY_STYLE_QUIET, "      PID  GPU      memory  command");
		}
		draw_process(drawing, &drawing->snapshot->devices[d], process);
		taken[d]++;
	}
}

/* Number of GPUs; their MIG instances do not count. */
static size_t count_gpus(const struct kwhy_live_snapshot *snapshot)
{
	size_t count = 0;

	for (size_t d = 0; d < snapshot->device_count; d++)
		count += snapshot->devices[d].mig_index < 0;
	return count;
}

static void draw_title(struct drawing *drawing)
{
	const struct kwhy_live_snapshot *snapshot = drawing->snapshot;
	char text[WORDS], power[KWHY_QUANTITY_BYTES], energy[KWHY_QUANTITY_BYTES];
	double power_w = NAN, energy_j = NAN;
	long seconds = (long)snapshot->since_start_s;
	size_t gpus = count_gpus(snapshot);

	for (size_t m = 0; m < snapshot->metered_count; m++) {
		const struct kwhy_live_metered *metered = &snapshot->metered[m];

		if (metered->kind != KWHY_METERED_DEVICE)
			continue;
		power_w = isnan(metered->mean_w) ? power_w : metered->mean_w + (isnan(power_w) ? 0 : power_w);
		energy_j = isnan(metered->energy_j) ? energy_j
						    : metered->energy_j + (isnan(energy_j) ? 0 : energy_j);
	}
	snprintf(text, sizeof(text), "%s %zu GPU%s  %s now, %s in %ld:%02ld:%02ld",
		is_narrow(drawing) ? "" : " kwhy watch ", gpus, gpus == 1 ? "" : "s", watts(power, power_w),
		kwhy_quantity_si(energy, energy_j, "J", 3), seconds / 3600, seconds / 60 % 60, seconds % 60);
	kwhy_screen_begin_line(drawing->screen, KWHY_STYLE_TITLE);
	kwhy_screen_put(drawing->screen, 0, KWHY_STYLE_TITLE, text);
}

/*
 * In ns: in this time after its start the sampler finds out when the energy counters are updated, which makes
 * the cost of reading higher than later, so the cost is not shown yet.
 */
#define COST_FIRST_NS INT64_C(10000000000)

/*
 * Appends to `text` the CPU time of the sampler as a share of one core, its longest reading and, if it fits
 * into the line, its energy.
 */
static void add_reading_cost(const struct drawing *drawing, char *text, size_t text_bytes)
{
	const struct kwhy_live_cost *cost = &drawing->snapshot->cost;
	char longest[KWHY_QUANTITY_BYTES], energy[KWHY_QUANTITY_BYTES], joules[WORDS];
	size_t length = strlen(text);

	snprintf(text + length, text_bytes - length, "; reading takes %.2f %% of a core, %s at most",
		(double)cost->sampler.cpu_ns / (double)cost->sampler.running_ns * 100,
		kwhy_quantity_time(longest, cost->sampler.longest_read_ns));
	if (!isfinite(cost->sampler_j))
		return;
	snprintf(joules, sizeof(joules), ", %s modelled", kwhy_quantity_si(energy, cost->sampler_j, "J", 3));
	length = strlen(text);
	if (length + strlen(joules) <= drawing->screen->columns)
		snprintf(text + length, text_bytes - length, "%s", joules);
}

static void draw_cost(struct drawing *drawing)
{
	const struct kwhy_live_cost *cost = &drawing->snapshot->cost;
	uint64_t lost = cost->losses.lost + cost->losses.forgotten;
	char text[WORDS * 2];

	snprintf(text, sizeof(text), "readings: %" PRIu64 " lost, %" PRIu64 " refused", lost,
		cost->losses.failures);
	if (cost->sampler.running_ns >= COST_FIRST_NS)
		add_reading_cost(drawing, text, sizeof(text));
	kwhy_screen_begin_line(drawing->screen, KWHY_STYLE_PLAIN);
	kwhy_screen_put(drawing->screen, 0, lost ? KWHY_STYLE_WARNING : KWHY_STYLE_QUIET, text);
}

/*
 * Number of bytes of the first line of a sentence that is broken at blanks into lines of at most `columns`
 * bytes; a longer word is cut.
 */
static size_t line_length(const char *text, size_t columns)
{
	size_t length = strlen(text), most = smaller(columns, WORDS * 2 - 1), cut = most;

	if (length <= most)
		return length;
	while (cut > 0 && text[cut] != ' ')
		cut--;
	return cut > 0 ? cut : most;
}

static const char *after_line(const char *text, size_t columns)
{
	text += line_length(text, columns);
	return text + strspn(text, " ");
}

static size_t lines_beyond_first(const char *text, size_t columns)
{
	size_t lines = 0;

	for (text = after_line(text, columns); *text; text = after_line(text, columns))
		lines++;
	return lines;
}

static void draw_wrapped(struct drawing *drawing, const char *text)
{
	size_t columns = drawing->screen->columns;
	char line[WORDS * 2];

	for (; *text; text = after_line(text, columns)) {
		snprintf(line, sizeof(line), "%.*s", (int)line_length(text, columns), text);
		kwhy_screen_begin_line(drawing->screen, KWHY_STYLE_PLAIN);
		kwhy_screen_put(drawing->screen, 0, KWHY_STYLE_QUIET, line);
	}
}

static void draw_absences(struct drawing *drawing, size_t more_lines)
{
	for (size_t a = 0; a < drawing->snapshot->absence_count; a++) {
		const char *text = drawing->snapshot->absences[a].text;
		size_t more = lines_beyond_first(text, drawing->screen->columns);

		if (more <= more_lines) {
			draw_wrapped(drawing, text);
			more_lines -= more;
		} else {
			kwhy_screen_begin_line(drawing->screen, KWHY_STYLE_PLAIN);
			kwhy_screen_put(drawing->screen, 0, KWHY_STYLE_QUIET, text);
		}
	}
}

void kwhy_view_draw(
	const struct kwhy_live_snapshot *snapshot, const struct kwhy_view *view, struct kwhy_screen *out)
{
	struct drawing drawing = {snapshot, out};

	draw_title(&drawing);
	draw_devices(&drawing);
	draw_domains(&drawing);
	draw_processes(&drawing, view->processes_most);
	draw_cost(&drawing);
	draw_absences(&drawing, view->more_lines);
}
