/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv_cell.h"
#include "report/export/export.h"
#include "report/export/export_names.h"
#include "report/export/sink.h"

#include <inttypes.h>
#include <math.h>

/*
 * Writes activities, calls and ranges in kwhy's own CSV (docs/formats/csv.md), with the energy as a further
 * column.
 */

/*
 * Writes a comment such as "# GPU 0 NVIDIA H200 on node-b: device 2" for each device whose own number is not
 * unique, or for all if the recording is of several machines. It states the number that the device has in
 * this file.
 */
static void write_places(const struct kwhy_export_names *names, struct kwhy_text *out)
{
	for (uint32_t d = 0; d < names->recording->device_count; d++) {
		if (!kwhy_export_names_is_device_ambiguous(names, d))
			continue;
		kwhy_text_add(out, "# ");
		kwhy_export_names_name_device(names, d, out);
		kwhy_text_addf(out, ": device %" PRId64 "\n", kwhy_export_names_device(names, d));
	}
}

/*
 * Adds KEY="TEXT", unless the text is NULL (unknown). It is quoted because names have spaces. The format
 * cannot express a quote in the text, so an apostrophe is written instead.
 */
static void add_quoted(struct kwhy_text *out, const char *key, const char *text)
{
	if (!text)
		return;
	kwhy_text_addf(out, " %s=\"", key);
	for (const char *c = text; *c; c++)
		kwhy_text_add_bytes(out, *c == '"' ? "'" : c, 1);
	kwhy_text_add(out, "\"");
}

static void write_device(const struct kwhy_export_names *names, uint32_t d, struct kwhy_text *out)
{
	const struct kwhy_device *device = &names->recording->devices[d];

	kwhy_text_addf(out, "# device %" PRId64, kwhy_export_names_device(names, d));
	add_quoted(out, "name", device->name);
	add_quoted(out, "uuid", device->uuid);
	add_quoted(out, "pci", device->pci);
	if (device->rank != KWHY_NONE)
		kwhy_text_addf(out, " rank=%" PRIu32, device->rank);
	if (device->sm_count)
		kwhy_text_addf(out, " sms=%" PRIu32, device->sm_count);
	if (device->threads_per_sm)
		kwhy_text_addf(out, " threads_per_sm=%" PRIu32, device->threads_per_sm);
	if (device->registers_per_sm)
		kwhy_text_addf(out, " registers_per_sm=%" PRIu32, device->registers_per_sm);
	if (device->shared_bytes_per_sm)
		kwhy_text_addf(out, " shared_bytes_per_sm=%" PRIu32, device->shared_bytes_per_sm);
	if (device->memory_bytes)
		kwhy_text_addf(out, " memory_bytes=%" PRIu64, device->memory_bytes);
	if (device->limit_mw >= 0)
		kwhy_text_addf(out, " limit_w=%.3f", (double)device->limit_mw * 1e-3);
	if (device->context_idle_mw >= 0)
		kwhy_text_addf(out, " context_idle_w=%.3f", (double)device->context_idle_mw * 1e-3);
	if (device->clean_idle_mw >= 0)
		kwhy_text_addf(out, " clean_idle_w=%.3f", (double)device->clean_idle_mw * 1e-3);
	kwhy_text_add(out, "\n");
}

static void write_comments(const struct kwhy_export_names *names, struct kwhy_text *out)
{
	const struct kwhy_recording *recording = names->recording;

	write_places(names, out);
	for (uint32_t d = 0; d < recording->device_count; d++)
		write_device(names, d, out);
	for (size_t i = 0; i < recording->coverage_count; i++)
		if (recording->coverage[i].start_ns < recording->coverage[i].end_ns)
			kwhy_text_addf(out, "# coverage %" PRId64 " %" PRId64 "\n",
				recording->origin_unix_ns + recording->coverage[i].start_ns,
				recording->origin_unix_ns + recording->coverage[i].end_ns);
	for (size_t i = 0; i < recording->selection_count; i++)
		if (recording->selections[i].start_ns < recording->selections[i].end_ns)
			kwhy_text_addf(out, "# selection %" PRId64 " %" PRId64 " %s\n",
				recording->origin_unix_ns + recording->selections[i].start_ns,
				recording->origin_unix_ns + recording->selections[i].end_ns,
				kwhy_choice_name((enum kwhy_choice)recording->selections[i].choice));
}

/*
 * Ends a row of anything but an operator, Python function, system call or frame of a call stack. The columns
 * file, line and inputs, which the file has only if it has such rows (has_operators), stay empty.
 */
static void end_row(const struct kwhy_export_names *names, struct kwhy_text *out)
{
	kwhy_text_add(out, names->has_operators ? ",,,\n" : "\n");
}

static const char *kind_of(const struct kwhy_activities *rows, size_t row)
{
	static const char *const copies[KWHY_COPY_KIND_COUNT] = {
		[KWHY_COPY_UNKNOWN] = "copy",
		[KWHY_COPY_H2D] = "copy_h2d",
		[KWHY_COPY_D2H] = "copy_d2h",
		[KWHY_COPY_D2D] = "copy_d2d",
		[KWHY_COPY_P2P] = "copy_p2p",
		[KWHY_COPY_H2H] = "copy_h2h",
	};

	switch (rows->kind[row]) {
	case KWHY_ACTIVITY_COPY:
		return copies[rows->copy_kind[row]];
	case KWHY_ACTIVITY_MEMSET:
		return "memset";
	case KWHY_ACTIVITY_COLLECTIVE:
		return "collective";
	case KWHY_ACTIVITY_GRAPH:
		return "graph";
	default:
		return "kernel";
	}
}

static void add_machine(const struct kwhy_recording *recording, uint32_t device, struct kwhy_text *out)
{
	const char *name = kwhy_recording_machine_name(
		recording, kwhy_recording_machine_of_device(recording, device));

	kwhy_text_add(out, ",");
	kwhy_csv_add_text(out, name ? name : "");
}

/* The kinds of memory at both ends of a copy; for a memset, the kind of memory that it sets. */
static void add_memory(const struct kwhy_activities *rows, size_t row, struct kwhy_text *out)
{
	const bool is_copy = rows->kind[row] == KWHY_ACTIVITY_COPY;

	kwhy_text_addf(out, ",%s,%s", is_copy ? kwhy_memory_kind_name(rows->src_memory[row]) : "",
		is_copy || rows->kind[row] == KWHY_ACTIVITY_MEMSET
			? kwhy_memory_kind_name(rows->dst_memory[row])
			: "");
}

static void write_activity(const struct kwhy_report *report, const struct kwhy_export_names *names,
	size_t row, struct kwhy_text *out)
{
	const struct kwhy_recording *recording = report->recording;
	const struct kwhy_activities *rows = &recording->activities;
	const struct kwhy_stream *stream = &recording->streams[rows->stream[row]];
	double energy_nj = kwhy_ledger_activity_nj(report->ledger, recording, row);

	kwhy_text_addf(out, "%s,", kind_of(rows, row));
	kwhy_csv_add_text(out, kwhy_names_get(&recording->names, rows->name[row]));
	kwhy_text_addf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",",
		kwhy_export_names_device(names, stream->device), stream->id,
		recording->origin_unix_ns + rows->start_ns[row],
		recording->origin_unix_ns + rows->end_ns[row]);
	if (rows->bytes[row] != KWHY_UNKNOWN_BYTES)
		kwhy_text_addf(out, "%" PRIu64, rows->bytes[row]);
	kwhy_text_add(out, ",");
	if (rows->blocks[row] != KWHY_UNKNOWN_BLOCKS)
		kwhy_text_addf(out, "%" PRIu32, rows->blocks[row]);
	kwhy_text_add(out, ",");
	if (rows->threads_per_block[row] != KWHY_UNKNOWN_U16)
		kwhy_text_addf(out, "%u", rows->threads_per_block[row]);
	kwhy_text_add(out, ",");
	if (isfinite(energy_nj))
		kwhy_text_addf(out, "%.0f", energy_nj);
	kwhy_text_add(out, ",");
	if (stream->context >= 0)
		kwhy_text_addf(out, "%" PRId64, stream->context);
	kwhy_text_addf(out, ",%" PRId64 ",,", kwhy_export_names_process(names, stream->process));
	if (rows->call[row] != KWHY_NONE)
		kwhy_text_addf(out, "%" PRIu32, rows->call[row]);
	add_memory(rows, row, out);
	kwhy_text_add(out, ",");
	if (rows->registers[row] != KWHY_UNKNOWN_U16)
		kwhy_text_addf(out, "%u", rows->registers[row]);
	kwhy_text_add(out, ",");
	if (rows->shared_bytes[row] != KWHY_NONE)
		kwhy_text_addf(out, "%" PRIu32, rows->shared_bytes[row]);
	if (names->has_machines)
		add_machine(recording, stream->device, out);
	end_row(names, out);
}

/*
 * Writes a row for the host up to the column before file, line and inputs. The columns of device, stream,
 * sizes and energy stay empty.
 */
static void write_host_row(const struct kwhy_export_names *names, const char *kind,
	const struct kwhy_range *row, uint32_t correlation, struct kwhy_text *out)
{
	const struct kwhy_recording *recording = names->recording;

	kwhy_text_addf(out, "%s,", kind);
	kwhy_csv_add_text(out, kwhy_names_get(&recording->names, row->name));
	kwhy_text_addf(out, ",,,%" PRId64 ",%" PRId64 ",,,,,,", recording->origin_unix_ns + row->start_ns,
		recording->origin_unix_ns + row->end_ns);
	if (row->thread != KWHY_NONE)
		kwhy_text_addf(out, "%" PRId64 ",%" PRId64,
			kwhy_export_names_process(names, recording->threads[row->thread].process),
			recording->threads[row->thread].tid);
	else
		kwhy_text_add(out, ",");
	kwhy_text_add(out, ",");
	if (correlation != KWHY_NONE)
		kwhy_text_addf(out, "%" PRIu32, correlation);
	kwhy_text_add(out, names->has_machines ? ",,,,," : ",,,,");
}

/* Writes a row for an operator, Python function, system call or frame of a call stack on the host. */
static void write_operator(const struct kwhy_export_names *names, size_t row, struct kwhy_text *out)
{
	const struct kwhy_host_ranges *rows = &names->recording->host_ranges;
	const struct kwhy_range range = {.start_ns = rows->start_ns[row],
		.end_ns = rows->end_ns[row],
		.name = rows->name[row],
		.thread = rows->thread[row]};

	write_host_row(
		names, kwhy_host_kind_name((enum kwhy_host_kind)rows->kind[row]), &range, KWHY_NONE, out);
	kwhy_text_add(out, ",");
	kwhy_csv_add_text(out, kwhy_names_get(&names->recording->names, kwhy_host_range_file(rows, row)));
	kwhy_text_add(out, ",");
	if (kwhy_host_range_line(rows, row))
		kwhy_text_addf(out, "%" PRIu32, kwhy_host_range_line(rows, row));
	kwhy_text_add(out, ",");
	kwhy_csv_add_text(out, kwhy_names_get(&names->recording->names, kwhy_host_range_shape(rows, row)));
	kwhy_text_add(out, "\n");
}

/*
 * Kind of an API call in the CSV: "sync", "alloc" or "free" if the recording states that class and the call's
 * name does not show it, else "call".
 */
static const char *call_kind_of(const struct kwhy_recording *recording, size_t row)
{
	static const char *const kinds[KWHY_CALL_CLASS_COUNT] = {
		[KWHY_CALL_SYNC] = "sync",
		[KWHY_CALL_ALLOC] = "alloc",
		[KWHY_CALL_FREE] = "free",
	};
	const char *name = kwhy_names_get(&recording->names, recording->calls.name[row]);
	const char *kind = kinds[recording->calls.class[row]];

	return kind && kwhy_call_class_of(name) == KWHY_CALL_OTHER ? kind : "call";
}

static void write_host(const struct kwhy_export_names *names, struct kwhy_sink *sink)
{
	const struct kwhy_recording *recording = names->recording;
	const struct kwhy_calls *calls = &recording->calls;

	for (size_t i = 0; i < calls->count; i++) {
		const struct kwhy_range row = {.start_ns = calls->start_ns[i],
			.end_ns = calls->end_ns[i],
			.name = calls->name[i],
			.thread = calls->thread[i]};

		write_host_row(names, call_kind_of(recording, i), &row, (uint32_t)i, &sink->text);
		end_row(names, &sink->text);
		kwhy_sink_drain(sink, KWHY_SINK_PIECE_BYTES);
	}
	for (size_t i = 0; i < recording->range_count; i++) {
		write_host_row(names, recording->ranges[i].kind == KWHY_RANGE_NVTX ? "nvtx" : "range",
			&recording->ranges[i], KWHY_NONE, &sink->text);
		end_row(names, &sink->text);
		kwhy_sink_drain(sink, KWHY_SINK_PIECE_BYTES);
	}
	for (size_t i = 0; i < recording->host_ranges.count; i++) {
		if (recording->host_ranges.kind[i] >= KWHY_HOST_OPERATOR)
			write_operator(names, i, &sink->text);
		kwhy_sink_drain(sink, KWHY_SINK_PIECE_BYTES);
	}
}

static enum kwhy_status write_rows(const struct kwhy_report *report, const struct kwhy_export_names *names,
	const char *path, bool compress, struct kwhy_error *error)
{
	struct kwhy_sink sink;
	enum kwhy_status status = kwhy_sink_open(&sink, path, compress, error);

	if (status)
		return status;
	write_comments(names, &sink.text);
	kwhy_text_addf(&sink.text,
		"kind,name,device,stream,start_ns,end_ns,bytes,blocks,threads_per_block,energy_nj,context,"
		"process,thread,correlation,src_memory,dst_memory,registers,shared_bytes%s%s\n",
		names->has_machines ? ",machine" : "", names->has_operators ? ",file,line,inputs" : "");
	for (size_t i = 0; i < report->recording->activities.count; i++) {
		write_activity(report, names, i, &sink.text);
		kwhy_sink_drain(&sink, KWHY_SINK_PIECE_BYTES);
	}
	write_host(names, &sink);
	return kwhy_sink_close(&sink, error);
}

static enum kwhy_status write_csv(
	const struct kwhy_report *report, const char *path, bool compress, struct kwhy_error *error)
{
	struct kwhy_export_names names;
	enum kwhy_status status = kwhy_export_names_init(&names, report->recording, error);

	if (status)
		return status;
	status = write_rows(report, &names, path, compress, error);
	kwhy_export_names_done(&names);
	return status;
}

const struct kwhy_exporter kwhy_export_csv = {
	.name = "csv",
	.extension = ".csv",
	.description = "activities with their energy, calls and ranges, a row each; kwhy reads it back",
	.loses_readings = true,
	.loses_bursts = true,
	.write = write_csv,
};
