/* SPDX-License-Identifier: Apache-2.0 */
#include "import/nsys/nsys.h"

#include "base/plural.h"
#include "base/quantity.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

/*
 * This file adds notes on what the export does not show and on what is unusual in it. The text of each note
 * begins with the path.
 */

#define NODES "; record with --cuda-graph-trace=node to see inside"

enum { DIAGNOSTICS_MAX = 5, DIAGNOSTIC_BYTES = 300 };

/*
 * A note that is added if `count` is above 0. Its text is the count and then `one` if the count is 1,
 * otherwise `many`.
 */
struct counted {
	uint64_t count;
	enum kwhy_note_kind kind;
	const char *id, *one, *many;
};

static enum kwhy_status add_counted(struct kwhy_nsys *nsys, struct kwhy_error *error)
{
	const struct kwhy_nsys_tally *tally = &nsys->tally;
	const struct counted notes[] = {
		{tally->graphs, KWHY_NOTE_COMPLETENESS, "graph-level",
			"CUDA graph launch has one row for all its kernels and copies" NODES,
			"CUDA graph launches have one row each for all their kernels and copies" NODES},
		{tally->unfinished_graphs, KWHY_NOTE_COMPLETENESS, "unfinished-graphs",
			"CUDA graph launch has no end and was left out",
			"CUDA graph launches have no end and were left out"},
		{tally->negative_starts, KWHY_NOTE_WARNING, "negative-starts",
			"event precedes the start of the session; it is kept",
			"events precede the start of the session; they are kept"},
		{tally->open_ranges, KWHY_NOTE_COMPLETENESS, "open-ranges",
			"NVTX range was never closed and was left out",
			"NVTX ranges were never closed and were left out"},
		{tally->unnamed, KWHY_NOTE_COMPLETENESS, "unnamed",
			"kernel or call has a name that table StringIds does not hold",
			"kernels or calls have a name that table StringIds does not hold"},
		{tally->backtraces, KWHY_NOTE_WARNING, "backtrace-rows",
			"API row that repeats a call for its backtrace was left out",
			"API rows that repeat calls for their backtraces were left out"},
	};
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < sizeof(notes) / sizeof(notes[0]); i++)
		if (notes[i].count > 0)
			status = kwhy_recording_add_note(nsys->recording, notes[i].kind, notes[i].id, error,
				"%s: %" PRIu64 " %s.", nsys->tracks.path, notes[i].count,
				kwhy_plural(notes[i].count, notes[i].one, notes[i].many));
	return status;
}

static enum kwhy_status add_missing(struct kwhy_nsys *nsys, struct kwhy_error *error)
{
	const struct kwhy_nsys_tally *tally = &nsys->tally;
	bool has_work = nsys->recording->activities.count > nsys->activities_before;
	const struct {
		bool missing;
		const char *id, *words;
	} notes[] = {
		{tally->calls == 0, "no-api-rows",
			"no API calls were recorded: what an idle device waited for is unknown"},
		{tally->calls > 0 && !has_work, "api-rows-only",
			"API calls were recorded, but no work of a device (so it is under WSL and without "
			"permission for CUPTI)"},
		{has_work && tally->kernels == 0 && tally->graphs == 0, "no-kernels",
			"copies or memsets were recorded, but no kernels"},
		{has_work && nsys->gpu_count == 0, "no-device-table",
			"names and sizes of the devices are missing (TARGET_INFO_GPU)"},
		{!nsys->recording->unix_clock, "no-start-time",
			"the start of the session is missing, so it cannot be aligned with power readings"},
		{tally->corrupt, "truncated", "the database is damaged or cut: rows are missing"},
	};
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < sizeof(notes) / sizeof(notes[0]); i++)
		if (notes[i].missing)
			status = kwhy_recording_add_note(nsys->recording, KWHY_NOTE_COMPLETENESS, notes[i].id,
				error, "%s: %s.", nsys->tracks.path, notes[i].words);
	return status;
}

static enum kwhy_status add_overhead(struct kwhy_nsys *nsys, struct kwhy_error *error)
{
	char time[KWHY_QUANTITY_BYTES];

	if (nsys->tally.overhead_count == 0)
		return KWHY_OK;
	return kwhy_recording_add_note(nsys->recording, KWHY_NOTE_WARNING, "profiler-overhead", error,
		"%s: the profiler spent %s on its own work, by its records, in %" PRIu64 " %s.",
		nsys->tracks.path, kwhy_quantity_time(time, nsys->tally.overhead_ns),
		nsys->tally.overhead_count, kwhy_plural(nsys->tally.overhead_count, "interval", "intervals"));
}

static const struct kwhy_sqlite_column diagnostic_columns[] = {{"text", NULL}};
static const struct kwhy_sqlite_table diagnostic_table = {"DIAGNOSTIC_EVENT", diagnostic_columns, 1};

/* Whether a message of Nsight Systems (table DIAGNOSTIC_EVENT) says that it lost events. */
static bool tells_of_loss(const char *text, size_t length)
{
	static const char *const words[] = {"dropped", "were lost", "lost events", "Not all CUDA events",
		"Not all NVTX events", "CUDA profiling might have not", "No CUDA events collected"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (memmem(text, length, words[i], strlen(words[i])))
			return true;
	return false;
}

static enum kwhy_status add_diagnostic(
	struct kwhy_nsys *nsys, const char *text, size_t length, struct kwhy_error *error)
{
	char clean[3 * DIAGNOSTIC_BYTES + 1];

	kwhy_text_sanitize(clean, text, length < DIAGNOSTIC_BYTES ? length : DIAGNOSTIC_BYTES);
	return kwhy_recording_add_note(nsys->recording, KWHY_NOTE_COMPLETENESS, "profiler-lost-events", error,
		"%s: the profiler says: %s", nsys->tracks.path, clean);
}

static enum kwhy_status add_diagnostics(struct kwhy_nsys *nsys, struct kwhy_error *error)
{
	struct kwhy_sqlite_rows rows = {0};
	enum kwhy_status status;
	size_t reported = 0, length;
	const char *text;
	bool more;

	status = kwhy_sqlite_rows_open(nsys->db, &diagnostic_table, &rows, &more, error);
	while (!status && more && reported < DIAGNOSTICS_MAX) {
		status = kwhy_sqlite_rows_next(&rows, &more, error);
		if (status || !more || !kwhy_sqlite_text(&rows, 0, &text, &length) ||
			!tells_of_loss(text, length))
			continue;
		status = add_diagnostic(nsys, text, length, error);
		reported++;
	}
	kwhy_sqlite_rows_close(&rows);
	return status;
}

enum kwhy_status kwhy_nsys_notes_add(struct kwhy_nsys *nsys, struct kwhy_error *error)
{
	enum kwhy_status status = add_missing(nsys, error);

	if (!status)
		status = add_counted(nsys, error);
	if (!status)
		status = add_overhead(nsys, error);
	if (!status && !nsys->tally.corrupt)
		status = add_diagnostics(nsys, error);
	return status;
}
