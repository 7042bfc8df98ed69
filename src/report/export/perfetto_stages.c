/* SPDX-License-Identifier: Apache-2.0 */
#include "model/counter.h"
#include "report/export/perfetto_writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * The work of devices as Perfetto's GPU render stages, so that Perfetto's views of GPUs list it, with its
 * energy among the arguments. The field numbers are from protos/perfetto/trace/gpu/ and interned_data in
 * Perfetto's source. Older versions of Perfetto take the name of a stage only from its specification, so a
 * specification is written for each name.
 */
enum {
	PACKET_COUNTER_EVENT = 52,
	PACKET_RENDER_STAGE = 53,
	INTERNED_CONTEXTS = 23,
	INTERNED_STAGES = 24,
	CONTEXT_IID = 1,
	CONTEXT_PID = 2,
	DESCRIPTION_IID = 1,
	DESCRIPTION_NAME = 2,
	DESCRIPTION_CATEGORY = 4,
	CATEGORY_COMPUTE = 2,
	STAGE_EVENT_ID = 1,
	STAGE_DURATION = 2,
	STAGE_CONTEXT = 5,
	STAGE_EXTRA = 6,
	STAGE_SUBMISSION = 10,
	STAGE_GPU = 11,
	STAGE_QUEUE_IID = 13,
	STAGE_IID = 14,
	EXTRA_NAME = 1,
	EXTRA_VALUE = 2,
	COUNTERS_DESCRIPTOR = 1,
	COUNTERS_VALUE = 2,
	COUNTERS_GPU = 3,
	DESCRIPTOR_SPEC = 1,
	SPEC_ID = 1,
	SPEC_NAME = 2,
	SPEC_UNITS = 7,
	UNIT_WATT = 29,
	VALUE_ID = 1,
	VALUE_DOUBLE = 3,
};

/*
 * Perfetto identifies names of stages and hardware queues by interned ids (iid) from one range: the names of
 * the recording have the ids 1 to names.count, and each lane of each stream has an id above names.count.
 */
static uint64_t queue_iid(const struct kwhy_pftrace *writer, size_t stream, size_t lane)
{
	return writer->recording->names.count + 1 + stream * KWHY_PFTRACE_LANES + lane;
}

static void describe(struct kwhy_pftrace *writer, uint64_t iid, const char *name)
{
	struct kwhy_text *out = &writer->sink.text;
	size_t packet = kwhy_pftrace_begin(writer);
	size_t data = kwhy_proto_begin(out, KWHY_PFTRACE_INTERNED_DATA);
	size_t entry = kwhy_proto_begin(out, INTERNED_STAGES);

	kwhy_proto_varint(out, DESCRIPTION_IID, iid);
	kwhy_proto_string(out, DESCRIPTION_NAME, name);
	kwhy_proto_varint(out, DESCRIPTION_CATEGORY, CATEGORY_COMPUTE);
	kwhy_proto_end(out, entry);
	kwhy_proto_end(out, data);
	kwhy_proto_varint(out, KWHY_PFTRACE_SEQUENCE_FLAGS, KWHY_PFTRACE_NEEDS_STATE);
	kwhy_pftrace_end(writer, packet);
}

/* A process is written as a graphics context of Perfetto. */
static void describe_process(struct kwhy_pftrace *writer, uint32_t process)
{
	struct kwhy_text *out = &writer->sink.text;
	int64_t pid = writer->recording->processes[process].pid;
	size_t packet = kwhy_pftrace_begin(writer);
	size_t data = kwhy_proto_begin(out, KWHY_PFTRACE_INTERNED_DATA);
	size_t entry = kwhy_proto_begin(out, INTERNED_CONTEXTS);

	kwhy_proto_varint(out, CONTEXT_IID, (uint64_t)process + 1);
	if (pid >= 0 && pid <= INT32_MAX)
		kwhy_proto_varint(out, CONTEXT_PID, (uint64_t)pid);
	kwhy_proto_end(out, entry);
	kwhy_proto_end(out, data);
	kwhy_proto_varint(out, KWHY_PFTRACE_SEQUENCE_FLAGS, KWHY_PFTRACE_NEEDS_STATE);
	kwhy_pftrace_end(writer, packet);
}

/*
 * Writes the interned specification of the name of each activity; take_queue() writes the specifications of
 * hardware queues.
 */
static void describe_names(struct kwhy_pftrace *writer)
{
	const struct kwhy_activities *rows = &writer->recording->activities;
	const struct kwhy_names *names = &writer->recording->names;
	bool *used = calloc(names->count + 1, sizeof(*used));

	writer->sink.failed |= !used;
	for (size_t i = 0; used && i < rows->count; i++)
		used[rows->name[i]] = true;
	for (uint32_t name = 0; used && name < names->count; name++)
		if (used[name])
			describe(writer, (uint64_t)name + 1, kwhy_names_get(names, name));
	free(used);
}

void kwhy_pftrace_describe_stages(struct kwhy_pftrace *writer)
{
	for (uint32_t p = 0; p < writer->recording->process_count; p++)
		describe_process(writer, p);
	describe_names(writer);
}

static void add_text(struct kwhy_text *out, const char *name, const char *value)
{
	size_t extra = kwhy_proto_begin(out, STAGE_EXTRA);

	kwhy_proto_string(out, EXTRA_NAME, name);
	kwhy_proto_string(out, EXTRA_VALUE, value);
	kwhy_proto_end(out, extra);
}

static void add_number(struct kwhy_text *out, enum kwhy_pftrace_note note, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	add_text(out, kwhy_pftrace_note_name(note), text);
}

static void add_known(struct kwhy_text *out, enum kwhy_pftrace_note note, uint64_t value, uint64_t unknown)
{
	if (value != unknown)
		add_number(out, note, value);
}

static void add_energy(struct kwhy_pftrace *writer, size_t row)
{
	double energy_nj = kwhy_ledger_activity_nj(writer->report->ledger, writer->recording, row);
	char text[32];

	if (!isfinite(energy_nj))
		return;
	snprintf(text, sizeof(text), "%.9f", energy_nj * 1e-9);
	add_text(&writer->sink.text, kwhy_pftrace_note_name(KWHY_PFTRACE_ENERGY), text);
}

static void add_extras(struct kwhy_pftrace *writer, size_t row)
{
	const struct kwhy_activities *rows = &writer->recording->activities;
	struct kwhy_text *out = &writer->sink.text;

	add_energy(writer, row);
	if (rows->kind[row] != KWHY_ACTIVITY_KERNEL)
		add_text(out, kwhy_pftrace_note_name(KWHY_PFTRACE_KIND),
			kwhy_activity_kind_name(rows->kind[row]));
	add_number(out, KWHY_PFTRACE_STREAM_ROW, rows->stream[row]);
	if (rows->call[row] != KWHY_NONE)
		add_number(out, KWHY_PFTRACE_CORRELATION, (uint64_t)rows->call[row] + 1);
	add_known(out, KWHY_PFTRACE_BYTES, rows->bytes[row], KWHY_UNKNOWN_BYTES);
	add_known(out, KWHY_PFTRACE_BLOCKS, rows->blocks[row], KWHY_UNKNOWN_BLOCKS);
	add_known(out, KWHY_PFTRACE_THREADS, rows->threads_per_block[row], KWHY_UNKNOWN_U16);
	add_known(out, KWHY_PFTRACE_REGISTERS, rows->registers[row], KWHY_UNKNOWN_U16);
	add_known(out, KWHY_PFTRACE_SHARED, rows->shared_bytes[row], KWHY_NONE);
	add_known(out, KWHY_PFTRACE_GRAPH_NODE, rows->graph_node[row], KWHY_NONE);
	add_known(out, KWHY_PFTRACE_PEER, rows->peer[row], KWHY_UNKNOWN_U16);
	if (rows->kind[row] == KWHY_ACTIVITY_COPY)
		add_text(out, kwhy_pftrace_note_name(KWHY_PFTRACE_COPY_KIND),
			kwhy_copy_kind_name(rows->copy_kind[row]));
	if (rows->src_memory[row])
		add_text(out, kwhy_pftrace_note_name(KWHY_PFTRACE_SOURCE),
			kwhy_memory_kind_name(rows->src_memory[row]));
	if (rows->dst_memory[row])
		add_text(out, kwhy_pftrace_note_name(KWHY_PFTRACE_TARGET),
			kwhy_memory_kind_name(rows->dst_memory[row]));
}

/*
 * Returns the iid of the queue of an activity: a lane of its stream that is free when the activity starts.
 * Before a queue is used for the first time, its specification is written.
 */
static uint64_t take_queue(struct kwhy_pftrace *writer, size_t row)
{
	const struct kwhy_activities *rows = &writer->recording->activities;
	const struct kwhy_stream *stream = &writer->recording->streams[rows->stream[row]];
	bool is_new;
	size_t lane = kwhy_pftrace_lane(
		writer, rows->stream[row], rows->start_ns[row], rows->end_ns[row], &is_new);
	uint64_t iid = queue_iid(writer, rows->stream[row], lane);

	if (is_new) {
		kwhy_text_clear(&writer->label);
		kwhy_export_names_name_device(&writer->names, stream->device, &writer->label);
		kwhy_text_addf(&writer->label, ", stream %" PRId64, stream->id);
		describe(writer, iid, kwhy_pftrace_label(writer));
	}
	return iid;
}

static void write_stage(struct kwhy_pftrace *writer, size_t row)
{
	const struct kwhy_activities *rows = &writer->recording->activities;
	const struct kwhy_stream *stream = &writer->recording->streams[rows->stream[row]];
	struct kwhy_text *out = &writer->sink.text;
	uint64_t queue = take_queue(writer, row);
	size_t packet = kwhy_pftrace_begin(writer), stage;

	kwhy_proto_varint(out, KWHY_PFTRACE_TIMESTAMP, kwhy_pftrace_stamp(writer, rows->start_ns[row]));
	stage = kwhy_proto_begin(out, PACKET_RENDER_STAGE);
	kwhy_proto_varint(out, STAGE_EVENT_ID, (uint64_t)row + 1);
	kwhy_proto_varint(out, STAGE_DURATION, (uint64_t)(rows->end_ns[row] - rows->start_ns[row]));
	kwhy_proto_varint(out, STAGE_CONTEXT, (uint64_t)stream->process + 1);
	kwhy_proto_varint(out, STAGE_GPU, stream->device);
	kwhy_proto_varint(out, STAGE_QUEUE_IID, queue);
	kwhy_proto_varint(out, STAGE_IID, (uint64_t)rows->name[row] + 1);
	if (rows->call[row] != KWHY_NONE)
		kwhy_proto_varint(out, STAGE_SUBMISSION, (uint64_t)rows->call[row] + 1);
	add_extras(writer, row);
	kwhy_proto_end(out, stage);
	kwhy_proto_varint(out, KWHY_PFTRACE_SEQUENCE_FLAGS, KWHY_PFTRACE_NEEDS_STATE);
	kwhy_pftrace_end(writer, packet);
}

void kwhy_pftrace_write_stages(struct kwhy_pftrace *writer)
{
	for (size_t i = 0; i < writer->recording->activities.count; i++)
		write_stage(writer, i);
}

static void describe_counter(struct kwhy_pftrace *writer, size_t number)
{
	const struct kwhy_power_series *series = &writer->recording->power[number];
	struct kwhy_text *out = &writer->sink.text;
	size_t packet = kwhy_pftrace_begin(writer), event, descriptor, spec;

	kwhy_text_clear(&writer->label);
	kwhy_export_names_name_device(&writer->names, series->device, &writer->label);
	kwhy_text_add(&writer->label, ", ");
	kwhy_pftrace_add_meter(writer, series);
	kwhy_proto_varint(out, KWHY_PFTRACE_TIMESTAMP, kwhy_pftrace_stamp(writer, series->time_ns[0]));
	event = kwhy_proto_begin(out, PACKET_COUNTER_EVENT);
	descriptor = kwhy_proto_begin(out, COUNTERS_DESCRIPTOR);
	spec = kwhy_proto_begin(out, DESCRIPTOR_SPEC);
	kwhy_proto_varint(out, SPEC_ID, number + 1);
	kwhy_proto_string(out, SPEC_NAME, kwhy_pftrace_label(writer));
	kwhy_proto_varint(out, SPEC_UNITS, UNIT_WATT);
	kwhy_proto_end(out, spec);
	kwhy_proto_end(out, descriptor);
	kwhy_proto_varint(out, COUNTERS_GPU, series->device);
	kwhy_proto_end(out, event);
	kwhy_pftrace_end(writer, packet);
}

static void write_value(struct kwhy_pftrace *writer, size_t number, int64_t time_ns, double power_w)
{
	struct kwhy_text *out = &writer->sink.text;
	size_t packet = kwhy_pftrace_begin(writer), event, value;

	kwhy_proto_varint(out, KWHY_PFTRACE_TIMESTAMP, kwhy_pftrace_stamp(writer, time_ns));
	event = kwhy_proto_begin(out, PACKET_COUNTER_EVENT);
	value = kwhy_proto_begin(out, COUNTERS_VALUE);
	kwhy_proto_varint(out, VALUE_ID, number + 1);
	kwhy_proto_double(out, VALUE_DOUBLE, power_w);
	kwhy_proto_end(out, value);
	kwhy_proto_varint(out, COUNTERS_GPU, writer->recording->power[number].device);
	kwhy_proto_end(out, event);
	kwhy_pftrace_end(writer, packet);
}

/*
 * In Perfetto, the value of a GPU counter is for the time since its previous value. An energy counter is
 * therefore written as the mean power since its last update. The value at its first update, and after a
 * reset to an unknown value, is unknown: NaN, which Perfetto's queries return as NULL.
 */
static void write_powers(struct kwhy_pftrace *writer, size_t number)
{
	const struct kwhy_power_series *series = &writer->recording->power[number];
	bool is_counter = kwhy_meter_is_counter(series->meter);

	describe_counter(writer, number);
	for (size_t k = 0; k < series->count; k++) {
		double power_w = is_counter ? NAN : (double)series->value[k] * 1e-3;

		if (is_counter && k > 0)
			(void)kwhy_counter_power_w(series, k, &power_w);
		write_value(writer, number, series->time_ns[k], power_w);
	}
}

void kwhy_pftrace_write_gpu_powers(struct kwhy_pftrace *writer)
{
	for (size_t i = 0; i < writer->recording->power_count; i++)
		if (writer->recording->power[i].device != KWHY_NONE)
			write_powers(writer, i);
}
