/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

struct writer {
	const struct kwhy_report *report;
	const struct kwhy_recording *recording;
	struct kwhy_table_rows *rows;
};

static void begin(struct writer *writer, enum kwhy_export_table_id table)
{
	if (!writer->rows->failed)
		writer->rows->calls->begin(writer->rows, &kwhy_export_tables[table]);
}

static void put_int(struct writer *writer, int64_t value)
{
	writer->rows->calls->put_int(writer->rows, value);
}

/* Puts `value`, or NULL if `known` is false: an unknown value is never written as 0. */
static void put_known(struct writer *writer, bool known, int64_t value)
{
	if (known)
		put_int(writer, value);
	else
		writer->rows->calls->put_null(writer->rows);
}

static void put_energy(struct writer *writer, int64_t energy_nj)
{
	put_known(writer, energy_nj != KWHY_UNKNOWN_NJ, energy_nj);
}

static void put_text(struct writer *writer, const char *text)
{
	if (text)
		writer->rows->calls->put_text(writer->rows, text);
	else
		writer->rows->calls->put_null(writer->rows);
}

static void put_real(struct writer *writer, double value)
{
	if (isfinite(value))
		writer->rows->calls->put_real(writer->rows, value);
	else
		writer->rows->calls->put_null(writer->rows);
}

static void end_row(struct writer *writer)
{
	writer->rows->calls->end_row(writer->rows);
}

static void end_table(struct writer *writer)
{
	if (!writer->rows->failed)
		writer->rows->calls->end(writer->rows);
}

static void put_meta(struct writer *writer, const char *key, const char *value)
{
	put_text(writer, key);
	put_text(writer, value);
	end_row(writer);
}

static void write_meta(struct writer *writer)
{
	char origin[24];

	snprintf(origin, sizeof(origin), "%" PRId64, writer->recording->origin_unix_ns);
	begin(writer, KWHY_TABLE_META);
	if (writer->rows->failed)
		return;
	put_meta(writer, "schema", writer->rows->schema);
	put_meta(writer, "producer", "kwhy " KWHY_VERSION);
	put_meta(writer, "origin_unix_ns", origin);
	if (!writer->recording->unix_clock)
		put_meta(writer, "clock",
			writer->recording->clock_name ? writer->recording->clock_name : "unknown");
	end_table(writer);
}

/* Puts an index, or NULL for KWHY_NONE. */
static void put_index(struct writer *writer, uint32_t index)
{
	put_known(writer, index != KWHY_NONE, index);
}

/*
 * Whether the recording identifies the machine, by a host name or a boot id. Otherwise the machine is written
 * as NULL.
 */
static bool is_reported(const struct kwhy_recording *recording, uint32_t machine)
{
	return machine != KWHY_NONE &&
		(recording->machines[machine].host || recording->machines[machine].boot);
}

static void put_machine(struct writer *writer, uint32_t machine)
{
	put_known(writer, is_reported(writer->recording, machine), machine);
}

static void write_machines(struct writer *writer)
{
	begin(writer, KWHY_TABLE_MACHINE);
	for (uint32_t i = 0; !writer->rows->failed && i < writer->recording->machine_count; i++) {
		if (!is_reported(writer->recording, i))
			continue;
		put_int(writer, i);
		put_text(writer, kwhy_recording_machine_name(writer->recording, i));
		end_row(writer);
	}
	end_table(writer);
}

static void write_processes(struct writer *writer)
{
	begin(writer, KWHY_TABLE_PROCESS);
	for (uint32_t i = 0; !writer->rows->failed && i < writer->recording->process_count; i++) {
		const struct kwhy_process *process = &writer->recording->processes[i];

		put_int(writer, i);
		put_machine(writer, kwhy_recording_machine_of(writer->recording, i));
		put_known(writer, process->pid >= 0, process->pid);
		put_index(writer, process->rank);
		put_known(writer, process->world_size != 0, process->world_size);
		put_text(writer, process->host);
		end_row(writer);
	}
	end_table(writer);
}

static void put_figures(struct writer *writer, const struct kwhy_device *device)
{
	const uint64_t figures[] = {device->threads_per_sm, device->registers_per_sm,
		device->shared_bytes_per_sm, device->memory_bytes};

	put_text(writer, device->uuid);
	put_text(writer, device->pci);
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		put_known(writer, figures[i] != 0, (int64_t)figures[i]);
	put_real(writer, device->memory_rate_bytes_per_s > 0 ? device->memory_rate_bytes_per_s : NAN);
	put_known(writer, device->compute_major != 0, device->compute_major);
	put_known(writer, device->compute_major != 0, device->compute_minor);
	put_known(writer, device->context_idle_mw >= 0, device->context_idle_mw);
	put_known(writer, device->clean_idle_mw >= 0, device->clean_idle_mw);
}

static void write_devices(struct writer *writer)
{
	begin(writer, KWHY_TABLE_DEVICE);
	for (uint32_t i = 0; !writer->rows->failed && i < writer->recording->device_count; i++) {
		const struct kwhy_device *device = &writer->recording->devices[i];

		put_int(writer, i);
		put_int(writer, device->index);
		put_index(writer, device->rank);
		put_text(writer, device->name);
		put_known(writer, device->sm_count != 0, device->sm_count);
		put_known(writer, device->limit_mw >= 0, device->limit_mw);
		put_machine(writer, kwhy_recording_machine_of_device(writer->recording, i));
		put_figures(writer, device);
		end_row(writer);
	}
	end_table(writer);
}

static void write_streams(struct writer *writer)
{
	begin(writer, KWHY_TABLE_STREAM);
	for (size_t i = 0; !writer->rows->failed && i < writer->recording->stream_count; i++) {
		const struct kwhy_stream *stream = &writer->recording->streams[i];
		int64_t pid = writer->recording->processes[stream->process].pid;

		put_int(writer, (int64_t)i);
		put_int(writer, stream->device);
		put_known(writer, pid >= 0, pid);
		put_known(writer, stream->context >= 0, stream->context);
		put_int(writer, stream->id);
		put_int(writer, stream->process);
		end_row(writer);
	}
	end_table(writer);
}

static void write_names(struct writer *writer)
{
	begin(writer, KWHY_TABLE_NAME);
	for (size_t i = 0; !writer->rows->failed && i < writer->recording->names.count; i++) {
		put_int(writer, (int64_t)i);
		put_text(writer, writer->recording->names.strings[i]);
		end_row(writer);
	}
	end_table(writer);
}

/* Id of a device's first account. Accounts are numbered on from one device to the next. */
static int64_t first_account(const struct writer *writer, uint32_t device)
{
	int64_t first = 0;

	for (uint32_t d = 0; d < device; d++)
		first += (int64_t)writer->report->ledger->devices[d].account_count;
	return first;
}

/*
 * Puts the kind of a copy and the kinds of memory at its source and target; of a memset, only the kind of
 * memory that it sets.
 */
static void put_ends(struct writer *writer, size_t row)
{
	const struct kwhy_activities *rows = &writer->recording->activities;
	const bool is_copy = rows->kind[row] == KWHY_ACTIVITY_COPY;
	const bool is_transfer = is_copy || rows->kind[row] == KWHY_ACTIVITY_MEMSET;

	put_text(writer, is_copy ? kwhy_copy_kind_name(rows->copy_kind[row]) : NULL);
	put_text(writer, is_copy ? kwhy_memory_kind_name(rows->src_memory[row]) : NULL);
	put_text(writer, is_transfer ? kwhy_memory_kind_name(rows->dst_memory[row]) : NULL);
	put_known(writer, rows->peer[row] != KWHY_UNKNOWN_U16, rows->peer[row]);
}

static void put_activity(struct writer *writer, size_t row)
{
	const struct kwhy_activities *rows = &writer->recording->activities;
	uint32_t device = kwhy_recording_device_of(writer->recording, row);
	const uint32_t *account_of = writer->report->ledger->devices[device].account_of;

	put_int(writer, (int64_t)row);
	put_text(writer, kwhy_activity_kind_name(rows->kind[row]));
	put_int(writer, rows->name[row]);
	put_int(writer, device);
	put_int(writer, rows->stream[row]);
	put_int(writer, rows->start_ns[row]);
	put_int(writer, rows->end_ns[row]);
	put_known(writer, rows->bytes[row] != KWHY_UNKNOWN_BYTES, (int64_t)rows->bytes[row]);
	put_known(writer, rows->blocks[row] != KWHY_UNKNOWN_BLOCKS, rows->blocks[row]);
	put_known(writer, rows->threads_per_block[row] != KWHY_UNKNOWN_U16, rows->threads_per_block[row]);
	put_known(writer, rows->call[row] != KWHY_NONE, rows->call[row]);
	put_int(writer, first_account(writer, device) + account_of[row - rows->first[device]]);
	put_real(writer, kwhy_ledger_activity_nj(writer->report->ledger, writer->recording, row));
	put_ends(writer, row);
	put_known(writer, rows->registers[row] != KWHY_UNKNOWN_U16, rows->registers[row]);
	put_known(writer, rows->shared_bytes[row] != KWHY_NONE, rows->shared_bytes[row]);
	put_index(writer, rows->graph_node[row]);
	end_row(writer);
}

static void write_activities(struct writer *writer)
{
	begin(writer, KWHY_TABLE_ACTIVITY);
	for (size_t i = 0; !writer->rows->failed && i < writer->recording->activities.count; i++)
		put_activity(writer, i);
	end_table(writer);
}

static void write_calls(struct writer *writer)
{
	const struct kwhy_recording *recording = writer->recording;
	const struct kwhy_calls *rows = &recording->calls;

	begin(writer, KWHY_TABLE_CALL);
	for (size_t i = 0; !writer->rows->failed && i < rows->count; i++) {
		const struct kwhy_thread *thread = &recording->threads[rows->thread[i]];
		const int64_t pid = recording->processes[thread->process].pid;

		put_int(writer, (int64_t)i);
		put_int(writer, rows->name[i]);
		put_known(writer, pid >= 0, pid);
		put_int(writer, thread->tid);
		put_int(writer, rows->start_ns[i]);
		put_int(writer, rows->end_ns[i]);
		put_int(writer, thread->process);
		put_text(writer, kwhy_call_class_name((enum kwhy_call_class)rows->class[i]));
		end_row(writer);
	}
	end_table(writer);
}

static void write_ranges(struct writer *writer)
{
	static const char *const kinds[KWHY_RANGE_KIND_COUNT] = {
		[KWHY_RANGE_NVTX] = "nvtx",
		[KWHY_RANGE_USER] = "user",
		[KWHY_RANGE_STEP] = "step",
	};
	const struct kwhy_recording *recording = writer->recording;

	begin(writer, KWHY_TABLE_RANGE);
	for (size_t i = 0; !writer->rows->failed && i < recording->range_count; i++) {
		const struct kwhy_range *range = &recording->ranges[i];
		bool threaded = range->thread != KWHY_NONE;

		put_int(writer, (int64_t)i);
		put_text(writer, kinds[range->kind]);
		put_int(writer, range->name);
		put_known(writer, threaded, threaded ? recording->threads[range->thread].tid : 0);
		put_int(writer, range->start_ns);
		put_int(writer, range->end_ns);
		put_index(writer, threaded ? recording->threads[range->thread].process : KWHY_NONE);
		end_row(writer);
	}
	end_table(writer);
}

/*
 * Writes the table of host ranges: operators, Python functions, system calls and frames of call stacks. Other
 * ranges are in the table range.
 */
static void write_host_ranges(struct writer *writer)
{
	const struct kwhy_recording *recording = writer->recording;
	const struct kwhy_host_ranges *rows = &recording->host_ranges;

	begin(writer, KWHY_TABLE_HOST_RANGE);
	for (size_t i = 0; !writer->rows->failed && i < rows->count; i++) {
		const struct kwhy_thread *thread = &recording->threads[rows->thread[i]];

		if (rows->kind[i] < KWHY_HOST_OPERATOR)
			continue;
		put_int(writer, (int64_t)i);
		put_text(writer, kwhy_host_kind_name((enum kwhy_host_kind)rows->kind[i]));
		put_int(writer, rows->name[i]);
		put_known(writer, kwhy_host_range_file(rows, i) != 0, kwhy_host_range_file(rows, i));
		put_known(writer, kwhy_host_range_line(rows, i) != 0, kwhy_host_range_line(rows, i));
		put_known(writer, kwhy_host_range_shape(rows, i) != 0, kwhy_host_range_shape(rows, i));
		put_int(writer, thread->tid);
		put_int(writer, rows->start_ns[i]);
		put_int(writer, rows->end_ns[i]);
		put_int(writer, thread->process);
		end_row(writer);
	}
	end_table(writer);
}

static void write_power(struct writer *writer)
{
	begin(writer, KWHY_TABLE_POWER);
	for (size_t i = 0; i < writer->recording->power_count; i++) {
		const struct kwhy_power_series *series = &writer->recording->power[i];
		const uint32_t machine = kwhy_recording_machine_of_meter(writer->recording, series);
		char source[KWHY_METER_NAME_BYTES];

		kwhy_meter_source(source, series->meter, series->domain);
		for (size_t k = 0; !writer->rows->failed && k < series->count; k++) {
			put_known(writer, series->device != KWHY_NONE, series->device);
			put_text(writer, source);
			put_int(writer, series->time_ns[k]);
			put_int(writer, series->value[k]);
			put_machine(writer, machine);
			put_known(writer, series->wrap != 0, series->wrap);
			end_row(writer);
		}
	}
	end_table(writer);
}

static void write_work(struct writer *writer)
{
	begin(writer, KWHY_TABLE_WORK);
	for (size_t i = 0; !writer->rows->failed && i < writer->recording->work_count; i++) {
		put_text(writer, writer->recording->work[i].unit);
		put_real(writer, writer->recording->work[i].count);
		end_row(writer);
	}
	end_table(writer);
}

static void write_coverage(struct writer *writer)
{
	begin(writer, KWHY_TABLE_COVERAGE);
	for (size_t i = 0; !writer->rows->failed && i < writer->recording->coverage_count; i++) {
		put_index(writer, writer->recording->coverage[i].device);
		put_int(writer, writer->recording->coverage[i].start_ns);
		put_int(writer, writer->recording->coverage[i].end_ns);
		end_row(writer);
	}
	end_table(writer);
}

static void put_account(
	struct writer *writer, int64_t id, uint32_t device, const struct kwhy_account *account)
{
	put_int(writer, id);
	put_int(writer, device);
	put_text(writer, kwhy_category_name(account->category));
	put_text(writer, account->name);
	put_int(writer, (int64_t)account->count);
	put_int(writer, account->time_ns);
	put_energy(writer, account->gross_nj);
	put_energy(writer, account->idle_nj);
	put_energy(writer, account->net_nj);
	put_energy(writer, account->low_nj);
	put_energy(writer, account->high_nj);
	put_known(writer, account->mean_power_mw >= 0, account->mean_power_mw);
	put_text(writer, kwhy_basis_name(account->basis));
	end_row(writer);
}

static void write_accounts(struct writer *writer)
{
	begin(writer, KWHY_TABLE_ACCOUNT);
	for (uint32_t d = 0; d < writer->report->ledger->device_count; d++) {
		const struct kwhy_device_ledger *ledger = &writer->report->ledger->devices[d];

		for (size_t i = 0; !writer->rows->failed && i < ledger->account_count; i++) {
			struct kwhy_account reported = kwhy_account_reported(
				&ledger->energy, &ledger->accounts[i]);

			put_account(writer, first_account(writer, d) + (int64_t)i, d, &reported);
		}
	}
	end_table(writer);
}

static void write_findings(struct writer *writer)
{
	const struct kwhy_findings *findings = writer->report->findings;

	begin(writer, KWHY_TABLE_FINDING);
	for (size_t i = 0; !writer->rows->failed && i < findings->count; i++) {
		const struct kwhy_finding *finding = &findings->items[i];

		put_text(writer, finding->id);
		put_text(writer, finding->title);
		put_known(writer, finding->device != KWHY_NONE, finding->device);
		put_int(writer, (int64_t)finding->count);
		put_int(writer, finding->time_ns);
		put_energy(writer, finding->energy_nj);
		put_int(writer, finding->saving.time_ns);
		put_energy(writer, finding->saving.energy_nj);
		put_text(writer, finding->cure);
		end_row(writer);
	}
	end_table(writer);
}

static void put_host_wait(struct writer *writer, uint32_t device, const struct kwhy_host_sum *sum)
{
	const struct kwhy_names *names = &writer->report->recording->names;
	const bool is_range = sum->what == KWHY_HOST_WAIT_RANGE;

	put_int(writer, device);
	put_text(writer, kwhy_host_wait_reason_name((enum kwhy_host_wait_reason)sum->what));
	put_text(writer, is_range ? kwhy_host_kind_name((enum kwhy_host_kind)sum->kind) : NULL);
	put_text(writer, sum->name ? kwhy_names_get(names, sum->name) : NULL);
	put_text(writer, sum->file ? kwhy_names_get(names, sum->file) : NULL);
	put_known(writer, sum->line, sum->line);
	put_int(writer, sum->time_ns);
	put_int(writer, (int64_t)sum->gaps);
	put_int(writer, sum->longest_ns);
	end_row(writer);
}

/*
 * Writes the table of host waits: how the idle time of each device is divided among the host ranges that ran
 * meanwhile (device_ledger->host_sums). A row has the time, the number of gaps and the longest part of a gap
 * of one host range.
 */
static void write_host_waits(struct writer *writer)
{
	begin(writer, KWHY_TABLE_HOST_WAIT);
	for (uint32_t d = 0; d < writer->report->ledger->device_count; d++) {
		const struct kwhy_device_ledger *ledger = &writer->report->ledger->devices[d];

		for (size_t i = 0; !writer->rows->failed && i < ledger->host_sum_count; i++)
			put_host_wait(writer, d, &ledger->host_sums[i]);
	}
	end_table(writer);
}

void kwhy_tables_write(const struct kwhy_report *report, struct kwhy_table_rows *rows)
{
	struct writer writer = {.report = report, .recording = report->recording, .rows = rows};

	write_meta(&writer);
	write_machines(&writer);
	write_processes(&writer);
	write_devices(&writer);
	write_streams(&writer);
	write_names(&writer);
	write_activities(&writer);
	write_calls(&writer);
	write_ranges(&writer);
	write_host_ranges(&writer);
	write_power(&writer);
	write_work(&writer);
	write_coverage(&writer);
	write_accounts(&writer);
	write_findings(&writer);
	write_host_waits(&writer);
}
