/* SPDX-License-Identifier: Apache-2.0 */
#include "report/transfers.h"

#include "base/quantity.h"
#include "model/meter.h"
#include "report/text_context.h"
#include "report/transfers/columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELL_BYTES = 96, SHOWN_SIZES = 6, TIME_BELOW_BYTES = 65536 };

#define WIDTH_RATIO 0.02

struct page {
	const struct kwhy_transfers *transfers;
	const struct kwhy_text_style *style;
	struct kwhy_text *out;
};

const char *kwhy_transfer_size_text(char out[KWHY_TRANSFER_SIZE_BYTES], uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
	size_t unit = 0;

	while (unit < 3 && bytes && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	snprintf(out, KWHY_TRANSFER_SIZE_BYTES, "%" PRIu64 " %s", bytes, units[unit]);
	return out;
}

static struct kwhy_text_context context_of(const struct page *page)
{
	return (struct kwhy_text_context){.style = page->style, .out = page->out};
}

static void heading(const struct page *page, const char *title, const char *remark)
{
	const struct kwhy_text_context context = context_of(page);

	kwhy_text_context_heading(&context, title, remark);
}

/*
 * Writes a heading and a table of those elements of `rows`, an array of `count` structs of row_bytes bytes
 * each, for which is_shown() is true. Writes nothing if there are none.
 */
static void add_table(const struct page *page, const struct kwhy_columns *columns, const void *rows,
	size_t count, size_t row_bytes, bool (*is_shown)(const struct page *page, const void *row),
	const char *title, const char *remark)
{
	struct kwhy_text_table table = {.parts = {columns}};

	for (size_t i = 0; i < count; i++) {
		const void *row = (const char *)rows + i * row_bytes;

		if (!is_shown || is_shown(page, row))
			kwhy_text_table_add(&table, row);
	}
	if (table.table.cell_count)
		heading(page, title, remark);
	kwhy_table_write(&table.table, page->style, page->out);
}

#define ADD_TABLE(page, name, is_shown, title, remark)                                                 \
	add_table(page, &kwhy_transfer_##name##_columns, (page)->transfers->name##s,                   \
		(page)->transfers->name##_count, sizeof(*(page)->transfers->name##s), is_shown, title, \
		remark)

static double width(const struct kwhy_transfer_point *point)
{
	return (point->summary.high_s - point->summary.low_s) / point->summary.median_s;
}

static void add_conditions(const struct page *page)
{
	const struct kwhy_transfers *transfers = page->transfers;
	size_t measured = 0, narrow = 0, verified = 0;
	const struct kwhy_text_context context = context_of(page);
	double hottest = NAN, slowest = NAN;
	char seconds[32] = "";
	unsigned bits = 0;

	for (size_t i = 0; i < transfers->point_count; i++) {
		const struct kwhy_transfer_point *point = &transfers->points[i];

		measured += point->sample_count > 0;
		verified += point->verified;
		narrow += width(point) <= WIDTH_RATIO;
		hottest = fmax(hottest, point->conditions.temperature_c);
		slowest = fmin(slowest, point->conditions.clock_hz);
		bits |= point->conditions.throttle_bits;
	}
	kwhy_text_addf(page->out, "%s (%s), driver %s, CUDA %s, %.10s\n",
		transfers->device_name ? transfers->device_name : "a device of unknown name",
		transfers->backend, transfers->driver ? transfers->driver : "unknown",
		transfers->cuda ? transfers->cuda : "unknown",
		transfers->measured_on ? transfers->measured_on : "no date");
	if (isfinite(transfers->time_pass_s))
		snprintf(seconds, sizeof(seconds), " in %.1f s", transfers->time_pass_s);
	kwhy_text_context_linef(&context, "",
		"%zu transfers measured%s, %zu of them to 2 %% or better (95 %% interval of the median, "
		"whole width); %zu verified byte for byte",
		measured, seconds, narrow, verified);
	if (isfinite(hottest))
		kwhy_text_addf(page->out, "at most %.0f °C, at least %.0f MHz\n", hottest, slowest * 1e-6);
	for (unsigned bit = 0; bit < KWHY_THROTTLE_COUNT; bit++)
		if ((bits & ~(unsigned)KWHY_THROTTLE_IDLE) & 1u << bit)
			kwhy_text_addf(page->out, "The GPU held back (%s) for a part of the time.\n",
				kwhy_throttle_name(bit));
	if (transfers->ended_early)
		kwhy_text_context_linef(&context, "", "Ended early: %s", transfers->ended_early);
}

/*
 * Chooses the sizes for the columns of the table of single transfers: 1 B, 4 KiB, 64 KiB, 1 MiB and 16 MiB as
 * far as they were measured, and the largest measured size. Returns their number.
 */
static size_t choose_sizes(const struct page *page, uint64_t out[SHOWN_SIZES])
{
	static const uint64_t wanted[] = {1, 4096, 65536, 1 << 20, 16 << 20};
	uint64_t largest = 0;
	size_t count = 0;

	for (size_t w = 0; w < sizeof(wanted) / sizeof(wanted[0]); w++)
		for (size_t i = 0; i < page->transfers->point_count; i++)
			if (page->transfers->points[i].bytes == wanted[w] &&
				page->transfers->points[i].pieces == 1) {
				out[count++] = wanted[w];
				break;
			}
	for (size_t i = 0; i < page->transfers->point_count; i++)
		if (page->transfers->points[i].pieces == 1 && page->transfers->points[i].bytes > largest)
			largest = page->transfers->points[i].bytes;
	if (largest && (count == 0 || out[count - 1] < largest))
		out[count++] = largest;
	return count;
}

static const struct kwhy_transfer_point *find(
	const struct page *page, const struct kwhy_transfer_point *like, uint64_t bytes)
{
	for (size_t i = 0; i < page->transfers->point_count; i++) {
		const struct kwhy_transfer_point *point = &page->transfers->points[i];

		if (point->bytes == bytes && point->pieces == like->pieces && point->clock == like->clock &&
			point->direction == like->direction && point->sample_count > 0 &&
			strcmp(point->strategy, like->strategy) == 0)
			return point;
	}
	return NULL;
}

/*
 * Adds the median time of a transfer below TIME_BELOW_BYTES, or the rate of a larger one. The cell is empty
 * if `point` is NULL, because the size was not measured.
 */
static void add_cell(struct kwhy_table *table, const struct kwhy_transfer_point *point)
{
	char text[KWHY_QUANTITY_BYTES] = "";

	if (point && point->bytes < TIME_BELOW_BYTES)
		kwhy_quantity_si(text, point->summary.median_s, "s", 3);
	else if (point)
		kwhy_quantity_si(text, kwhy_transfer_rate(point), "B/s", 3);
	kwhy_table_cell(table, text);
}

static bool is_first_of_its_row(const struct page *page, size_t which)
{
	const struct kwhy_transfer_point *point = &page->transfers->points[which];

	for (size_t i = 0; i < which; i++) {
		const struct kwhy_transfer_point *other = &page->transfers->points[i];

		if (other->pieces == 1 && other->clock == point->clock &&
			other->direction == point->direction && strcmp(other->strategy, point->strategy) == 0)
			return false;
	}
	return point->pieces == 1;
}

static bool has_samples(const struct page *page, const struct kwhy_transfer_point *like)
{
	for (size_t i = 0; i < page->transfers->point_count; i++) {
		const struct kwhy_transfer_point *point = &page->transfers->points[i];

		if (point->sample_count > 0 && point->pieces == 1 && point->clock == like->clock &&
			point->direction == like->direction && strcmp(point->strategy, like->strategy) == 0)
			return true;
	}
	return false;
}

static void add_rows(const struct page *page, enum kwhy_transfer_direction direction, const uint64_t *sizes,
	size_t count, struct kwhy_table *table)
{
	char name[CELL_BYTES];

	for (size_t i = 0; i < page->transfers->point_count; i++) {
		const struct kwhy_transfer_point *point = &page->transfers->points[i];

		if (point->direction != direction || !is_first_of_its_row(page, i) ||
			!has_samples(page, point))
			continue;
		snprintf(name, sizeof(name), "%s, %s", point->strategy,
			kwhy_transfer_clock_title(point->clock));
		kwhy_table_cell(table, name);
		for (size_t k = 0; k < count; k++)
			add_cell(table, find(page, point, sizes[k]));
	}
}

static void add_direction(const struct page *page, enum kwhy_transfer_direction direction, const char *title,
	const char *remark)
{
	struct kwhy_table_column columns[SHOWN_SIZES + 1] = {{"", KWHY_COLUMN_LEFT}};
	char titles[SHOWN_SIZES][KWHY_TRANSFER_SIZE_BYTES];
	uint64_t sizes[SHOWN_SIZES];
	size_t count = choose_sizes(page, sizes);
	struct kwhy_table table;

	for (size_t i = 0; i < count; i++)
		columns[i + 1] = (struct kwhy_table_column){
			kwhy_transfer_size_text(titles[i], sizes[i]), KWHY_COLUMN_RIGHT};
	kwhy_table_init(&table, columns, count + 1);
	add_rows(page, direction, sizes, count, &table);
	if (table.cell_count)
		heading(page, title, remark);
	kwhy_table_write(&table, page->style, page->out);
}

static void add_directions(const struct page *page)
{
	const struct kwhy_text_context context = context_of(page);

	add_direction(page, KWHY_TRANSFER_H2D, "From host to device", NULL);
	add_direction(page, KWHY_TRANSFER_D2H, "From device to host", NULL);
	add_direction(page, KWHY_TRANSFER_BOTH, "Both directions concurrently", "rates of both together");
	kwhy_text_context_linef(&context, "  ",
		"row: one of a row of them, all queued before the first begins. alone: between two events of "
		"the device. host: from the call until the host knows it is done.");
}

static bool is_shown_choice(const struct page *page, const void *row)
{
	const struct kwhy_transfer_choice *choice = row;

	if (page->style->verbose)
		return true;
	return choice->pieces > 1 &&
		(choice->pieces == 16 || choice->pieces == 256 || choice->pieces == 4096) &&
		(choice->piece_bytes == 16 || choice->piece_bytes == 256 || choice->piece_bytes == 4096 ||
			choice->piece_bytes == 65536);
}

/*
 * Whether the table shows a comparison of two methods (struct kwhy_transfer_baseline). Without --verbose it
 * shows only comparisons for 1, 16 or 1024 pieces.
 */
static bool is_shown_baseline(const struct page *page, const void *row)
{
	const struct kwhy_transfer_baseline *baseline = row;

	return page->style->verbose || baseline->pieces == 1 || baseline->pieces == 16 ||
		baseline->pieces == 1024;
}

/*
 * Whether the table of the cost of page-locking shows a size. Without --verbose it shows only sizes that are
 * powers of 16.
 */
static bool is_shown_pinning(const struct page *page, const void *row)
{
	uint64_t bytes = ((const struct kwhy_transfer_pinning *)row)->bytes;

	return page->style->verbose || (!(bytes & (bytes - 1)) && __builtin_ctzll(bytes) % 4 == 0);
}

static void add_compression(const struct page *page)
{
	const struct kwhy_transfer_compression *compression = &page->transfers->compression;
	const struct kwhy_text_context context = context_of(page);
	char size[KWHY_TRANSFER_SIZE_BYTES], link[KWHY_QUANTITY_BYTES], expand[KWHY_QUANTITY_BYTES],
		compress[KWHY_QUANTITY_BYTES], overlapped[64] = "";

	if (!compression->bytes)
		return;
	if (isfinite(compression->overlapped_ratio))
		snprintf(overlapped, sizeof(overlapped), ", expanded while it is copied %.2f times",
			1 / compression->overlapped_ratio);
	heading(page, "What compressing is worth", NULL);
	kwhy_text_context_linef(&context, "  ",
		"%s of %.40s data shrink %.2f to 1. The link makes %s, expanding %s, compressing by one "
		"thread %s. Copied and then expanded it takes %.2f times as long as a pinned copy%s. With "
		"both at once it pays where the data shrinks and expanding beats the link: %s; on the fly "
		"compressing must beat it, too: %s.",
		kwhy_transfer_size_text(size, compression->bytes),
		page->transfers->data ? page->transfers->data : "data", compression->ratio,
		kwhy_quantity_si(link, compression->link_bytes_per_s, "B/s", 3),
		kwhy_quantity_si(expand, compression->expand_bytes_per_s, "B/s", 3),
		kwhy_quantity_si(compress, compression->compress_bytes_per_s, "B/s", 3),
		1 / compression->serial_ratio, overlapped,
		compression->ratio > 1 && compression->expand_bytes_per_s > compression->link_bytes_per_s
			? "yes"
			: "no",
		compression->ratio > 1 && compression->expand_bytes_per_s > compression->link_bytes_per_s &&
				compression->compress_bytes_per_s > compression->link_bytes_per_s
			? "yes"
			: "no");
}

static void add_energies(const struct page *page)
{
	const struct kwhy_text_context context = context_of(page);
	struct kwhy_text_table table = {.parts = {&kwhy_transfer_energy_columns}};

	for (size_t i = 0; i < page->transfers->energy_count; i++) {
		const struct kwhy_transfer_energy_row row = kwhy_transfer_energy_row_of(page->transfers, i);

		kwhy_text_table_add(&table, &row);
	}
	if (table.table.cell_count)
		heading(page, "Energy of a byte", "the GPU's, gross and above an idle context; the CPU's");
	kwhy_table_write(&table.table, page->style, page->out);
	if (page->transfers->energy_missing)
		kwhy_text_context_linef(&context, "", "The GPU's energy is not available: %s",
			page->transfers->energy_missing);
}

static void add_absences(const struct page *page)
{
	const struct kwhy_text_context context = context_of(page);

	if (page->transfers->absence_count)
		heading(page, "Not measured here", NULL);
	for (size_t i = 0; i < page->transfers->absence_count; i++)
		kwhy_text_context_linef(&context, "  - ", "%s: %s", page->transfers->absences[i].strategy,
			page->transfers->absences[i].reason);
}

enum kwhy_status kwhy_report_transfers_text(const struct kwhy_transfers *transfers,
	const struct kwhy_text_style *style, struct kwhy_text *out, struct kwhy_error *error)
{
	const struct page page = {transfers, style, out};

	add_conditions(&page);
	add_directions(&page);
	ADD_TABLE(
		&page, choice, is_shown_choice, "The fastest method for many pieces", "by the host's clock");
	ADD_TABLE(
		&page, baseline, is_shown_baseline, "What pays, and from where on", "intervals do not meet");
	ADD_TABLE(&page, pinning, is_shown_pinning, "When page-locking pays", NULL);
	add_compression(&page);
	ADD_TABLE(
		&page, curve, NULL, "Curves", "seconds or joules = alpha + beta x bytes, in straight pieces");
	add_energies(&page);
	add_absences(&page);
	return kwhy_text_check(out, error);
}
