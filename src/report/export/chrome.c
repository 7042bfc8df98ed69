/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/export.h"
#include "report/export/export_names.h"
#include "report/export/sink.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Chrome trace events in the form that PyTorch's profiler writes, so that every tool that reads its traces,
 * kwhy included, reads these, too. Times are in microseconds with three decimals, so nanoseconds are exact.
 */

enum { NAME_BYTES = 64 };

struct writer {
	const struct kwhy_report *report;
	const struct kwhy_recording *recording;
	struct kwhy_export_names names;
	struct kwhy_sink sink;
	bool first, tells_processes;
};

static void add_string(struct kwhy_text *out, const char *text)
{
	kwhy_text_add_bytes(out, "\"", 1);
	for (const char *from = text; *from;) {
		size_t plain = strcspn(from, "\"\\");

		kwhy_text_add_bytes(out, from, plain);
		from += plain;
		if (*from) {
			kwhy_text_add_bytes(out, "\\", 1);
			kwhy_text_add_bytes(out, from++, 1);
		}
	}
	kwhy_text_add_bytes(out, "\"", 1);
}

static void add_text(struct writer *writer, const struct kwhy_text *text)
{
	writer->sink.failed |= text->failed;
	add_string(&writer->sink.text, text->data && !text->failed ? text->data : "");
}

/* Adds signed nanoseconds, written as microseconds. */
static void add_us(struct kwhy_text *out, int64_t time_ns)
{
	uint64_t magnitude = time_ns < 0 ? 0 - (uint64_t)time_ns : (uint64_t)time_ns;

	kwhy_text_addf(out, "%s%" PRIu64 ".%03u", time_ns < 0 ? "-" : "", magnitude / 1000,
		(unsigned)(magnitude % 1000));
}

static void begin_row(struct writer *writer)
{
	kwhy_text_add(&writer->sink.text, writer->first ? "\n" : ",\n");
	writer->first = false;
}

static void begin_event(
	struct writer *writer, const char *category, const char *name, int64_t start_ns, int64_t end_ns)
{
	struct kwhy_text *out = &writer->sink.text;

	begin_row(writer);
	kwhy_text_addf(out, "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":", category);
	add_string(out, name);
	kwhy_text_add(out, ",\"ts\":");
	add_us(out, start_ns);
	kwhy_text_add(out, ",\"dur\":");
	add_us(out, end_ns - start_ns);
}

/*
 * Names a copy or memset as PyTorch's profiler does: "Memcpy HtoD (Pinned -> Device)". Recordings of `kwhy
 * record` have no names for them.
 */
static void name_transfer(const struct kwhy_activities *rows, size_t row, char out[NAME_BYTES])
{
	static const char *const ways[KWHY_COPY_KIND_COUNT] = {
		[KWHY_COPY_H2D] = "HtoD ",
		[KWHY_COPY_D2H] = "DtoH ",
		[KWHY_COPY_D2D] = "DtoD ",
		[KWHY_COPY_P2P] = "PtoP ",
		[KWHY_COPY_H2H] = "HtoH ",
	};
	static const char *const memories[KWHY_MEMORY_KIND_COUNT] = {
		[KWHY_MEMORY_UNKNOWN] = "Unknown",
		[KWHY_MEMORY_PAGEABLE] = "Pageable",
		[KWHY_MEMORY_PINNED] = "Pinned",
		[KWHY_MEMORY_DEVICE] = "Device",
		[KWHY_MEMORY_ARRAY] = "Array",
		[KWHY_MEMORY_MANAGED] = "Managed",
		[KWHY_MEMORY_DEVICE_STATIC] = "Device Static",
		[KWHY_MEMORY_MANAGED_STATIC] = "Managed Static",
	};
	const char *way = ways[rows->copy_kind[row]];

	if (rows->kind[row] == KWHY_ACTIVITY_MEMSET)
		snprintf(out, NAME_BYTES, "Memset (%s)", memories[rows->dst_memory[row]]);
	else
		snprintf(out, NAME_BYTES, "Memcpy %s(%s -> %s)", way ? way : "",
			memories[rows->src_memory[row]], memories[rows->dst_memory[row]]);
}

static void add_activity_args(struct writer *writer, size_t row)
{
	const struct kwhy_activities *rows = &writer->recording->activities;
	const struct kwhy_stream *stream = &writer->recording->streams[rows->stream[row]];
	struct kwhy_text *out = &writer->sink.text;
	double energy_nj = kwhy_ledger_activity_nj(writer->report->ledger, writer->recording, row);

	kwhy_text_addf(out, ",\"args\":{\"device\":%" PRId64 ",\"stream\":%" PRId64,
		kwhy_export_names_device(&writer->names, stream->device), stream->id);
	if (writer->tells_processes)
		kwhy_text_addf(out, ",\"process\":%" PRId64,
			kwhy_export_names_process(&writer->names, stream->process));
	if (stream->context >= 0)
		kwhy_text_addf(out, ",\"context\":%" PRId64, stream->context);
	if (rows->call[row] != KWHY_NONE)
		kwhy_text_addf(out, ",\"correlation\":%" PRIu32, rows->call[row] + 1);
	if (rows->bytes[row] != KWHY_UNKNOWN_BYTES)
		kwhy_text_addf(out, ",\"bytes\":%" PRIu64, rows->bytes[row]);
	if (rows->blocks[row] != KWHY_UNKNOWN_BLOCKS)
		kwhy_text_addf(out, ",\"grid\":[%" PRIu32 ",1,1]", rows->blocks[row]);
	if (rows->threads_per_block[row] != KWHY_UNKNOWN_U16)
		kwhy_text_addf(out, ",\"block\":[%u,1,1]", rows->threads_per_block[row]);
	if (rows->registers[row] != KWHY_UNKNOWN_U16)
		kwhy_text_addf(out, ",\"registers per thread\":%u", rows->registers[row]);
	if (rows->shared_bytes[row] != KWHY_NONE)
		kwhy_text_addf(out, ",\"shared memory\":%" PRIu32, rows->shared_bytes[row]);
	if (rows->graph_node[row] != KWHY_NONE)
		kwhy_text_addf(out, ",\"graph node id\":%" PRIu32, rows->graph_node[row]);
	if (isfinite(energy_nj))
		kwhy_text_addf(out, ",\"energy_nj\":%.0f", energy_nj);
	kwhy_text_add(out, "}}");
}

/* Writes the name of a process and frees the name's memory. */
static void write_process_name(struct writer *writer, int64_t pid, struct kwhy_text *name)
{
	struct kwhy_text *out = &writer->sink.text;

	begin_row(writer);
	kwhy_text_addf(out,
		"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%" PRId64 ",\"tid\":0,\"args\":{\"name\":",
		pid);
	add_text(writer, name);
	kwhy_text_add(out, "}}");
	kwhy_text_done(name);
	kwhy_sink_drain(&writer->sink, KWHY_SINK_PIECE_BYTES);
}

/*
 * In a Chrome trace, each device and each process of the program is a "process" with a number (pid). Writes a
 * name for each one whose own number may occur twice or is unknown, and for all if the recording is of
 * several machines.
 */
static void write_process_names(struct writer *writer)
{
	const struct kwhy_recording *recording = writer->recording;
	const struct kwhy_export_names *names = &writer->names;

	for (uint32_t d = 0; d < recording->device_count; d++) {
		struct kwhy_text name = {0};

		if (!kwhy_export_names_is_device_ambiguous(names, d))
			continue;
		kwhy_export_names_name_device(names, d, &name);
		write_process_name(writer, kwhy_export_names_device(names, d), &name);
	}
	for (uint32_t p = 0; p < recording->process_count; p++) {
		struct kwhy_text name = {0};

		if (!kwhy_export_names_is_process_ambiguous(names, p))
			continue;
		kwhy_text_add(&name, "process");
		if (recording->processes[p].pid >= 0)
			kwhy_text_addf(&name, " %" PRId64, recording->processes[p].pid);
		kwhy_export_names_add_process(names, p, &name);
		write_process_name(writer, kwhy_export_names_process(names, p), &name);
	}
}

static void write_activities(struct writer *writer)
{
	static const char *const categories[KWHY_ACTIVITY_KIND_COUNT] = {
		[KWHY_ACTIVITY_KERNEL] = "kernel",
		[KWHY_ACTIVITY_COLLECTIVE] = "kernel",
		[KWHY_ACTIVITY_GRAPH] = "kernel",
		[KWHY_ACTIVITY_COPY] = "gpu_memcpy",
		[KWHY_ACTIVITY_MEMSET] = "gpu_memset",
	};
	const struct kwhy_activities *rows = &writer->recording->activities;

	for (size_t i = 0; i < rows->count; i++) {
		const struct kwhy_stream *stream = &writer->recording->streams[rows->stream[i]];
		const char *name = kwhy_names_get(&writer->recording->names, rows->name[i]);
		char transfer[NAME_BYTES];

		if (!*name &&
			(rows->kind[i] == KWHY_ACTIVITY_COPY || rows->kind[i] == KWHY_ACTIVITY_MEMSET)) {
			name_transfer(rows, i, transfer);
			name = transfer;
		}
		begin_event(writer, categories[rows->kind[i]], name, rows->start_ns[i], rows->end_ns[i]);
		kwhy_text_addf(&writer->sink.text, ",\"pid\":%" PRId64 ",\"tid\":%" PRId64,
			kwhy_export_names_device(&writer->names, stream->device), stream->id);
		add_activity_args(writer, i);
		kwhy_sink_drain(&writer->sink, KWHY_SINK_PIECE_BYTES);
	}
}

static void write_calls(struct writer *writer)
{
	const struct kwhy_recording *recording = writer->recording;
	const struct kwhy_calls *rows = &recording->calls;

	for (size_t i = 0; i < rows->count; i++) {
		const struct kwhy_thread *thread = &recording->threads[rows->thread[i]];

		begin_event(writer, "cuda_runtime", kwhy_names_get(&recording->names, rows->name[i]),
			rows->start_ns[i], rows->end_ns[i]);
		kwhy_text_addf(&writer->sink.text,
			",\"pid\":%" PRId64 ",\"tid\":%" PRId64 ",\"args\":{\"correlation\":%zu}}",
			kwhy_export_names_process(&writer->names, thread->process), thread->tid, i + 1);
		kwhy_sink_drain(&writer->sink, KWHY_SINK_PIECE_BYTES);
	}
}

static void write_ranges(struct writer *writer)
{
	const struct kwhy_recording *recording = writer->recording;

	for (size_t i = 0; i < recording->range_count; i++) {
		const struct kwhy_range *range = &recording->ranges[i];
		int64_t pid = KWHY_EXPORT_NAMES_HOST, tid = 0;

		if (range->thread != KWHY_NONE) {
			pid = kwhy_export_names_process(
				&writer->names, recording->threads[range->thread].process);
			tid = recording->threads[range->thread].tid;
		}
		begin_event(writer, "user_annotation", kwhy_names_get(&recording->names, range->name),
			range->start_ns, range->end_ns);
		kwhy_text_addf(&writer->sink.text, ",\"pid\":%" PRId64 ",\"tid\":%" PRId64 "%s}", pid, tid,
			range->kind == KWHY_RANGE_NVTX ? ",\"args\":{\"kind\":\"nvtx\"}" : "");
		kwhy_sink_drain(&writer->sink, KWHY_SINK_PIECE_BYTES);
	}
}

/*
 * Adds the inputs of an operator, which are three JSON values, each followed by ';' (model/operator_work.h).
 * An empty value is skipped. From the first value on that is no JSON, all are left out, since they would
 * break the file.
 */
static void add_inputs(struct kwhy_text *out, const char *inputs)
{
	static const char *const keys[] = {"Input Dims", "Input type", "Concrete Inputs"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && *inputs; i++) {
		json_error_t where;
		json_t *part = json_loads(inputs, JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY, &where);

		if (part && inputs[where.position] == ';')
			kwhy_text_addf(out, ",\"%s\":%.*s", keys[i], where.position, inputs);
		else if (*inputs != ';')
			inputs = "";
		if (*inputs)
			inputs += (part ? where.position : 0) + 1;
		json_decref(part);
	}
}

/* The place in the source as Kineto writes it: "train.py(54): step". */
static void add_place(const struct writer *writer, size_t row, struct kwhy_text *out)
{
	const struct kwhy_host_ranges *rows = &writer->recording->host_ranges;
	const struct kwhy_names *names = &writer->recording->names;

	if (kwhy_host_range_file(rows, row))
		kwhy_text_addf(out,
			"%s(%" PRIu32 "): ", kwhy_names_get(names, kwhy_host_range_file(rows, row)),
			kwhy_host_range_line(rows, row));
	kwhy_text_add(out, kwhy_names_get(names, rows->name[row]));
}

/*
 * Writes an operator, Python function, system call or frame of a call stack. Kineto states the source line of
 * an operator in its argument "Call stack", and that of a Python function in its name. Kineto has no system
 * calls and frames, so these have categories that only kwhy reads.
 */
static void write_operator(struct writer *writer, size_t row)
{
	static const char *const categories[KWHY_HOST_KIND_COUNT] = {
		[KWHY_HOST_OPERATOR] = "cpu_op",
		[KWHY_HOST_PYTHON] = "python_function",
		[KWHY_HOST_SYSTEM] = "kwhy_system",
		[KWHY_HOST_FRAME] = "kwhy_frame",
	};
	const struct kwhy_host_ranges *rows = &writer->recording->host_ranges;
	const struct kwhy_thread *thread = &writer->recording->threads[rows->thread[row]];
	const bool is_operator = rows->kind[row] == KWHY_HOST_OPERATOR;
	struct kwhy_text *out = &writer->sink.text, place = {0};

	add_place(writer, row, &place);
	writer->sink.failed |= place.failed;
	begin_event(writer, categories[rows->kind[row]],
		is_operator || place.failed || !place.data
			? kwhy_names_get(&writer->recording->names, rows->name[row])
			: place.data,
		rows->start_ns[row], rows->end_ns[row]);
	kwhy_text_addf(out, ",\"pid\":%" PRId64 ",\"tid\":%" PRId64,
		kwhy_export_names_process(&writer->names, thread->process), thread->tid);
	if (is_operator && (kwhy_host_range_file(rows, row) || kwhy_host_range_shape(rows, row))) {
		kwhy_text_add(out, ",\"args\":{\"Call stack\":");
		add_string(out, kwhy_host_range_file(rows, row) && !place.failed ? place.data : "");
		add_inputs(out, kwhy_names_get(&writer->recording->names, kwhy_host_range_shape(rows, row)));
		kwhy_text_add(out, "}");
	}
	kwhy_text_add(out, "}");
	kwhy_text_done(&place);
}

static void write_operators(struct writer *writer)
{
	const struct kwhy_host_ranges *rows = &writer->recording->host_ranges;

	for (size_t i = 0; i < rows->count; i++) {
		if (rows->kind[i] >= KWHY_HOST_OPERATOR)
			write_operator(writer, i);
		kwhy_sink_drain(&writer->sink, KWHY_SINK_PIECE_BYTES);
	}
}

static void write_series(struct writer *writer, const struct kwhy_power_series *series)
{
	const int64_t pid = series->device == KWHY_NONE
		? KWHY_EXPORT_NAMES_HOST
		: kwhy_export_names_device(&writer->names, series->device);
	struct kwhy_text *out = &writer->sink.text, name = {0};
	char source[KWHY_METER_NAME_BYTES];

	kwhy_text_add(&name, kwhy_meter_source(source, series->meter, series->domain));
	kwhy_export_names_add_meter(&writer->names, series, &name);
	for (size_t k = 0; k < series->count; k++) {
		begin_row(writer);
		kwhy_text_add(out, "{\"ph\":\"C\",\"name\":");
		add_text(writer, &name);
		kwhy_text_addf(out, ",\"pid\":%" PRId64 ",\"ts\":", pid);
		add_us(out, series->time_ns[k]);
		kwhy_text_addf(out, ",\"args\":{\"W\":%.3f}}", (double)series->value[k] * 1e-3);
		kwhy_sink_drain(&writer->sink, KWHY_SINK_PIECE_BYTES);
	}
	kwhy_text_done(&name);
}

static void write_power(struct writer *writer)
{
	const struct kwhy_recording *recording = writer->recording;

	for (size_t i = 0; i < recording->power_count; i++)
		if (!kwhy_meter_is_counter(recording->power[i].meter))
			write_series(writer, &recording->power[i]);
}

static void add_fact(struct kwhy_text *out, const char *key, const char *text)
{
	if (!text)
		return;
	kwhy_text_addf(out, ",\"%s\":", key);
	add_string(out, text);
}

static void write_device_properties(struct writer *writer)
{
	struct kwhy_text *out = &writer->sink.text;

	kwhy_text_add(out, "\"deviceProperties\":[");
	for (size_t d = 0; d < writer->recording->device_count; d++) {
		const struct kwhy_device *device = &writer->recording->devices[d];

		kwhy_text_addf(out, "%s{\"id\":%" PRId64, d ? "," : "",
			kwhy_export_names_device(&writer->names, (uint32_t)d));
		if (writer->tells_processes && device->rank != KWHY_NONE)
			kwhy_text_addf(out, ",\"rank\":%" PRIu32, device->rank);
		add_fact(out, "name", device->name);
		add_fact(out, "uuid", device->uuid);
		add_fact(out, "pci", device->pci);
		if (device->sm_count)
			kwhy_text_addf(out, ",\"numSms\":%" PRIu32, device->sm_count);
		if (device->threads_per_sm)
			kwhy_text_addf(
				out, ",\"maxThreadsPerMultiprocessor\":%" PRIu32, device->threads_per_sm);
		if (device->compute_major)
			kwhy_text_addf(out, ",\"computeMajor\":%" PRIu32 ",\"computeMinor\":%" PRIu32,
				device->compute_major, device->compute_minor);
		if (device->registers_per_sm)
			kwhy_text_addf(out, ",\"regsPerMultiprocessor\":%" PRIu32, device->registers_per_sm);
		if (device->shared_bytes_per_sm)
			kwhy_text_addf(
				out, ",\"sharedMemPerMultiprocessor\":%" PRIu32, device->shared_bytes_per_sm);
		kwhy_text_add(out, "}");
	}
	kwhy_text_add(out, "],\n");
}

/*
 * The rank of the recording: the rank that all devices with streams, and the processes of these streams, have
 * in common. KWHY_NONE: a rank is unknown, or there are several.
 */
static uint32_t rank_of(const struct kwhy_recording *recording)
{
	uint32_t rank = KWHY_NONE;

	for (size_t i = 0; i < recording->stream_count; i++) {
		const uint32_t own = recording->devices[recording->streams[i].device].rank;
		const uint32_t user = recording->processes[recording->streams[i].process].rank;

		if (own == KWHY_NONE || (rank != KWHY_NONE && own != rank) ||
			(user != KWHY_NONE && user != own))
			return KWHY_NONE;
		rank = own;
	}
	return rank;
}

static bool has_ranks(const struct kwhy_recording *recording)
{
	for (size_t i = 0; i < recording->device_count; i++)
		if (recording->devices[i].rank != KWHY_NONE)
			return true;
	return false;
}

static void add_world_size(struct kwhy_text *out, uint32_t world_size)
{
	if (world_size)
		kwhy_text_addf(out, ",\"world_size\":%" PRIu32, world_size);
}

static void write_rank(struct writer *writer, uint32_t rank)
{
	const struct kwhy_recording *recording = writer->recording;
	uint32_t world_size = 0;

	for (size_t i = 0; i < recording->process_count; i++)
		if (recording->processes[i].rank == rank && recording->processes[i].world_size)
			world_size = recording->processes[i].world_size;
	kwhy_text_addf(&writer->sink.text, "\"distributedInfo\":{\"rank\":%" PRIu32, rank);
	add_world_size(&writer->sink.text, world_size);
	kwhy_text_add(&writer->sink.text, "},\n");
}

/*
 * Writes the processes. PyTorch's format has one process and one rank per file. If there are several
 * processes, or devices of several ranks, they are written as additional members that only kwhy reads.
 */
static void write_processes(struct writer *writer)
{
	struct kwhy_text *out = &writer->sink.text;

	kwhy_text_add(out, "\"processProperties\":[");
	for (uint32_t i = 0; i < writer->recording->process_count; i++) {
		const struct kwhy_process *process = &writer->recording->processes[i];

		kwhy_text_addf(out, "%s{\"id\":%" PRId64, i ? "," : "",
			kwhy_export_names_process(&writer->names, i));
		if (process->rank != KWHY_NONE)
			kwhy_text_addf(out, ",\"rank\":%" PRIu32, process->rank);
		add_world_size(out, process->world_size);
		kwhy_text_add(out, "}");
	}
	kwhy_text_add(out, "],\n");
}

static enum kwhy_status write_events(
	struct writer *writer, const char *path, bool compress, struct kwhy_error *error)
{
	const uint32_t rank = rank_of(writer->recording);
	enum kwhy_status status = kwhy_sink_open(&writer->sink, path, compress, error);

	if (status)
		return status;
	kwhy_text_addf(&writer->sink.text,
		"{\"schemaVersion\":1,\"producer\":\"kwhy "
		"%s\",\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":%" PRId64 ",\n",
		KWHY_VERSION, writer->recording->origin_unix_ns);
	writer->tells_processes = writer->recording->process_count > 1 ||
		(rank == KWHY_NONE && has_ranks(writer->recording));
	write_device_properties(writer);
	if (writer->tells_processes)
		write_processes(writer);
	else if (rank != KWHY_NONE)
		write_rank(writer, rank);
	kwhy_text_add(&writer->sink.text, "\"traceEvents\":[");
	write_process_names(writer);
	write_activities(writer);
	write_calls(writer);
	write_ranges(writer);
	write_operators(writer);
	write_power(writer);
	kwhy_text_add(&writer->sink.text, "\n]}\n");
	return kwhy_sink_close(&writer->sink, error);
}

static enum kwhy_status write_chrome(
	const struct kwhy_report *report, const char *path, bool compress, struct kwhy_error *error)
{
	struct writer writer = {.report = report, .recording = report->recording, .first = true};
	enum kwhy_status status = kwhy_export_names_init(&writer.names, report->recording, error);

	if (status)
		return status;
	status = write_events(&writer, path, compress, error);
	kwhy_export_names_done(&writer.names);
	return status;
}

const struct kwhy_exporter kwhy_export_chrome = {
	.name = "chrome",
	.extension = ".json",
	.description =
		"Chrome trace events as PyTorch's profiler writes them; compressed when the name ends in .gz",
	.loses_readings = true,
	.loses_bursts = true,
	.write = write_chrome,
};
