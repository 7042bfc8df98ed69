/* SPDX-License-Identifier: Apache-2.0 */
#include "digest/heads.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/quantile.h"
#include "digest/joining.h"
#include "import/folder.h"
#include "import/one_run.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_digest_file(const char *path)
{
	unsigned char head[KWHY_DIGEST_HEAD_BYTES];
	struct stat facts;
	/*
	 * Only regular files are opened: reading a pipe here would take bytes from the process that reads it
	 * next.
	 */
	int file = stat(path, &facts) == 0 && S_ISREG(facts.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t length = file < 0 ? -1 : read(file, head, sizeof(head));

	if (file >= 0)
		close(file);
	return length > 0 && kwhy_digest_is_one(head, (size_t)length);
}

bool kwhy_job_is_digest(const char *path)
{
	bool found = false;
	struct dirent *entry;
	DIR *folder;

	if (!kwhy_folder_is(path))
		return is_digest_file(path);
	folder = opendir(path);
	while (folder && !found && (entry = readdir(folder))) {
		char *file = NULL;

		if (asprintf(&file, "%s/%s", path, entry->d_name) >= 0)
			found = is_digest_file(file);
		free(file);
	}
	if (folder)
		closedir(folder);
	return found;
}

static enum kwhy_status add_path(struct kwhy_heads *heads, const char *path, struct kwhy_error *error)
{
	struct kwhy_head *items = kwhy_arena_grow(
		&heads->arena, heads->items, heads->count, sizeof(*heads->items));

	if (!items)
		return kwhy_fail_memory(error, "a list of digests");
	heads->items = items;
	items[heads->count] = (struct kwhy_head){.path = kwhy_arena_copy(&heads->arena, path)};
	return items[heads->count++].path ? KWHY_OK : kwhy_fail_memory(error, "a list of digests");
}

static int compare_entries(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static bool has_digest_name(const char *name)
{
	const char *end = strrchr(name, '.');

	return end && strcmp(end, ".sqlite") == 0;
}

/*
 * Adds the files of a folder that are digests or whose name ends in .sqlite. The latter can be damaged
 * digests, which have to be reported. Other files are ignored, and subfolders are not searched.
 */
static enum kwhy_status add_folder(struct kwhy_heads *heads, const char *path, struct kwhy_error *error)
{
	struct dirent **entries;
	int count = scandir(path, &entries, kwhy_file_is_shown, compare_entries);
	enum kwhy_status status = KWHY_OK;

	if (count < 0)
		return kwhy_fail(error, KWHY_E_IO, "cannot list the folder %.300s", path);
	for (int i = 0; i < count; i++) {
		char *file = NULL;

		if (!status && asprintf(&file, "%s/%s", path, entries[i]->d_name) < 0)
			status = kwhy_fail_memory(error, "a list of digests");
		if (!status && (has_digest_name(entries[i]->d_name) || is_digest_file(file)))
			status = add_path(heads, file, error);
		free(file);
		free(entries[i]);
	}
	free(entries);
	return status;
}

static struct kwhy_head_device device_of(const struct kwhy_digest *digest, size_t device)
{
	const struct kwhy_digest_device *row = &digest->device[device];
	const char *host = digest->digest->host;
	struct kwhy_head_device out = {.busy_ns = row->busy_ns,
		.metered_ns = row->metered_ns,
		.measured_nj = row->is_modelled == 1 ? INT64_MIN : row->measured_nj,
		.energy_ratio = 1};

	if (row->uuid)
		out.uuid = out.key = kwhy_hash_text(KWHY_HASH_START, row->uuid);
	else if (host && row->pci)
		out.key = kwhy_job_mix(
			kwhy_hash_text(KWHY_HASH_START, host), kwhy_hash_text(KWHY_HASH_START, row->pci));
	return out;
}

/* Copies the devices of a digest into its head. The caller holds the lock. False: memory is exhausted. */
static bool take_devices(struct kwhy_arena *arena, struct kwhy_head *head, const struct kwhy_digest *digest)
{
	head->each = kwhy_arena_alloc(
		arena, digest->device_count * sizeof(*head->each) + 1, _Alignof(struct kwhy_head_device));
	if (!head->each)
		return false;
	for (size_t i = 0; i < digest->device_count; i++)
		head->each[i] = device_of(digest, i);
	head->device_count = digest->device_count;
	head->is_unused = kwhy_digest_is_unused(digest);
	return true;
}

/*
 * Copies the list of other ranks, such as "1,2,3", into a head. A number that neither a comma nor the end
 * follows may be cut, so it is ignored, with all text after it. The caller holds the lock. False: memory is
 * exhausted.
 */
static bool take_others(struct kwhy_arena *arena, struct kwhy_head *head, const char *list)
{
	uint32_t *others;

	if (!list)
		return true;
	others = kwhy_arena_alloc(arena, (strlen(list) / 2 + 1) * sizeof(*others), _Alignof(uint32_t));
	if (!others)
		return false;
	head->others = others;
	for (char *end; *list >= '0' && *list <= '9'; list = end + (*end == ',')) {
		const unsigned long rank = strtoul(list, &end, 10);

		if (rank < KWHY_NONE && (*end == ',' || *end == '\0'))
			others[head->other_count++] = (uint32_t)rank;
	}
	return true;
}

static void take_head(struct kwhy_head *head, const struct kwhy_digest *digest)
{
	const struct kwhy_digest_digest *about = digest->digest;

	snprintf(head->identity, sizeof(head->identity), "%s", about->identity);
	head->rank = about->rank;
	head->world_size = about->world_size;
	head->is_unix_clock = about->is_unix_clock == 1;
	head->origin_unix_ns = about->origin_unix_ns;
	/* The file may state any times. Those that would overflow become 0. */
	if (!head->is_unix_clock ||
		__builtin_add_overflow(about->start_ns, head->origin_unix_ns, &head->start_ns) ||
		__builtin_add_overflow(about->end_ns, head->origin_unix_ns, &head->end_ns) ||
		head->start_ns < INT64_MIN / 4 || head->start_ns > INT64_MAX / 2 ||
		head->end_ns < INT64_MIN / 4 || head->end_ns > INT64_MAX / 2)
		head->start_ns = head->end_ns = 0;
	head->devices = kwhy_hash_text(KWHY_HASH_START, about->host);
	for (size_t i = 0; i < digest->device_count; i++)
		head->devices = kwhy_hash_text(
			kwhy_job_mix(head->devices, (uint64_t)digest->device[i].number),
			digest->device[i].uuid);
	for (size_t i = 0; i < digest->source_count; i++)
		kwhy_job_sum(&head->activities, digest->source[i].activities);
}

/*
 * State of the threads that read the heads. Each thread takes the next file, so the order of reading is not
 * fixed.
 */
struct reading {
	struct kwhy_heads *heads;
	atomic_size_t next;
	pthread_mutex_t lock; /* protects the arena of `heads` */
};

static void *read_heads(void *context)
{
	struct reading *reading = context;
	size_t i;

	while ((i = atomic_fetch_add(&reading->next, 1)) < reading->heads->count) {
		struct kwhy_head *head = &reading->heads->items[i];
		struct kwhy_digest digest = {0};
		struct kwhy_error error = {0};

		if (kwhy_digest_read_head(head->path, &digest, &error) == KWHY_OK) {
			take_head(head, &digest);
			pthread_mutex_lock(&reading->lock);
			head->is_readable = take_devices(&reading->heads->arena, head, &digest) &&
				take_others(&reading->heads->arena, head, digest.digest->other_ranks);
			pthread_mutex_unlock(&reading->lock);
		} else {
			pthread_mutex_lock(&reading->lock);
			head->why = kwhy_arena_copy(&reading->heads->arena, error.text);
			pthread_mutex_unlock(&reading->lock);
		}
		kwhy_digest_done(&digest);
	}
	return NULL;
}

enum kwhy_status kwhy_heads_read(struct kwhy_heads *heads, const char *const *paths, size_t count,
	unsigned threads, struct kwhy_error *error)
{
	struct reading reading = {.heads = heads, .lock = PTHREAD_MUTEX_INITIALIZER};
	pthread_t others[KWHY_JOB_THREADS_MAX];
	unsigned started = 0;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < count; i++)
		status = kwhy_folder_is(paths[i]) ? add_folder(heads, paths[i], error)
						  : add_path(heads, paths[i], error);
	if (status)
		return status;
	sqlite3_initialize(); /* SQLite has to be initialised before several threads use it. */
	while (started + 1 < threads && started < KWHY_JOB_THREADS_MAX &&
		pthread_create(&others[started], NULL, read_heads, &reading) == 0)
		started++;
	read_heads(&reading);
	while (started)
		pthread_join(others[--started], NULL);
	return KWHY_OK;
}

void kwhy_heads_done(struct kwhy_heads *heads)
{
	kwhy_arena_done(&heads->arena);
	*heads = (struct kwhy_heads){0};
}

static int compare_heads(const void *a, const void *b)
{
	const struct kwhy_head *left = a, *right = b;

	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	if (left->is_unused != right->is_unused)
		return left->is_unused ? 1 : -1;
	if (left->activities != right->activities)
		return left->activities > right->activities ? -1 : 1;
	return strcmp(left->path, right->path);
}

/*
 * Values that most of the given digests have. A digest of the same job has equal or similar values; one that
 * differs is taken to be of another job (judge()).
 */
struct most {
	uint32_t world_size; /* the most frequent world size; KWHY_NONE: no digest states one */
	bool is_unix_clock;
	int64_t start_ns, end_ns; /* medians over the digests, Unix times */
};

static enum kwhy_status find_most(const struct kwhy_heads *heads, struct most *out, struct kwhy_error *error)
{
	int64_t *values = malloc((heads->count + 1) * sizeof(*values));
	size_t sizes = 0, unix_clocks = 0, longest = 0;

	if (!values)
		return kwhy_fail_memory(error, "digests");
	*out = (struct most){.world_size = KWHY_NONE};
	for (size_t i = 0; i < heads->count; i++) {
		unix_clocks += heads->items[i].is_unix_clock;
		if (heads->items[i].world_size != KWHY_NONE)
			values[sizes++] = heads->items[i].world_size;
	}
	kwhy_sort_integers(values, sizes);
	for (size_t i = 0, run = 0; i < sizes; i++) {
		run = i && values[i] == values[i - 1] ? run + 1 : 1;
		if (run > longest) {
			longest = run;
			out->world_size = (uint32_t)values[i];
		}
	}
	out->is_unix_clock = 2 * unix_clocks > heads->count;
	for (size_t i = 0; i < heads->count; i++)
		values[i] = heads->items[i].start_ns;
	out->start_ns = heads->count ? kwhy_middle_integer(values, heads->count) : 0;
	for (size_t i = 0; i < heads->count; i++)
		values[i] = heads->items[i].end_ns;
	out->end_ns = heads->count ? kwhy_middle_integer(values, heads->count) : 0;
	free(values);
	return KWHY_OK;
}

/* Adds a problem if a digest belongs to another job. *foreign: whether it does. */
static enum kwhy_status judge(const struct kwhy_head *head, const struct most *most, struct kwhy_job *job,
	bool *foreign, struct kwhy_error *error)
{
	*foreign = true;
	if (head->world_size != KWHY_NONE && head->world_size != most->world_size)
		return kwhy_job_add_problem(job, KWHY_JOB_FOREIGN, head->rank, head->path, error,
			"it states %u ranks, most digests %u", head->world_size, most->world_size);
	if (head->is_unix_clock != most->is_unix_clock)
		return kwhy_job_add_problem(job, KWHY_JOB_FOREIGN, head->rank, head->path, error,
			"its times are%s Unix times, unlike those of most digests",
			head->is_unix_clock ? "" : " no");
	if (most->is_unix_clock &&
		(head->start_ns > most->end_ns + KWHY_ONE_RUN_SLACK_NS ||
			head->end_ns < most->start_ns - KWHY_ONE_RUN_SLACK_NS))
		return kwhy_job_add_problem(job, KWHY_JOB_FOREIGN, head->rank, head->path, error,
			"it was recorded %.0f s %s most digests",
			(double)(head->start_ns > most->end_ns ? head->start_ns - most->end_ns
							       : most->start_ns - head->end_ns) *
				1e-9,
			head->start_ns > most->end_ns ? "after" : "before");
	*foreign = false;
	return KWHY_OK;
}

/*
 * Adds a problem if an earlier digest has the same content, or if an earlier digest has the same rank and
 * devices and at least as many activities. *twice: whether it does.
 */
static enum kwhy_status judge_twice(const struct kwhy_head *head, const struct kwhy_heads *kept,
	struct kwhy_map *identities, struct kwhy_job *job, bool *twice, struct kwhy_error *error)
{
	struct kwhy_map_slot *slot;
	enum kwhy_status status = kwhy_map_add_bytes(
		identities, head->identity, strlen(head->identity), (uint32_t)kept->count, &slot, error);

	*twice = true;
	if (status)
		return status;
	if (slot->value != kept->count)
		return kwhy_job_add_problem(job, KWHY_JOB_TWICE, head->rank, head->path, error,
			"it has the content of %.300s, which counts", kept->items[slot->value].path);
	for (size_t i = kept->count;
		head->rank != KWHY_NONE && i > 0 && kept->items[i - 1].rank == head->rank; i--)
		if (kept->items[i - 1].devices == head->devices)
			return kwhy_job_add_problem(job, KWHY_JOB_TWICE, head->rank, head->path, error,
				"it is of the rank and device of %.300s, which has more activities and "
				"counts",
				kept->items[i - 1].path);
	*twice = false;
	return KWHY_OK;
}

/*
 * Adds the UUIDs of a digest's devices to `devices`. *out_known: the digest is of an unused device, and
 * `devices` has this device already. The digest is then left out: if each rank is recorded by itself, the
 * ranks of a host all read the meters of all its devices.
 */
static enum kwhy_status keep_devices(
	const struct kwhy_head *head, struct kwhy_map *devices, bool *out_known, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	struct kwhy_map_slot *slot;

	*out_known = head->is_unused && kwhy_map_find(devices, head->each[0].uuid);
	for (size_t i = 0; !status && !*out_known && i < head->device_count; i++)
		if (head->each[i].uuid)
			status = kwhy_map_add(devices, head->each[i].uuid, 0, &slot, error);
	return status;
}

/* Removes the heads of unreadable files and adds a problem for each. */
static enum kwhy_status drop_unreadable(
	struct kwhy_heads *heads, struct kwhy_job *job, struct kwhy_error *error)
{
	struct kwhy_head *items = heads->items;
	size_t count = 0;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < heads->count; i++) {
		if (items[i].is_readable)
			items[count++] = items[i];
		else
			status = kwhy_job_add_problem(job, KWHY_JOB_UNREADABLE, KWHY_NONE, items[i].path,
				error, "%s", items[i].why ? items[i].why : "out of memory");
	}
	heads->count = count;
	return status;
}

enum kwhy_status kwhy_heads_choose(struct kwhy_heads *heads, struct kwhy_job *job, struct kwhy_error *error)
{
	struct kwhy_heads kept = {.items = heads->items};
	struct kwhy_map identities = {0}, devices = {0};
	struct most most;
	size_t files = heads->count;
	enum kwhy_status status = drop_unreadable(heads, job, error);

	job->files = files;
	if (heads->count)
		qsort(heads->items, heads->count, sizeof(*heads->items), compare_heads);
	if (!status)
		status = find_most(heads, &most, error);
	for (size_t i = 0; !status && i < heads->count; i++) {
		bool is_left_out;

		status = judge(&heads->items[i], &most, job, &is_left_out, error);
		if (!status && !is_left_out)
			status = judge_twice(&heads->items[i], &kept, &identities, job, &is_left_out, error);
		if (!status && !is_left_out)
			status = keep_devices(&heads->items[i], &devices, &is_left_out, error);
		if (!status && !is_left_out)
			kept.items[kept.count++] = heads->items[i];
	}
	kwhy_map_done(&identities);
	kwhy_map_done(&devices);
	heads->count = kept.count;
	if (status)
		return status;
	job->world_size = most.world_size;
	job->origin_unix_ns = kept.count && most.is_unix_clock ? kept.items[0].origin_unix_ns : 0;
	return KWHY_OK;
}
