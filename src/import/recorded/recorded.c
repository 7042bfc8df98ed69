/* SPDX-License-Identifier: Apache-2.0 */
#include "import/recorded/recorded.h"

#include "base/plural.h"

#include "import/reader.h"
#include "recording/bundle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Called for each intact block of the recording's files. */
typedef enum kwhy_status on_block(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_block *block, struct kwhy_error *error);

static bool is_fact(unsigned kind)
{
	return kind == KWHY_WIRE_NAME || (kind >= KWHY_WIRE_PROCESS && kind <= KWHY_WIRE_SOURCE) ||
		(kind >= KWHY_WIRE_CLOCK && kind <= KWHY_WIRE_SAMPLE);
}

/*
 * First pass: counts the blocks of this writer that are missing before this block, by their sequence numbers,
 * and keeps the block if it has facts.
 */
static enum kwhy_status take_fact(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_block *block, struct kwhy_error *error)
{
	struct kwhy_recorded_writer *row = &recorded->writers[writer];

	if (block->sequence > row->next_sequence)
		row->missing_blocks += block->sequence - row->next_sequence;
	row->next_sequence = block->sequence + 1;
	return is_fact(block->kind) ? kwhy_recorded_fact_keep(recorded, writer, block, error) : KWHY_OK;
}

static enum kwhy_status take_rows(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_block *block, struct kwhy_error *error)
{
	return is_fact(block->kind) ? KWHY_OK : kwhy_recorded_rows_add(recorded, writer, block, error);
}

static void count_damage(struct kwhy_recorded *recorded, const struct kwhy_block *block)
{
	recorded->damages += !block->is_cut;
	recorded->damaged_bytes += block->bytes;
	recorded->is_cut |= block->is_cut;
}

/*
 * Counts damage of a file. A cut end is accepted, because the writer may have been killed; other damage is
 * KWHY_E_INPUT without --partial.
 */
static enum kwhy_status take_damage(struct kwhy_recorded *recorded, const char *path,
	const struct kwhy_block *block, struct kwhy_error *error)
{
	if (!block->is_cut && !recorded->options->partial)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is damaged at byte %" PRIu64
			": %s; copy the recording again, or read what is whole with --partial",
			path, block->offset, block->damage);
	count_damage(recorded, block);
	return KWHY_OK;
}

static enum kwhy_status walk_file(
	struct kwhy_recorded *recorded, const char *path, on_block *take, struct kwhy_error *error)
{
	struct kwhy_block_reader reader;
	struct kwhy_block block;
	enum kwhy_status status = kwhy_block_reader_open(&reader, path, error);
	uint32_t writer;
	int item = 0;

	if (status)
		return status;
	while (!status && (item = kwhy_block_reader_next(&reader, &block, error)) == 0) {
		if (block.damage && take == take_fact)
			status = take_damage(recorded, path, &block, error);
		if (block.damage)
			continue;
		status = kwhy_recorded_writer_of(recorded, block.writer, &writer, error);
		if (!status)
			status = take(recorded, writer, &block, error);
	}
	kwhy_block_reader_close(&reader);
	return item < 0 ? error->status : status;
}

static enum kwhy_status walk(struct kwhy_recorded *recorded, const struct kwhy_bundle *bundle, on_block *take,
	struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < bundle->count; i++)
		status = walk_file(recorded, bundle->paths[i], take, error);
	return status;
}

static enum kwhy_status find_twice(
	struct kwhy_recorded *recorded, struct kwhy_track_map *earlier, struct kwhy_error *error)
{
	const struct kwhy_recording *recording = recorded->recording;
	enum kwhy_status status = KWHY_OK;
	uint32_t process;

	for (uint32_t i = 0; !status && i < recorded->earlier_processes; i++)
		if (recording->processes[i].writer)
			status = kwhy_track_map_put(earlier,
				(struct kwhy_track_key){(int64_t)recording->processes[i].writer, 0, 0}, i,
				error);
	for (size_t i = 0; !status && i < recorded->writer_count; i++)
		if (kwhy_track_map_find(earlier,
			    (struct kwhy_track_key){(int64_t)recorded->writers[i].id, 0, 0}, &process))
			status = kwhy_fail(error, KWHY_E_INPUT,
				"%s holds the same recording as %s; give each recording of a run once",
				recorded->tracks.path,
				recording->sources[recording->processes[process].source].path);
	return status;
}

/*
 * Refuses a recording with a writer that an earlier recording already has, because it is then the same
 * recording or a copy of it.
 */
static enum kwhy_status check_once(struct kwhy_recorded *recorded, struct kwhy_error *error)
{
	struct kwhy_track_map earlier = {0};
	enum kwhy_status status = find_twice(recorded, &earlier, error);

	kwhy_track_map_done(&earlier);
	return status;
}

/*
 * If the writer is a helper, such as a sampler, the process with pid helps_pid on its machine, which it helps
 * to record. KWHY_NONE: the writer is no helper, or that process wrote no block.
 */
static uint32_t helped_process(
	const struct kwhy_recorded *recorded, const struct kwhy_recorded_writer *writer)
{
	for (size_t i = 0; writer->helps_pid && i < recorded->writer_count; i++) {
		const struct kwhy_recorded_writer *other = &recorded->writers[i];

		if (!other->helps_pid && other->process != KWHY_NONE && other->machine == writer->machine &&
			recorded->recording->processes[other->process].pid == writer->helps_pid)
			return other->process;
	}
	return KWHY_NONE;
}

/*
 * Gives each writer without a process the process that it helps to record or else a new process. Sets machine
 * and writer of the process of each writer that is not a helper.
 */
static enum kwhy_status name_processes(struct kwhy_recorded *recorded, struct kwhy_error *error)
{
	enum kwhy_status status = check_once(recorded, error);

	for (size_t i = 0; !status && i < recorded->writer_count; i++) {
		struct kwhy_recorded_writer *writer = &recorded->writers[i];

		if (writer->process == KWHY_NONE)
			writer->process = helped_process(recorded, writer);
		if (writer->helps_pid && writer->process != KWHY_NONE)
			continue;
		if (writer->process == KWHY_NONE)
			status = kwhy_tracks_process(
				&recorded->tracks, (int64_t)writer->id, -1, &writer->process, error);
		if (!status) {
			recorded->recording->processes[writer->process].machine = writer->machine;
			recorded->recording->processes[writer->process].writer = writer->id;
		}
	}
	return status;
}

/*
 * Adds a note on damaged bytes and missing blocks. It cannot state which times are affected, because the rows
 * of a block are not sorted by time.
 */
static enum kwhy_status note_damage(
	struct kwhy_recorded *recorded, uint64_t missing, struct kwhy_error *error)
{
	return kwhy_recording_add_note(recorded->recording, KWHY_NOTE_COMPLETENESS, "recording-damaged",
		error,
		"%s: %" PRIu64 " %s damaged and %" PRIu64
		" %s missing; time whose records are lost counts as idle. kwhy verify says where they are.",
		recorded->tracks.path, recorded->damaged_bytes,
		kwhy_plural(recorded->damaged_bytes, "byte is", "bytes are"), missing,
		kwhy_plural(missing, "block is", "blocks are"));
}

/*
 * Drops the work that processes reported, such as tokens, if the recording is cut, because the energy of the
 * run after the cut is unknown.
 */
static enum kwhy_status forget_work(struct kwhy_recorded *recorded, struct kwhy_error *error)
{
	struct kwhy_recording *recording = recorded->recording;

	if (!recorded->is_cut || !recording->work_count)
		return KWHY_OK;
	recording->work_count = 0;
	return kwhy_recording_add_note(recording, KWHY_NOTE_WARNING, "work-of-a-cut-run", error,
		"%s ends before its run did, but its work (tokens, steps, ...) is that of the whole run, so "
		"no figure is divided by it; state the work done until the recording ends with --work",
		recorded->tracks.path);
}

static enum kwhy_status note_losses(struct kwhy_recorded *recorded, struct kwhy_error *error)
{
	struct kwhy_recording *recording = recorded->recording;
	const char *path = recorded->tracks.path;
	uint64_t missing = 0, open = 0;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; i < recorded->writer_count; i++) {
		missing += recorded->writers[i].missing_blocks;
		open += !recorded->writers[i].has_ended;
	}
	recording->lost.truncated |= recorded->is_cut || open == recorded->writer_count;
	recording->lost.has_holes |= recorded->damages || missing;
	if (open)
		status = kwhy_recording_add_note(recording, KWHY_NOTE_COMPLETENESS, "recording-cut", error,
			"%s: %" PRIu64 " of %zu %s not end the recording (killed, or still running), so what "
			"%s did last is missing.",
			path, open, recorded->writer_count,
			kwhy_plural(recorded->writer_count, "process did", "processes did"),
			kwhy_plural(open, "it", "they"));
	if (!status)
		status = forget_work(recorded, error);
	if (!status && (recorded->damages || missing))
		status = note_damage(recorded, missing, error);
	if (!status && recorded->unknown_names)
		status = kwhy_recording_add_note(recording, KWHY_NOTE_COMPLETENESS, "recording-nameless",
			error, "%s: %" PRIu64 " %s.", path, recorded->unknown_names,
			kwhy_plural(recorded->unknown_names, "row has no name, because its record is lost",
				"rows have no name, because their records are lost"));
	return status;
}

/*
 * Names kwhy probe as the producer of the source if the source has a burst, or a record of a launch that kwhy
 * probe did not repeat.
 */
static void name_producer(struct kwhy_recorded *recorded)
{
	struct kwhy_recording *recording = recorded->recording;

	if (recording->burst_count + recording->unprobed_count > recorded->earlier_probed)
		recording->sources[recorded->tracks.source].producer = "kwhy probe";
}

/*
 * Adds coverage of all devices if there is none and nothing ran, as when only power was recorded: the whole
 * run or, if its end is unknown, the part of it with readings of meters.
 */
static enum kwhy_status cover_run(struct kwhy_recorded *recorded, struct kwhy_error *error)
{
	struct kwhy_recording *recording = recorded->recording;
	struct kwhy_coverage row = {KWHY_NONE, recorded->run_start_ns, recorded->run_end_ns};

	if (recording->coverage_count || recording->activities.count)
		return KWHY_OK;
	if (recorded->run_start_ns > recorded->run_end_ns)
		row = (struct kwhy_coverage){KWHY_NONE,
			recorded->first_reading_ns > recorded->begun_ns ? recorded->first_reading_ns
									: recorded->begun_ns,
			recorded->last_reading_ns};
	return row.start_ns > row.end_ns ? KWHY_OK : kwhy_recording_add_coverage(recording, &row, error);
}

static enum kwhy_status begin(struct kwhy_recorded *recorded, const char *path, struct kwhy_error *error)
{
	struct kwhy_source source = {.format = KWHY_FORMAT_KWHY, .producer = "kwhy record"};
	enum kwhy_status status;

	source.path = kwhy_recording_copy(recorded->recording, path, strlen(path));
	if (!source.path)
		return kwhy_fail_memory(error, "the name of a recording");
	status = kwhy_recording_add_source(recorded->recording, &source, &recorded->tracks.source, error);
	recorded->tracks.recording = recorded->recording;
	recorded->tracks.path = source.path;
	return status
		? status
		: kwhy_collectives_new(recorded->options->collectives_path, &recorded->collectives, error);
}

/*
 * Allocates `kinds`, one byte for each name, which says whether kernels of that name are collectives. After
 * the first pass all names are known. Then finds the processes of the writers.
 */
static enum kwhy_status prepare_rows(struct kwhy_recorded *recorded, struct kwhy_error *error)
{
	recorded->kind_count = recorded->recording->names.count;
	recorded->kinds = kwhy_arena_alloc(&recorded->arena, recorded->kind_count, 1);
	if (!recorded->kinds)
		return kwhy_fail_memory(error, "names of a recording");
	return name_processes(recorded, error);
}

static enum kwhy_status read_bundle(struct kwhy_recorded *recorded, const struct kwhy_bundle *bundle,
	const char *path, struct kwhy_error *error)
{
	enum kwhy_status status = begin(recorded, path, error);

	if (!status)
		status = walk(recorded, bundle, take_fact, error);
	if (!status && !recorded->writer_count)
		status = kwhy_fail(error, KWHY_E_INPUT,
			"%s holds no whole block: nothing was recorded, or the file is damaged from its "
			"start",
			path);
	if (!status)
		status = kwhy_recorded_facts_apply(recorded, error);
	if (!status)
		status = prepare_rows(recorded, error);
	if (!status)
		status = kwhy_recorded_bursts_sort(recorded, error);
	if (!status)
		status = walk(recorded, bundle, take_rows, error);
	if (status)
		return status;
	recorded->recording->sources[recorded->tracks.source].events = recorded->rows;
	name_producer(recorded);
	status = kwhy_recorded_bursts_apply(recorded, error);
	if (!status)
		status = kwhy_recorded_windows_apply(recorded, error);
	if (!status)
		status = cover_run(recorded, error);
	if (!status)
		status = kwhy_recorded_ranks_apply(recorded, error);
	if (!status)
		status = kwhy_recorded_memory_apply(recorded, error);
	if (!status)
		status = kwhy_recorded_costs_apply(recorded, error);
	return status ? status : note_losses(recorded, error);
}

static void recorded_done(struct kwhy_recorded *recorded)
{
	kwhy_collectives_free(recorded->collectives);
	kwhy_tracks_done(&recorded->tracks);
	kwhy_track_map_done(&recorded->writer_of);
	kwhy_track_map_done(&recorded->names);
	kwhy_track_map_done(&recorded->devices);
	kwhy_track_map_done(&recorded->sources);
	kwhy_track_map_done(&recorded->frames);
	kwhy_arena_done(&recorded->arena);
	free(recorded->writers);
	free(recorded->facts);
	free(recorded->meters);
	free(recorded->windows);
	free(recorded->memory);
	free(recorded->bursts);
	free(recorded->call_frames);
	kwhy_symbols_done(&recorded->symbols);
}

static enum kwhy_status read_recorded(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	struct kwhy_recorded recorded = {.recording = recording,
		.options = options,
		.earlier_processes = recording->process_count,
		.earlier_probed = recording->burst_count + recording->unprobed_count,
		.first_unix_ns = INT64_MAX,
		.run_start_ns = INT64_MAX,
		.run_end_ns = INT64_MIN,
		.begun_ns = INT64_MIN,
		.first_reading_ns = INT64_MAX,
		.last_reading_ns = INT64_MIN};
	struct kwhy_bundle bundle;
	enum kwhy_status status = kwhy_bundle_open(&bundle, path, error);

	if (status)
		return status;
	status = read_bundle(&recorded, &bundle, path, error);
	recorded_done(&recorded);
	kwhy_bundle_done(&bundle);
	return status;
}

static bool probe_recorded(const char *path, const unsigned char *head, size_t length)
{
	(void)path;
	return kwhy_block_reader_probe(head, length);
}

const struct kwhy_trace_reader kwhy_reader_kwhy = {.probe = probe_recorded, .read = read_recorded};
