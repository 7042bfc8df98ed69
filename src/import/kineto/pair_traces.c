/* SPDX-License-Identifier: Apache-2.0 */
#include "import/kineto/pair_traces.h"

#include "base/plural.h"
#include "import/import.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096, CONFIGS_MAX = 1 << 16 };

/*
 * One side of a transfer, by the trace of the sending or of the receiving rank: the range around the transfer
 * and the activities that were launched in the range.
 */
struct transfer {
	uint32_t config, source, target, repetition, rank;
	uint64_t bytes;
	int64_t start_unix_ns, end_unix_ns; /* start and end of the transfer's range */
	double device_s; /* from the first start to the last end of the kernels and copies launched in the
			    range; NAN: none */
};

struct reader {
	const char *folder;
	struct kwhy_pairs *pairs;
	struct transfer *transfers;
	size_t count, space;
	size_t left_out;    /* number of transfers left out because their configuration already had
			       KWHY_PAIR_SAMPLES_MAX */
	size_t of_receiver; /* number of samples that are the receiver's range, as the sender's is missing */
	bool has_device;
};

/*
 * The rank in the file name "rank_3.pt.trace.json", which a suffix of compression may follow; -1: the name is
 * of another form.
 */
static int rank_of(const char *name)
{
	static const char *const ends[] = {".pt.trace.json", ".pt.trace.json.gz", ".pt.trace.json.zst"};
	char *end;
	long rank;

	if (strncmp(name, "rank_", 5) != 0 || name[5] < '0' || name[5] > '9')
		return -1;
	rank = strtol(name + 5, &end, 10);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strcmp(end, ends[i]) == 0 && rank < KWHY_PAIR_GPUS_MAX)
			return (int)rank;
	return -1;
}

bool kwhy_pair_traces_is_one(const char *folder)
{
	DIR *list = opendir(folder);
	bool found = false;

	if (!list)
		return false;
	for (struct dirent *entry = readdir(list); entry && !found; entry = readdir(list))
		found = rank_of(entry->d_name) == 0;
	closedir(list);
	return found;
}

static bool take_number(const char **text, const char *before, uint64_t most, uint64_t *out)
{
	size_t length = strlen(before);
	char *end;

	if (strncmp(*text, before, length) != 0 || (*text)[length] < '0' || (*text)[length] > '9')
		return false;
	errno = 0;
	*out = strtoull(*text + length, &end, 10);
	*text = end;
	return !errno && *out <= most;
}

static bool parse_name(const char *name, struct transfer *out)
{
	uint64_t config, source, target, bytes, repetition;

	if (!take_number(&name, "p2p_cfg", CONFIGS_MAX - 1, &config) ||
		!take_number(&name, "_s", KWHY_PAIR_GPUS_MAX - 1, &source) ||
		!take_number(&name, "d", KWHY_PAIR_GPUS_MAX - 1, &target) ||
		!take_number(&name, "_sz", KWHY_PAIR_BYTES_MAX, &bytes) ||
		!take_number(&name, "_r", UINT32_MAX, &repetition) || *name || source == target || !bytes)
		return false;
	*out = (struct transfer){.config = (uint32_t)config,
		.source = (uint32_t)source,
		.target = (uint32_t)target,
		.repetition = (uint32_t)repetition,
		.bytes = bytes,
		.device_s = NAN};
	return true;
}

static enum kwhy_status add(struct reader *reader, const struct transfer *transfer, struct kwhy_error *error)
{
	if (reader->count == reader->space) {
		size_t space = reader->space ? 2 * reader->space : 1024;
		struct transfer *more = realloc(reader->transfers, space * sizeof(*more));

		if (!more)
			return kwhy_fail_memory(error, "transfers of traces");
		reader->transfers = more;
		reader->space = space;
	}
	reader->transfers[reader->count++] = *transfer;
	return KWHY_OK;
}

/* First start and last end of the kernels and copies that were launched in a range. */
struct span {
	int64_t start_ns, end_ns; /* start above end: no activity found yet */
};

/*
 * Index of the range that contains a time; `count`: none does. The ranges must be sorted and must not
 * overlap.
 */
static size_t range_at(const struct kwhy_range *ranges, size_t count, int64_t time_ns)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges[middle].start_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && time_ns <= ranges[low - 1].end_ns ? low - 1 : count;
}

static void find_spans(const struct kwhy_recording *recording, const struct kwhy_range *ranges, size_t count,
	struct span *out)
{
	const struct kwhy_activities *activities = &recording->activities;

	for (size_t i = 0; i < activities->count; i++) {
		uint32_t call = activities->call[i];
		size_t range;

		if (call == KWHY_NONE || activities->kind[i] == KWHY_ACTIVITY_MEMSET)
			continue;
		range = range_at(ranges, count, recording->calls.start_ns[call]);
		if (range == count)
			continue;
		if (activities->start_ns[i] < out[range].start_ns)
			out[range].start_ns = activities->start_ns[i];
		if (activities->end_ns[i] > out[range].end_ns)
			out[range].end_ns = activities->end_ns[i];
	}
}

/*
 * Copies to `ranges` the ranges that describe a transfer to or from this rank, sorted by time, and fills
 * `out` with these transfers, without device_s. Returns their number.
 */
static size_t keep_ranges(const struct kwhy_recording *recording, uint32_t rank, struct kwhy_range *ranges,
	struct transfer *out)
{
	size_t count = 0;

	for (size_t i = 0; i < recording->range_count; i++) {
		const struct kwhy_range *range = &recording->ranges[i];
		struct transfer transfer;

		if (!parse_name(kwhy_names_get(&recording->names, range->name), &transfer) ||
			(transfer.source != rank && transfer.target != rank))
			continue;
		transfer.rank = rank;
		transfer.start_unix_ns = recording->origin_unix_ns + range->start_ns;
		transfer.end_unix_ns = recording->origin_unix_ns + range->end_ns;
		ranges[count] = *range;
		out[count++] = transfer;
	}
	return count;
}

static enum kwhy_status take_transfers(struct reader *reader, const struct kwhy_recording *recording,
	uint32_t rank, struct kwhy_error *error)
{
	size_t most = recording->range_count + 1;
	struct kwhy_range *ranges = calloc(most, sizeof(*ranges));
	struct transfer *transfers = calloc(most, sizeof(*transfers));
	struct span *spans = calloc(most, sizeof(*spans));
	enum kwhy_status status = KWHY_OK;
	size_t count;

	if (!ranges || !transfers || !spans) {
		status = kwhy_fail_memory(error, "transfers of a trace");
	} else {
		count = keep_ranges(recording, rank, ranges, transfers);
		for (size_t i = 0; i < count; i++)
			spans[i] = (struct span){INT64_MAX, INT64_MIN};
		find_spans(recording, ranges, count, spans);
		for (size_t i = 0; !status && i < count; i++) {
			if (spans[i].end_ns > spans[i].start_ns)
				transfers[i].device_s = (double)(spans[i].end_ns - spans[i].start_ns) * 1e-9;
			reader->has_device = reader->has_device || isfinite(transfers[i].device_s);
			status = add(reader, &transfers[i], error);
		}
	}
	free(ranges);
	free(transfers);
	free(spans);
	return status;
}

static enum kwhy_status take_rank(
	struct reader *reader, const char *path, uint32_t rank, struct kwhy_error *error)
{
	const struct kwhy_import_options options = {.host_alone = true};
	struct kwhy_recording *recording;
	enum kwhy_status status = kwhy_recording_new(&recording, error);

	if (status)
		return status;
	status = kwhy_import_trace(recording, path, &options, error);
	if (!status)
		status = kwhy_recording_finish(recording, error);
	if (!status)
		status = take_transfers(reader, recording, rank, error);
	if (!status && recording->device_count && recording->devices[0].name)
		reader->pairs->gpus[rank].name = kwhy_arena_copy(
			&reader->pairs->arena, recording->devices[0].name);
	kwhy_recording_free(recording);
	return status;
}

static enum kwhy_status take_folder(struct reader *reader, struct kwhy_error *error)
{
	DIR *list = opendir(reader->folder);
	enum kwhy_status status = KWHY_OK;
	char path[PATH_BYTES];

	if (!list)
		return kwhy_fail(error, KWHY_E_INPUT, "%s cannot be read: %s; name a folder of traces",
			reader->folder, strerror(errno));
	for (struct dirent *entry = readdir(list); entry && !status; entry = readdir(list)) {
		int rank = rank_of(entry->d_name);

		if (rank < 0)
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", reader->folder, entry->d_name) >= PATH_BYTES)
			status = kwhy_fail(
				error, KWHY_E_USAGE, "the folder's name is too long; name another one");
		else
			status = take_rank(reader, path, (uint32_t)rank, error);
	}
	closedir(list);
	return status;
}

/*
 * Sorts by configuration, then repetition, then sender before receiver, so that both sides of a transfer are
 * adjacent.
 */
static int compare_transfers(const void *a, const void *b)
{
	const struct transfer *one = a, *other = b;

	if (one->config != other->config)
		return one->config < other->config ? -1 : 1;
	if (one->repetition != other->repetition)
		return one->repetition < other->repetition ? -1 : 1;
	return (other->rank == other->source) - (one->rank == one->source);
}

static double seconds_of(const struct reader *reader, const struct transfer *transfer)
{
	return reader->has_device ? transfer->device_s
				  : (double)(transfer->end_unix_ns - transfer->start_unix_ns) * 1e-9;
}

static enum kwhy_status check_sides(const struct reader *reader, const struct kwhy_pair_config *config,
	const struct transfer *sides, size_t count, struct kwhy_error *error)
{
	for (size_t i = 0; i < count; i++)
		if (config->source != sides[i].source || config->target != sides[i].target ||
			config->bytes != sides[i].bytes)
			return kwhy_fail(error, KWHY_E_INPUT,
				"%s: two different transfers are both called p2p_cfg%04u; name a folder of "
				"one run",
				reader->folder, sides->config);
	return KWHY_OK;
}

/*
 * Adds a transfer, of which sides[0, count) has what the traces show, as a sample. Its time is the shorter
 * device_s of the two sides; if no trace of the folder has a device_s, it is the length of the range of
 * sides[0], the sender's unless its trace lacks the transfer. A transfer without a time above 0 is left out.
 */
static enum kwhy_status add_sample(
	struct reader *reader, const struct transfer *sides, size_t count, struct kwhy_error *error)
{
	struct kwhy_pairs *pairs = reader->pairs;
	struct kwhy_pair_config *config = &pairs->configs[sides->config];
	double seconds = seconds_of(reader, &sides[0]);

	for (size_t i = 1; reader->has_device && i < count; i++)
		seconds = fmin(seconds, sides[i].device_s);
	if (!(seconds > 0))
		return KWHY_OK;
	if (!config->samples) {
		*config = (struct kwhy_pair_config){.engine = KWHY_PAIR_NCCL,
			.clock = reader->has_device ? KWHY_PAIR_ISOLATED : KWHY_PAIR_BY_HOST,
			.source = sides->source,
			.target = sides->target,
			.bytes = sides->bytes,
			.conditions = {NAN, NAN, NAN, NAN, 0},
			.samples = kwhy_arena_alloc(
				&pairs->arena, KWHY_PAIR_SAMPLES_MAX, sizeof(*config->samples))};
		if (!config->samples)
			return kwhy_fail_memory(error, "samples of traces");
	}
	if (check_sides(reader, config, sides, count, error))
		return error->status;
	if (config->sample_count == KWHY_PAIR_SAMPLES_MAX) {
		reader->left_out++;
		return KWHY_OK;
	}
	reader->of_receiver += !reader->has_device && sides->rank != sides->source;
	config->samples[config->sample_count++] = (struct kwhy_pair_sample){
		sides->start_unix_ns, sides->end_unix_ns, seconds};
	return KWHY_OK;
}

static enum kwhy_status make_configs(struct reader *reader, struct kwhy_error *error)
{
	struct kwhy_pairs *pairs = reader->pairs;
	enum kwhy_status status = KWHY_OK;

	qsort(reader->transfers, reader->count, sizeof(*reader->transfers), compare_transfers);
	pairs->config_count = reader->transfers[reader->count - 1].config + 1;
	pairs->configs = kwhy_arena_alloc(&pairs->arena, pairs->config_count, sizeof(*pairs->configs));
	if (!pairs->configs)
		return kwhy_fail_memory(error, "configurations of traces");
	for (size_t i = 0, end; !status && i < reader->count; i = end) {
		const struct transfer *sides = &reader->transfers[i];
		uint32_t highest = sides->source > sides->target ? sides->source : sides->target;

		for (end = i + 1; end < reader->count && reader->transfers[end].config == sides->config &&
			reader->transfers[end].repetition == sides->repetition;)
			end++;
		status = add_sample(reader, sides, end - i, error);
		if (highest >= pairs->gpu_count)
			pairs->gpu_count = highest + 1;
	}
	return status;
}

static enum kwhy_status add_notes(struct reader *reader, struct kwhy_error *error)
{
	struct kwhy_pairs *pairs = reader->pairs;
	enum kwhy_status status = kwhy_pairs_add_note(pairs,
		reader->has_device
			? "from traces of torch.profiler: a time is that of the kernels that a transfer "
			  "launched, on the side where they took less, since the side that comes first waits"
			: "from traces of torch.profiler without kernels: a time is the host's from entering "
			  "to leaving the sender's range; where the program did not wait there, it is that "
			  "of queueing",
		error);

	if (!status && reader->of_receiver)
		status = kwhy_pairs_add_note(pairs,
			kwhy_arena_printf(&pairs->arena,
				"the sender's trace lacks %zu %s of the receiver's range",
				reader->of_receiver,
				kwhy_plural(reader->of_receiver, "transfer: its time is",
					"transfers: their times are")),
			error);
	if (!status && reader->left_out)
		status = kwhy_pairs_add_note(pairs,
			kwhy_arena_printf(&pairs->arena, "%zu %s left out: of each configuration %d are kept",
				reader->left_out,
				kwhy_plural(reader->left_out, "repetition was", "repetitions were"),
				(int)KWHY_PAIR_SAMPLES_MAX),
			error);
	return status;
}

static enum kwhy_status read_all(struct reader *reader, struct kwhy_error *error)
{
	enum kwhy_status status = take_folder(reader, error);

	if (!status && !reader->count)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s: its traces have no range called p2p_cfg<n>_s<n>d<n>_sz<n>_r<n>; name the traces "
			"themselves, or, of kwhy bench pairs, put samples.csv into the folder",
			reader->folder);
	if (!status)
		status = make_configs(reader, error);
	return status ? status : add_notes(reader, error);
}

enum kwhy_status kwhy_import_pair_traces(
	const char *folder, struct kwhy_pairs **out, struct kwhy_error *error)
{
	struct reader reader = {.folder = folder, .pairs = kwhy_pairs_new()};
	enum kwhy_status status;

	if (!reader.pairs)
		return kwhy_fail_memory(error, "pairs of traces");
	reader.pairs->is_foreign = true;
	reader.pairs->route_missing = "traces do not tell of links";
	reader.pairs->settings = "traces of torch.profiler";
	for (int i = 0; i < KWHY_PAIR_GPUS_MAX; i++)
		reader.pairs->gpus[i].numa_node = -1;
	status = read_all(&reader, error);
	free(reader.transfers);
	if (status)
		kwhy_pairs_free(reader.pairs);
	else
		*out = reader.pairs;
	return status;
}
