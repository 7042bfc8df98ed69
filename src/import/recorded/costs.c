/* SPDX-License-Identifier: Apache-2.0 */
#include "import/recorded/recorded.h"

void kwhy_recorded_cost_keep(
	struct kwhy_recorded *recorded, uint32_t writer, const struct kwhy_wire_cost *cost)
{
	struct kwhy_recorded_writer *row = &recorded->writers[writer];

	if (cost->kind >= KWHY_WIRE_COST_KIND_COUNT || cost->spent_ns < 0)
		return;
	row->costs[cost->kind] = *cost;
	row->has_cost[cost->kind] = true;
}

/* The kinds of costs must have the same numbers in the file as in the recording. */
_Static_assert((int)KWHY_COST_SAMPLER == (int)KWHY_WIRE_COST_SAMPLER &&
		(int)KWHY_COST_KIND_COUNT == (int)KWHY_WIRE_COST_KIND_COUNT,
	"kinds of costs");

enum kwhy_status kwhy_recorded_costs_apply(struct kwhy_recorded *recorded, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < recorded->writer_count; i++) {
		const struct kwhy_recorded_writer *writer = &recorded->writers[i];

		for (uint32_t kind = 0; !status && kind < KWHY_WIRE_COST_KIND_COUNT; kind++) {
			const struct kwhy_cost row = {.process = writer->process,
				.kind = kind,
				.spent_ns = writer->costs[kind].spent_ns,
				.count = writer->costs[kind].count};

			if (writer->has_cost[kind])
				status = kwhy_recording_add_cost(recorded->recording, &row, error);
		}
	}
	return status;
}

enum kwhy_status kwhy_recorded_overhead_add(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_overhead *overhead, struct kwhy_error *error)
{
	struct kwhy_overhead row = {.start_ns = kwhy_recorded_time(recorded, writer, overhead->start_mono_ns),
		.end_ns = kwhy_recorded_time(recorded, writer, overhead->end_mono_ns),
		.name = kwhy_recorded_name(recorded, writer, overhead->name),
		.thread = KWHY_NONE};
	enum kwhy_status status = KWHY_OK;

	if (row.start_ns == KWHY_UNKNOWN_TIME || row.end_ns <= row.start_ns)
		return KWHY_OK;
	if (overhead->thread != KWHY_WIRE_UNKNOWN_U32)
		status = kwhy_recorded_thread(recorded, writer, overhead->thread, &row.thread, error);
	return status ? status : kwhy_recording_add_overhead(recorded->recording, &row, error);
}
