/* SPDX-License-Identifier: Apache-2.0 */
#include "import/rocprof/rocprof.h"

#include "base/plural.h"
#include "import/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Name of CLOCK_BOOTTIME, the clock of ROCm's profiler; a power CSV names it in a line "# clock other
 * boottime".
 */
static const char clock_name[] = "boottime";

enum kwhy_status kwhy_rocprof_fail(
	const struct kwhy_rocprof *rocprof, struct kwhy_error *error, const char *words)
{
	return kwhy_fail(error, KWHY_E_INPUT, "%s, %s, row %" PRIu64 ": %s", rocprof->tracks.path,
		rocprof->place, rocprof->number, words);
}

enum kwhy_status kwhy_rocprof_pass(struct kwhy_rocprof *rocprof, enum kwhy_status status)
{
	rocprof->tally.rows++;
	return kwhy_reader_pass(rocprof->recording, rocprof->options, status);
}

/*
 * KWHY_E_INPUT unless this is the first trace of the recording or the earlier ones have ROCm's clock,
 * CLOCK_BOOTTIME, too. Whether they are of one machine is not known.
 */
static enum kwhy_status check_clock(const struct kwhy_rocprof *rocprof, struct kwhy_error *error)
{
	const struct kwhy_recording *recording = rocprof->recording;

	if (recording->source_count == 0 ||
		(!recording->unix_clock && recording->clock_name &&
			!strcmp(recording->clock_name, clock_name)))
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s counts from the start of its machine (CLOCK_BOOTTIME) and cannot be put on one clock "
		"with %s; report each alone",
		rocprof->tracks.path, recording->sources[0].path);
}

enum kwhy_status kwhy_rocprof_begin(struct kwhy_rocprof *rocprof, struct kwhy_recording *recording,
	const struct kwhy_source *about, const struct kwhy_import_options *options, struct kwhy_error *error)
{
	struct kwhy_source source = *about;
	enum kwhy_status status;

	*rocprof = (struct kwhy_rocprof){
		.recording = recording, .options = options, .rank = KWHY_NONE, .place = "the file"};
	source.producer = "rocprofv3";
	source.path = kwhy_recording_copy(recording, about->path, strlen(about->path));
	if (!source.path)
		return kwhy_fail_memory(error, "the name of a trace");
	rocprof->tracks = (struct kwhy_tracks){
		.recording = recording, .path = source.path, .source = (uint32_t)recording->source_count};
	rocprof->first_process = (uint32_t)recording->process_count;
	status = check_clock(rocprof, error);
	rocprof->has_origin = recording->source_count > 0;
	rocprof->shift_ns = -recording->origin_unix_ns;
	recording->clock_name = clock_name;
	if (!status)
		status = kwhy_recording_add_source(recording, &source, NULL, error);
	return status ? status
		      : kwhy_collectives_new(options->collectives_path, &rocprof->collectives, error);
}

/*
 * Sets the rank that a process has until it states one itself. In the first source of the recording the rank
 * is unknown; in a later source it is the source's index, so that its devices are distinct from those of
 * earlier sources.
 */
static void choose_rank(struct kwhy_rocprof *rocprof)
{
	rocprof->rank_by_order = rocprof->tracks.source > 0;
	rocprof->rank = rocprof->rank_by_order ? rocprof->tracks.source : KWHY_NONE;
	rocprof->world_size = 0;
}

static void note_rank(struct kwhy_rocprof *rocprof)
{
	struct kwhy_process *process = &rocprof->recording->processes[rocprof->process];

	process->rank = rocprof->rank;
	process->rank_by_order = rocprof->rank_by_order;
	process->world_size = rocprof->world_size;
}

enum kwhy_status kwhy_rocprof_process(
	struct kwhy_rocprof *rocprof, int64_t pid, const char *host, struct kwhy_error *error)
{
	struct kwhy_process process = {
		.pid = pid, .machine = KWHY_NONE, .source = rocprof->tracks.source, .host = host};
	enum kwhy_status status = kwhy_recording_add_process(
		rocprof->recording, &process, &rocprof->process, error);

	rocprof->agent_count = 0;
	choose_rank(rocprof);
	if (!status)
		note_rank(rocprof);
	return status;
}

void kwhy_rocprof_set_ranks(struct kwhy_rocprof *rocprof, struct kwhy_rocprof_ranks ranks)
{
	if (ranks.world_size < 2 || ranks.rank < 0 || ranks.rank >= ranks.world_size ||
		ranks.world_size >= KWHY_NONE)
		return;
	rocprof->rank = (uint32_t)ranks.rank;
	rocprof->world_size = (uint32_t)ranks.world_size;
	rocprof->rank_by_order = false;
	note_rank(rocprof);
}

static enum kwhy_status add_notes(struct kwhy_rocprof *rocprof, struct kwhy_error *error)
{
	const struct kwhy_rocprof_tally *tally = &rocprof->tally;
	const struct {
		uint64_t count;
		const char *id, *one, *many;
	} notes[] = {
		{tally->untimed, "untimed", "row has no time (0) and was left out",
			"rows have no time (0) and were left out"},
		{tally->other_calls, "other-calls",
			"call of HSA, RCCL or another library than HIP was left out",
			"calls of HSA, RCCL and other libraries than HIP were left out"},
		{tally->host_copies, "host-copies", "copy between CPUs was left out: no GPU made it",
			"copies between CPUs were left out: no GPU made them"},
		{tally->unnamed, "unnamed", "kernel has no name in the trace",
			"kernels have no name in the trace"},
	};
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < sizeof(notes) / sizeof(notes[0]); i++)
		if (notes[i].count > 0)
			status = kwhy_recording_add_note(rocprof->recording, KWHY_NOTE_COMPLETENESS,
				notes[i].id, error, "%s: %" PRIu64 " %s.", rocprof->tracks.path,
				notes[i].count, kwhy_plural(notes[i].count, notes[i].one, notes[i].many));
	if (!status && tally->calls == 0)
		status = kwhy_recording_add_note(rocprof->recording, KWHY_NOTE_COMPLETENESS, "no-api-rows",
			error,
			"%s: it holds no calls of HIP, so what an idle device waited for is unknown; record "
			"with --hip-trace.",
			rocprof->tracks.path);
	return status;
}

enum kwhy_status kwhy_rocprof_finish(struct kwhy_rocprof *rocprof, struct kwhy_error *error)
{
	rocprof->recording->sources[rocprof->tracks.source].events = rocprof->tally.rows;
	if (rocprof->tally.rows == 0)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is a trace of rocprofv3 that holds no kernel, copy or call; record with "
			"\"rocprofv3 --runtime-trace\"",
			rocprof->tracks.path);
	return add_notes(rocprof, error);
}

void kwhy_rocprof_release(struct kwhy_rocprof *rocprof)
{
	kwhy_collectives_free(rocprof->collectives);
	kwhy_tracks_done(&rocprof->tracks);
	kwhy_track_map_done(&rocprof->kinds);
	kwhy_map_done(&rocprof->mangled);
	free(rocprof->agents);
}
