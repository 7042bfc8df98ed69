/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/timeline_part.h"

#include <stdlib.h>

void kwhy_timeline_column_add(struct kwhy_timeline_column *column, int64_t value)
{
	int64_t difference = value - column->previous;

	if (!column->delta) {
		kwhy_text_add_varint(&column->bytes, (uint64_t)value);
		return;
	}
	kwhy_text_add_varint(&column->bytes, ((uint64_t)difference << 1) ^ (uint64_t)(difference >> 63));
	column->previous = value;
}

json_t *kwhy_timeline_column_finish(struct kwhy_timeline_column *column, struct kwhy_text *columns)
{
	json_t *description = json_pack("{sI sI ss}", "at", (json_int_t)columns->length, "bytes",
		(json_int_t)column->bytes.length, "form", column->delta ? "delta" : "plain");

	if (column->bytes.length)
		kwhy_text_add_bytes(columns, column->bytes.data, column->bytes.length);
	columns->failed |= column->bytes.failed;
	kwhy_text_done(&column->bytes);
	return description;
}

void kwhy_timeline_part_init(struct kwhy_timeline_part *part, int64_t from_ns, int64_t to_ns, int64_t bin_ns)
{
	*part = (struct kwhy_timeline_part){
		.from_ns = from_ns, .to_ns = to_ns, .bin_ns = bin_ns, .start.delta = true};
}

void kwhy_timeline_part_add(struct kwhy_timeline_part *part, const struct kwhy_timeline_row *row)
{
	kwhy_timeline_column_add(&part->start, row->start_ns);
	kwhy_timeline_column_add(&part->duration, row->duration_ns);
	kwhy_timeline_column_add(&part->name, row->name);
	kwhy_timeline_column_add(&part->category, row->category);
	kwhy_timeline_column_add(&part->bytes, (int64_t)row->bytes);
	part->count++;
}

json_t *kwhy_timeline_part_finish(struct kwhy_timeline_part *part, struct kwhy_text *columns)
{
	json_t *start = kwhy_timeline_column_finish(&part->start, columns);
	json_t *duration = kwhy_timeline_column_finish(&part->duration, columns);
	json_t *name = kwhy_timeline_column_finish(&part->name, columns);
	json_t *category = kwhy_timeline_column_finish(&part->category, columns);
	json_t *bytes = kwhy_timeline_column_finish(&part->bytes, columns);

	return json_pack("{sI sI sI sI so so so so so}", "from_ns", (json_int_t)part->from_ns, "to_ns",
		(json_int_t)part->to_ns, "bin_ns", (json_int_t)part->bin_ns, "count", (json_int_t)part->count,
		"start", start, "duration", duration, "name", name, "category", category, "bytes", bytes);
}

enum kwhy_status kwhy_timeline_bins_init(
	struct kwhy_timeline_bins *bins, int64_t span_ns, struct kwhy_error *error)
{
	bins->bin_ns = span_ns / KWHY_TIMELINE_BINS + 1;
	bins->items = calloc(KWHY_TIMELINE_BINS, sizeof(*bins->items));
	return bins->items ? KWHY_OK : kwhy_fail_memory(error, "the bins of the timeline");
}

void kwhy_timeline_bins_add(struct kwhy_timeline_bins *bins, const struct kwhy_timeline_row *row)
{
	int64_t end_ns = row->start_ns + row->duration_ns;

	for (int64_t at = row->start_ns; at < end_ns;) {
		struct kwhy_timeline_bin *bin = &bins->items[at / bins->bin_ns];
		int64_t next = (at / bins->bin_ns + 1) * bins->bin_ns;
		int64_t part_ns = (next < end_ns ? next : end_ns) - at;

		bin->busy_ns += part_ns;
		if (part_ns > bin->longest_ns) {
			bin->longest_ns = part_ns;
			bin->name = row->name;
			bin->category = (uint8_t)row->category;
		}
		at = next;
	}
}

json_t *kwhy_timeline_bins_finish(struct kwhy_timeline_bins *bins, int64_t span_ns, struct kwhy_text *columns)
{
	struct kwhy_timeline_part part;

	kwhy_timeline_part_init(&part, 0, span_ns, bins->bin_ns);
	for (size_t i = 0; i < KWHY_TIMELINE_BINS; i++) {
		const struct kwhy_timeline_bin *bin = &bins->items[i];
		struct kwhy_timeline_row row = {
			.start_ns = (int64_t)i * bins->bin_ns,
			.duration_ns = bin->busy_ns,
			.name = bin->name,
			.category = bin->category,
		};

		if (bin->busy_ns > 0)
			kwhy_timeline_part_add(&part, &row);
	}
	free(bins->items);
	return kwhy_timeline_part_finish(&part, columns);
}
