/* SPDX-License-Identifier: Apache-2.0 */
#include "model/host_time.h"

#include <stdlib.h>
#include <string.h>

enum kwhy_status kwhy_host_time_init(
	struct kwhy_host_time *time, const struct kwhy_recording *recording, struct kwhy_error *error)
{
	*time = (struct kwhy_host_time){.recording = recording};
	time->threads = calloc(recording->thread_count + 1, sizeof(*time->threads));
	if (!time->threads)
		return kwhy_fail_memory(error, "what the host was in");
	return KWHY_OK;
}

void kwhy_host_time_done(struct kwhy_host_time *time)
{
	free(time->threads);
	*time = (struct kwhy_host_time){0};
}

/*
 * Moves the thread's cursor forward to time_ns and returns the innermost row (host range) that contains
 * time_ns; KWHY_NONE: no row does. Rows whose inner rows have ended before time_ns are reached by the links
 * to parents.
 */
static uint32_t advance(struct kwhy_host_time *time, uint32_t thread, int64_t time_ns)
{
	const struct kwhy_host_ranges *rows = &time->recording->host_ranges;
	struct kwhy_host_cursor *cursor = &time->threads[thread];

	if (!cursor->begun)
		*cursor = (struct kwhy_host_cursor){true, rows->first[thread], KWHY_NONE};
	while (cursor->next < rows->first[thread + 1] && rows->start_ns[cursor->next] <= time_ns)
		cursor->top = (uint32_t)cursor->next++;
	while (cursor->top != KWHY_NONE && rows->end_ns[cursor->top] <= time_ns)
		cursor->top = rows->parent[cursor->top];
	return cursor->top;
}

/*
 * The earlier of limit_ns and the time until which `row` stays the thread's innermost row: the end of `row`
 * or the start of the next row.
 */
static int64_t piece_end_ns(
	const struct kwhy_host_time *time, uint32_t thread, uint32_t row, int64_t limit_ns)
{
	const struct kwhy_host_ranges *rows = &time->recording->host_ranges;
	size_t next = time->threads[thread].next;

	if (row != KWHY_NONE && rows->end_ns[row] < limit_ns)
		limit_ns = rows->end_ns[row];
	if (next < rows->first[thread + 1] && rows->start_ns[next] < limit_ns)
		limit_ns = rows->start_ns[next];
	return limit_ns;
}

/*
 * Whether a row does not show what the host did: there is no row, or its range only names a part of the
 * program, such as a step.
 */
static bool is_vague(const struct kwhy_host_ranges *rows, uint32_t row)
{
	return row == KWHY_NONE || rows->kind[row] == KWHY_HOST_STEP || rows->kind[row] == KWHY_HOST_USER;
}

/*
 * Threads whose ranges divide a gap of a device: `next` issued the activity after the gap, `before` the
 * activity before the gap.
 */
struct asked {
	struct kwhy_host_time *time;
	uint32_t next, before; /* `before` is KWHY_NONE if it is unknown, or the same thread as `next` */
	kwhy_host_visit *visit;
	void *context;
};

/*
 * Divides [start_ns, end_ns), in which `row` of the thread `next` does not show what the host did. Time in
 * which the thread `before` is in an operator goes to that operator, and all other time to `row`.
 */
static void divide_by_before(const struct asked *asked, int64_t start_ns, int64_t end_ns, uint32_t row)
{
	const struct kwhy_host_ranges *rows = &asked->time->recording->host_ranges;

	while (start_ns < end_ns) {
		uint32_t other = advance(asked->time, asked->before, start_ns);
		int64_t until_ns = piece_end_ns(asked->time, asked->before, other, end_ns);
		bool takes = other != KWHY_NONE && rows->kind[other] == KWHY_HOST_OPERATOR;

		asked->visit(asked->context, start_ns, until_ns, takes ? other : row);
		start_ns = until_ns;
	}
}

static void divide_by_next(const struct asked *asked, int64_t start_ns, int64_t end_ns)
{
	const struct kwhy_host_ranges *rows = &asked->time->recording->host_ranges;

	while (start_ns < end_ns) {
		uint32_t row = advance(asked->time, asked->next, start_ns);
		int64_t until_ns = piece_end_ns(asked->time, asked->next, row, end_ns);

		if (asked->before != KWHY_NONE && is_vague(rows, row))
			divide_by_before(asked, start_ns, until_ns, row);
		else
			asked->visit(asked->context, start_ns, until_ns, row);
		start_ns = until_ns;
	}
}

static uint32_t thread_of(const struct kwhy_recording *recording, uint32_t activity)
{
	uint32_t call = activity == KWHY_NONE ? KWHY_NONE : recording->activities.call[activity];

	return call == KWHY_NONE ? KWHY_NONE : recording->calls.thread[call];
}

static int64_t between(int64_t value, int64_t least, int64_t most)
{
	value = value > least ? value : least;
	return value < most ? value : most;
}

void kwhy_host_time_divide(struct kwhy_host_time *time, const struct kwhy_host_span *gap, uint32_t before,
	uint32_t after, kwhy_host_visit *visit, void *context)
{
	const struct kwhy_recording *recording = time->recording;
	struct asked asked = {
		time, thread_of(recording, after), thread_of(recording, before), visit, context};
	int64_t launched_ns;

	if (asked.next == KWHY_NONE) {
		visit(context, gap->start_ns, gap->end_ns, KWHY_HOST_UNLINKED);
		return;
	}
	if (asked.before == asked.next)
		asked.before = KWHY_NONE;
	launched_ns = between(
		recording->calls.end_ns[recording->activities.call[after]], gap->start_ns, gap->end_ns);
	divide_by_next(&asked, gap->start_ns, launched_ns);
	if (launched_ns < gap->end_ns)
		visit(context, launched_ns, gap->end_ns, KWHY_HOST_LAUNCHED);
}

uint32_t kwhy_host_range_at(const struct kwhy_recording *recording, uint32_t thread, int64_t time_ns)
{
	const struct kwhy_host_ranges *rows = &recording->host_ranges;
	size_t first = rows->first[thread], low = first;
	uint32_t row;

	/*
	 * Binary search for the number of rows that start at or before time_ns, without branches that a
	 * processor would mispredict half of the time.
	 */
	for (size_t length = rows->first[thread + 1] - first; length > 0;) {
		const size_t half = length - length / 2;

		low += rows->start_ns[low + half - 1] <= time_ns ? half : 0;
		length = length / 2;
	}
	row = low > first ? (uint32_t)low - 1 : KWHY_NONE;
	while (row != KWHY_NONE && rows->end_ns[row] <= time_ns)
		row = rows->parent[row];
	return row;
}

uint32_t kwhy_host_range_of_call(const struct kwhy_recording *recording, uint32_t call)
{
	return call == KWHY_NONE ? KWHY_NONE
				 : kwhy_host_range_at(recording, recording->calls.thread[call],
					   recording->calls.start_ns[call]);
}

static int64_t common_ns(const struct kwhy_host_ranges *rows, uint32_t row, int64_t start_ns, int64_t end_ns)
{
	return between(rows->end_ns[row], start_ns, end_ns) - between(rows->start_ns[row], start_ns, end_ns);
}

/*
 * Of the rows that contain time_ns, the innermost that covers at least half of [start_ns, end_ns); KWHY_NONE:
 * none does.
 */
static uint32_t range_over_from(const struct kwhy_recording *recording, uint32_t thread, int64_t start_ns,
	int64_t end_ns, int64_t time_ns)
{
	const struct kwhy_host_ranges *rows = &recording->host_ranges;
	uint32_t row = kwhy_host_range_at(recording, thread, time_ns);

	while (row != KWHY_NONE && 2 * common_ns(rows, row, start_ns, end_ns) < end_ns - start_ns)
		row = rows->parent[row];
	return row;
}

static bool is_within(const struct kwhy_host_ranges *rows, uint32_t row, uint32_t outer)
{
	while (row != KWHY_NONE && row != outer)
		row = rows->parent[row];
	return row == outer;
}

/*
 * A row that covers at least half of the interval contains its middle or ends exactly there; in the latter
 * case it contains the nanosecond before the middle. Therefore both times are searched.
 */
uint32_t kwhy_host_range_over(
	const struct kwhy_recording *recording, uint32_t thread, int64_t start_ns, int64_t end_ns)
{
	const int64_t middle_ns = start_ns + (end_ns - start_ns) / 2;
	const uint32_t row = range_over_from(recording, thread, start_ns, end_ns, middle_ns);
	const uint32_t ended = range_over_from(recording, thread, start_ns, end_ns, middle_ns - 1);

	return is_within(&recording->host_ranges, ended, row) ? ended : row;
}

uint32_t kwhy_host_range_source(const struct kwhy_recording *recording, uint32_t row)
{
	const struct kwhy_host_ranges *rows = &recording->host_ranges;
	uint32_t found = KWHY_NONE;

	for (; row != KWHY_NONE; row = rows->parent[row]) {
		const char *path = kwhy_names_get(&recording->names, kwhy_host_range_file(rows, row));

		if (!*path)
			continue;
		if (!kwhy_source_is_library(path, strlen(path)))
			return row;
		found = found == KWHY_NONE ? row : found;
	}
	return found;
}

/*
 * Beginnings of the paths of Python packages and of Python's own modules, as PyTorch writes them: relative to
 * Python's search path. "<" begins a name in place of a path, such as "<string>".
 */
static const char *const packages[] = {"<", "torch/", "torchvision/", "torchaudio/", "functorch/", "numpy/",
	"scipy/", "pandas/", "PIL/", "jax/", "jaxlib/", "flax/", "optax/", "triton/", "transformers/",
	"datasets/", "tokenizers/", "accelerate/", "peft/", "deepspeed/", "lightning/", "pytorch_lightning/",
	"megatron/", "apex/", "vllm/", "tqdm/", "wandb/", "tensorboard/", "asyncio/", "collections/",
	"concurrent/", "ctypes/", "email/", "encodings/", "html/", "http/", "importlib/", "json/", "logging/",
	"multiprocessing/", "re/", "unittest/", "urllib/", "xml/", "_collections_abc.py", "_weakrefset.py",
	"abc.py", "argparse.py", "ast.py", "bisect.py", "codecs.py", "contextlib.py", "copy.py", "copyreg.py",
	"csv.py", "dataclasses.py", "datetime.py", "enum.py", "functools.py", "gzip.py", "heapq.py",
	"inspect.py", "io.py", "linecache.py", "locale.py", "numbers.py", "operator.py", "os.py",
	"pathlib.py", "pickle.py", "posixpath.py", "pprint.py", "queue.py", "random.py", "runpy.py",
	"selectors.py", "shutil.py", "signal.py", "socket.py", "ssl.py", "statistics.py", "string.py",
	"struct.py", "subprocess.py", "tempfile.py", "textwrap.py", "threading.py", "tokenize.py",
	"traceback.py", "types.py", "typing.py", "uuid.py", "warnings.py", "weakref.py", "zipfile.py"};

/* Parts of paths of packages and libraries. */
static const char *const folders[] = {"site-packages/", "dist-packages/", "/lib/python", "/lib64/python",
	"/usr/lib/", "/usr/include/", ".so"};

bool kwhy_source_is_library(const char *path, size_t length)
{
	for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++)
		if (strlen(packages[i]) <= length && !memcmp(path, packages[i], strlen(packages[i])))
			return true;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (memmem(path, length, folders[i], strlen(folders[i])))
			return true;
	return false;
}
