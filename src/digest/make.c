/* SPDX-License-Identifier: Apache-2.0 */
#include "digest/make.h"

#include "base/hash.h"
#include "base/text.h"
#include "digest/making.h"
#include "import/identity.h"
#include "model/known_sum.h"
#include "model/run_energy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IDENTITY_BYTES = 17 };

/*
 * Rank of a device or, if the recording does not state it, of the process of the device's first activity;
 * KWHY_NONE: unknown.
 */
static uint32_t rank_of(const struct kwhy_recording *recording, size_t device)
{
	const struct kwhy_activities *rows = &recording->activities;
	const size_t first = rows->first[device];
	uint32_t process;

	if (recording->devices[device].rank != KWHY_NONE || first == rows->first[device + 1])
		return recording->devices[device].rank;
	process = recording->streams[rows->stream[first]].process;
	return recording->processes[process].rank;
}

static bool is_used(const struct kwhy_recording *recording, size_t device)
{
	return recording->activities.first[device] < recording->activities.first[device + 1];
}

/*
 * Whether a device is a part of its own: nothing used it, it has a UUID, by which it is recognised in other
 * ranks' digests, and it is not the only device of a rank.
 */
static bool is_alone(const struct kwhy_recording *recording, size_t device, uint32_t rank)
{
	if (is_used(recording, device) || !recording->devices[device].uuid)
		return false;
	for (size_t d = 0; rank != KWHY_NONE && d < recording->device_count; d++)
		if (d != device && rank_of(recording, d) == rank)
			return true;
	return rank == KWHY_NONE;
}

/* The part that a device belongs to. */
static struct kwhy_digest_part part_of(const struct kwhy_recording *recording, size_t device)
{
	const uint32_t rank = rank_of(recording, device);

	return is_alone(recording, device, rank) ? (struct kwhy_digest_part){KWHY_NONE, (uint32_t)device}
						 : (struct kwhy_digest_part){rank, KWHY_NONE};
}

static bool is_same_part(struct kwhy_digest_part a, struct kwhy_digest_part b)
{
	return a.rank == b.rank && a.device == b.device;
}

static int compare_parts(const void *a, const void *b)
{
	const struct kwhy_digest_part *left = a, *right = b;

	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	/*
	 * The part of unknown rank (device KWHY_NONE) comes before those of unused devices, as KWHY_NONE + 1
	 * is 0.
	 */
	return left->device + 1 < right->device + 1 ? -1 : left->device != right->device;
}

enum kwhy_status kwhy_digest_parts(
	const struct kwhy_recording *recording, struct kwhy_digest_parts *out, struct kwhy_error *error)
{
	const size_t devices = recording->device_count;
	size_t count = 0;

	out->items = calloc(devices + 1, sizeof(*out->items));
	if (!out->items)
		return kwhy_fail_memory(error, "ranks");
	for (size_t d = 0; d < devices; d++)
		out->items[d] = part_of(recording, d);
	qsort(out->items, devices, sizeof(*out->items), compare_parts);
	for (size_t d = 0; d < devices; d++)
		if (d == 0 || !is_same_part(out->items[d], out->items[count - 1]))
			out->items[count++] = out->items[d];
	out->count = count;
	return KWHY_OK;
}

/* Returns `text` itself if it has at most `bytes` bytes, else a cut copy that ends with a hash of `text`. */
static const char *shorten(struct kwhy_digest *digest, const char *text, size_t bytes)
{
	size_t length = bytes - 12;

	if (!text || strlen(text) <= bytes)
		return text;
	while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
		length--;
	return kwhy_arena_printf(&digest->arena, "%.*s...#%08" PRIx32, (int)length, text,
		(uint32_t)(kwhy_hash_text(KWHY_HASH_START, text) >> 16));
}

const char *kwhy_digest_name(struct kwhy_digest *digest, const char *text)
{
	return shorten(digest, text, KWHY_DIGEST_NAME_BYTES);
}

const char *kwhy_digest_sentence(struct kwhy_digest *digest, const char *text)
{
	return shorten(digest, text, KWHY_DIGEST_SENTENCE_BYTES);
}

/*
 * Hash of an activity. Its time is hashed as Unix time, so that the hash does not depend on the origin, which
 * other parts of the recording can change.
 */
static uint64_t hash_row(const struct kwhy_recording *recording, const uint64_t *names, size_t row)
{
	const struct kwhy_activities *rows = &recording->activities;
	const struct kwhy_stream *stream = &recording->streams[rows->stream[row]];
	const uint64_t values[] = {(uint64_t)(rows->start_ns[row] + recording->origin_unix_ns),
		(uint64_t)(rows->end_ns[row] - rows->start_ns[row]), rows->kind[row], names[rows->name[row]],
		rows->bytes[row], (uint64_t)(uint32_t)recording->devices[stream->device].index,
		(uint64_t)stream->id};

	return kwhy_identity_digest(values, sizeof(values) / sizeof(values[0]));
}

static uint64_t hash_readings(const struct kwhy_recording *recording, const struct kwhy_power_series *series)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < series->count; i++) {
		const uint64_t values[] = {series->meter,
			(uint64_t)(series->time_ns[i] + recording->origin_unix_ns),
			(uint64_t)series->value[i]};

		sum += kwhy_identity_digest(values, 3);
	}
	return sum;
}

/*
 * Writes a hash of the activities and readings of the part's devices, 16 hexadecimal digits. It does not
 * depend on their order.
 */
static enum kwhy_status find_identity(const struct kwhy_recording *recording, struct kwhy_digest_part part,
	char out[IDENTITY_BYTES], struct kwhy_error *error)
{
	uint64_t *names = malloc((recording->names.count + 1) * sizeof(*names));
	uint64_t sum = part.rank;

	if (!names)
		return kwhy_fail_memory(error, "a digest");
	for (size_t i = 0; i < recording->names.count; i++)
		names[i] = kwhy_hash_text(KWHY_HASH_START, kwhy_names_get(&recording->names, (uint32_t)i));
	for (size_t d = 0; d < recording->device_count; d++) {
		if (!is_same_part(part_of(recording, d), part))
			continue;
		for (size_t i = recording->activities.first[d]; i < recording->activities.first[d + 1]; i++)
			sum += hash_row(recording, names, i);
	}
	for (size_t i = 0; i < recording->power_count; i++)
		if (recording->power[i].device != KWHY_NONE &&
			is_same_part(part_of(recording, recording->power[i].device), part))
			sum += hash_readings(recording, &recording->power[i]);
	free(names);
	snprintf(out, IDENTITY_BYTES, "%016" PRIx64, sum);
	return KWHY_OK;
}

static void set_run_energy(struct kwhy_digest_device *row, const struct kwhy_device_ledger *ledger)
{
	const struct kwhy_run_energy run = kwhy_run_energy_of(ledger);

	row->run_nj = kwhy_whole_nj(run.run_nj);
	row->run_low_nj = kwhy_whole_nj(fmax(0, run.run_nj - run.below_nj));
	row->run_high_nj = kwhy_whole_nj(run.run_nj + run.above_nj);
	if (isnan(run.below_nj))
		row->run_low_nj = KWHY_UNKNOWN_NJ;
	row->run_unmetered_nj = kwhy_whole_nj(run.unmetered_nj);
}

static void set_times(struct kwhy_digest_device *row, const struct kwhy_device_time *time)
{
	row->first_ns = time->first_ns;
	row->last_ns = time->last_ns;
	row->span_ns = time->span_ns;
	row->busy_ns = time->busy_ns;
	row->idle_ns = time->idle_ns;
	row->unrecorded_ns = time->unrecorded_ns;
	row->probing_ns = time->probing_ns;
	row->compute_ns = time->kernel_union_ns - time->collective_exposed_ns;
	row->collective_exposed_ns = time->collective_exposed_ns;
	row->kernels = (int64_t)time->kernel_count;
	row->sm_weighted_ratio = time->sm_weighted_ratio;
}

static enum kwhy_status add_device(const struct kwhy_digest_making *making, size_t device)
{
	const struct kwhy_device *from = &making->recording->devices[device];
	const struct kwhy_device_ledger *ledger = &making->ledger->devices[device];
	struct kwhy_digest_device *row;

	making->place_of[device] = (uint32_t)making->digest->device_count;
	row = KWHY_DIGEST_ADD(making->digest, device, making->error);
	if (!row)
		return making->error->status;
	row->number = from->index;
	row->name = kwhy_digest_name(making->digest, from->name);
	row->uuid = kwhy_digest_name(making->digest, from->uuid);
	row->pci = kwhy_digest_name(making->digest, from->pci);
	row->limit_mw = from->limit_mw >= 0 ? from->limit_mw : INT64_MIN;
	set_times(row, &ledger->time);
	if (!ledger->energy.known)
		return KWHY_OK;
	row->energy_source = ledger->energy.source;
	row->is_modelled = ledger->energy.modelled;
	row->metered_ns = ledger->energy.metered_ns;
	row->measured_nj = ledger->energy.measured_nj;
	row->attributed_nj = ledger->energy.attributed_nj;
	set_run_energy(row, ledger);
	return KWHY_OK;
}

static enum kwhy_status add_devices(const struct kwhy_digest_making *making)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t d = 0; !status && d < making->recording->device_count; d++)
		if (is_same_part(part_of(making->recording, d), making->part))
			status = add_device(making, d);
	return status;
}

/* Process of the first activity on the first used device of the part; NULL: nothing used its devices. */
static const struct kwhy_process *process_of(const struct kwhy_digest_making *making)
{
	const struct kwhy_recording *recording = making->recording;

	for (size_t d = 0; d < recording->device_count; d++) {
		const size_t first = recording->activities.first[d];

		if (making->place_of[d] != KWHY_NONE && first < recording->activities.first[d + 1])
			return &recording->processes[recording->streams[recording->activities.stream[first]]
							     .process];
	}
	return NULL;
}

static const char *name_of(const struct kwhy_recording *recording, uint32_t name)
{
	return name ? kwhy_names_get(&recording->names, name) : NULL;
}

static void set_place(const struct kwhy_digest_making *making, struct kwhy_digest_digest *about)
{
	const struct kwhy_recording *recording = making->recording;
	const struct kwhy_process *process = process_of(making);
	/*
	 * If nothing used the part's devices, their machine is known only if the recording is of a single
	 * machine.
	 */
	uint32_t machine = recording->machine_count == 1 ? 0 : KWHY_NONE;

	if (process) {
		machine = process->machine;
		about->host = kwhy_digest_name(making->digest, process->host);
		if (process->world_size)
			about->world_size = process->world_size;
		if (process->rank_by_order)
			about->rank = KWHY_NONE;
	}
	if (machine < recording->machine_count) {
		about->boot = name_of(recording, recording->machines[machine].boot);
		if (recording->machines[machine].host)
			about->host = kwhy_digest_name(
				making->digest, name_of(recording, recording->machines[machine].host));
	}
}

static int compare_ranks(const void *a, const void *b)
{
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return left < right ? -1 : left > right;
}

/*
 * Sets other_ranks: the ranks, other than the part's, that used its devices, under MPS or in time slices. The
 * list is never cut, since a reader takes it as complete.
 */
static enum kwhy_status set_other_ranks(
	const struct kwhy_digest_making *making, struct kwhy_digest_digest *about)
{
	const struct kwhy_recording *recording = making->recording;
	uint32_t *ranks = malloc((recording->stream_count + 1) * sizeof(*ranks));
	struct kwhy_text list = {0};
	size_t count = 0;
	enum kwhy_status status;

	if (!ranks)
		return kwhy_fail_memory(making->error, "ranks");
	for (size_t i = 0; i < recording->stream_count; i++) {
		const struct kwhy_process *process = &recording->processes[recording->streams[i].process];

		if (making->place_of[recording->streams[i].device] != KWHY_NONE && !process->rank_by_order &&
			process->rank != KWHY_NONE && process->rank != about->rank)
			ranks[count++] = process->rank;
	}
	qsort(ranks, count, sizeof(*ranks), compare_ranks);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || ranks[i] != ranks[i - 1])
			kwhy_text_addf(&list, "%s%" PRIu32, list.length ? "," : "", ranks[i]);
	status = kwhy_text_check(&list, making->error);
	if (!status && list.length) {
		about->other_ranks = kwhy_arena_copy(&making->digest->arena, list.data);
		if (!about->other_ranks)
			status = kwhy_fail_memory(making->error, "ranks");
	}
	free(ranks);
	kwhy_text_done(&list);
	return status;
}

static enum kwhy_status add_about(const struct kwhy_digest_making *making, size_t parts)
{
	const struct kwhy_recording *recording = making->recording;
	struct kwhy_digest_digest *about = KWHY_DIGEST_ADD(making->digest, digest, making->error);

	if (!about)
		return making->error->status;
	about->schema = KWHY_DIGEST_SCHEMA;
	about->producer = "kwhy " KWHY_VERSION;
	about->rank = making->part.rank;
	about->is_unix_clock = recording->unix_clock;
	about->clock = kwhy_digest_name(making->digest, recording->clock_name);
	about->origin_unix_ns = recording->origin_unix_ns;
	about->start_ns = recording->start_ns;
	about->end_ns = recording->end_ns;
	about->parts = (int64_t)parts;
	about->identity = kwhy_arena_copy(&making->digest->arena, making->identity);
	if (!about->identity)
		return kwhy_fail_memory(making->error, "a digest");
	set_place(making, about);
	return about->rank == KWHY_NONE ? KWHY_OK : set_other_ranks(making, about);
}

static enum kwhy_status add_sources(const struct kwhy_digest_making *making)
{
	static const char *const formats[KWHY_FORMAT_COUNT] = {
#define X(format, reader, text, words) #reader,
#include "model/trace_formats.def"
#undef X
	};

	for (size_t i = 0; i < kwhy_digest_kept(making, making->recording->source_count); i++) {
		const struct kwhy_source *source = &making->recording->sources[i];
		struct kwhy_digest_source *row = KWHY_DIGEST_ADD(making->digest, source, making->error);

		if (!row)
			return making->error->status;
		row->path = kwhy_digest_name(making->digest, source->path);
		row->format = formats[source->format];
		row->version = kwhy_digest_name(making->digest, source->version);
		row->producer = kwhy_digest_name(making->digest, source->producer);
		row->events = (int64_t)source->events;
		row->activities = (int64_t)source->activities;
	}
	return KWHY_OK;
}

static enum kwhy_status make(const struct kwhy_digest_input *input, const struct kwhy_digest_parts *parts,
	size_t part, const char *identity, const struct kwhy_digest_limits *limits, struct kwhy_digest *out,
	struct kwhy_error *error)
{
	struct kwhy_digest_making making = {.recording = input->recording,
		.ledger = input->ledger,
		.findings = input->findings,
		.is_running = input->is_running,
		.limits = limits,
		.part = parts->items[part],
		.identity = identity,
		.is_first = part == 0,
		.digest = out,
		.error = error};
	enum kwhy_status status;

	making.place_of = malloc((input->recording->device_count + 1) * sizeof(*making.place_of));
	if (!making.place_of)
		return kwhy_fail_memory(error, "a digest");
	for (size_t d = 0; d < input->recording->device_count; d++)
		making.place_of[d] = KWHY_NONE;
	status = add_devices(&making);
	if (!status)
		status = add_about(&making, parts->count);
	if (!status)
		status = add_sources(&making);
	if (!status)
		status = kwhy_digest_make_accounts(&making);
	if (!status)
		status = kwhy_digest_make_collectives(&making);
	if (!status)
		status = kwhy_digest_make_meters(&making);
	if (!status)
		status = kwhy_digest_make_details(&making);
	free(making.place_of);
	return status;
}

/*
 * Lowers the limits for a digest that was too large by `bytes` less KWHY_DIGEST_BYTES_MAX. The number of
 * collectives is lowered first, because a sample shows nearly as much as all of them. A row of table
 * collective takes 25 to 30 bytes.
 */
static void lessen(struct kwhy_digest_limits *limits, size_t kept, size_t bytes)
{
	const size_t excess = (bytes - KWHY_DIGEST_BYTES_MAX) / 29 + 16;

	if (kept >= excess + 512 && limits->collectives >= excess + 512) {
		limits->collectives = (kept < limits->collectives ? kept : limits->collectives) - excess;
		return;
	}
	limits->collectives /= 2;
	limits->rows /= 2;
	limits->accounts /= 2;
	limits->operations /= 2;
	limits->communicators /= 2;
}

static enum kwhy_status fail_large(const struct kwhy_digest_part *part, const struct kwhy_digest *digest,
	size_t bytes, struct kwhy_error *error)
{
	char rank[32] = "a rank without a number";

	if (part->rank != KWHY_NONE)
		snprintf(rank, sizeof(rank), "rank %" PRIu32, part->rank);
	return kwhy_fail(error, KWHY_E_UNSUPPORTED,
		"the sums of %s with its %zu devices need %zu bytes, and a digest has %d; give each rank a "
		"trace of its own",
		rank, digest->device_count, bytes, KWHY_DIGEST_BYTES_MAX);
}

enum kwhy_status kwhy_digest_make(const struct kwhy_digest_input *input,
	const struct kwhy_digest_parts *parts, size_t part, struct kwhy_digest *out, struct kwhy_error *error)
{
	struct kwhy_digest_limits limits = {
		.accounts = 128, .rows = 48, .collectives = 4096, .operations = 256, .communicators = 256};
	char identity[IDENTITY_BYTES];
	size_t bytes = 0;
	enum kwhy_status status = find_identity(input->recording, parts->items[part], identity, error);

	while (!status) {
		status = make(input, parts, part, identity, &limits, out, error);
		if (!status)
			status = kwhy_digest_size(out, &bytes, error);
		if (status || bytes <= KWHY_DIGEST_BYTES_MAX)
			return status;
		if (!limits.accounts && !limits.collectives)
			return fail_large(&parts->items[part], out, bytes, error);
		lessen(&limits, out->collective_count, bytes);
		kwhy_digest_done(out);
	}
	return status;
}
