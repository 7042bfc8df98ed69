/* SPDX-License-Identifier: Apache-2.0 */
#include "base/column.h"
#include "base/text.h"
#include "digest/joining.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* Adds the rows of a digest to a job. */

static const char *keep(struct kwhy_job *job, const char *text)
{
	return text ? kwhy_arena_copy(&job->arena, text) : NULL;
}

static uint32_t category_of(const char *name)
{
	for (uint32_t c = 0; name && c < KWHY_CATEGORY_COUNT; c++)
		if (strcmp(kwhy_category_name((enum kwhy_category)c), name) == 0)
			return c;
	return KWHY_CATEGORY_COUNT;
}

/* Joins three texts, each of which may be NULL, to a key. */
static enum kwhy_status make_key(const char *const texts[3], struct kwhy_text *out, struct kwhy_error *error)
{
	for (size_t i = 0; i < 3; i++) {
		kwhy_text_add(out, texts[i] ? texts[i] : "\001");
		kwhy_text_add_bytes(out, "", 1);
	}
	return kwhy_text_check(out, error);
}

/*
 * Finds the number of a key of three texts in `map`. A new key gets the number `next`; *out_new: whether the
 * key is new.
 */
static enum kwhy_status number_texts(struct kwhy_map *map, const char *const texts[3], size_t next,
	uint32_t *out, bool *out_new, struct kwhy_error *error)
{
	struct kwhy_text key = {0};
	struct kwhy_map_slot *slot;
	enum kwhy_status status = make_key(texts, &key, error);

	if (!status)
		status = kwhy_map_add_bytes(map, key.data, key.length, (uint32_t)next, &slot, error);
	kwhy_text_done(&key);
	if (status)
		return status;
	*out = slot->value;
	*out_new = slot->value == next;
	return KWHY_OK;
}

enum kwhy_status kwhy_job_add_problem(struct kwhy_job *job, enum kwhy_job_problem_kind kind, uint32_t rank,
	const char *path, struct kwhy_error *error, const char *format, ...)
{
	struct kwhy_job_problem *problems = kwhy_arena_grow(
		&job->arena, job->problems, job->problem_count, sizeof(*job->problems));
	struct kwhy_job_problem problem = {kind, rank, keep(job, path), NULL};
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	problem.text = keep(job, text);
	if (!problems || !problem.text || (path && !problem.path))
		return kwhy_fail_memory(error, "a list of problems");
	job->problems = problems;
	problems[job->problem_count++] = problem;
	return KWHY_OK;
}

static enum kwhy_status find_host(
	struct kwhy_job *job, const char *name, uint32_t *out, struct kwhy_error *error)
{
	bool is_new;
	enum kwhy_status status = number_texts(&job->host_names, (const char *const[3]){name, NULL, NULL},
		job->host_count, out, &is_new, error);
	struct kwhy_job_host host = {.sm_clock_hz = INT64_MIN, .throttled_ratio = NAN};

	if (status || !is_new)
		return status;
	status = kwhy_column_reserve((void **)&job->hosts, &job->host_capacity, job->host_count + 1,
		sizeof(*job->hosts), "hosts", error);
	if (status)
		return status;
	host.name = keep(job, name);
	job->hosts[job->host_count++] = host;
	return name && !host.name ? kwhy_fail_memory(error, "hosts") : KWHY_OK;
}

static void take_gauges(struct kwhy_job_rank *rank, const struct kwhy_digest *digest, uint32_t device)
{
	for (size_t i = 0; i < digest->gauge_count; i++)
		if (digest->gauge[i].device == device && digest->gauge[i].gauge &&
			strcmp(digest->gauge[i].gauge, kwhy_gauge_name(KWHY_GAUGE_SM_CLOCK)) == 0)
			rank->sm_clock_hz = digest->gauge[i].median;
	for (size_t i = 0; i < digest->throttle_count; i++) {
		const struct kwhy_digest_throttle *row = &digest->throttle[i];
		bool costs = false;

		/*
		 * The first two reasons, an idle device and clocks that the user set, are not counted: they
		 * cost no speed that was expected.
		 */
		for (unsigned bit = 2; row->reason && bit < KWHY_THROTTLE_COUNT; bit++)
			costs = costs || strcmp(row->reason, kwhy_throttle_name(bit)) == 0;
		if (row->device == device && costs && !(row->ratio <= rank->throttled_ratio)) {
			rank->throttled_ratio = row->ratio;
			rank->throttle = row->reason;
		}
	}
}

static void take_categories(
	struct kwhy_job *job, struct kwhy_job_rank *rank, const struct kwhy_digest *digest, uint32_t device)
{
	for (size_t i = 0; i < digest->category_count; i++) {
		const struct kwhy_digest_category *row = &digest->category[i];
		const uint32_t category = category_of(row->category);

		if (row->device != device || category == KWHY_CATEGORY_COUNT)
			continue;
		kwhy_job_sum(&rank->category_ns[category], row->span_ns);
		kwhy_job_sum(&rank->category_nj[category], row->gross_nj);
		kwhy_job_sum(&job->category_ns[category], row->span_ns);
		kwhy_job_sum(&job->category_nj[category], row->gross_nj);
		if (category == KWHY_CATEGORY_COLLECTIVE && row->time_ns > 0 && row->gross_nj != INT64_MIN)
			rank->collective_w = (double)row->gross_nj / (double)row->time_ns;
	}
}

static struct kwhy_job_rank new_rank(void)
{
	struct kwhy_job_rank rank = {.energy_ratio = 1,
		.waiting_nj = INT64_MIN,
		.caused_nj = INT64_MIN,
		.collective_w = NAN,
		.clock_error_ns = NAN,
		.sm_clock_hz = INT64_MIN,
		.throttled_ratio = NAN};

	for (int c = 0; c < KWHY_CATEGORY_COUNT; c++)
		rank.category_ns[c] = rank.category_nj[c] = INT64_MIN;
	return rank;
}

static void sum_rank(struct kwhy_job *job, const struct kwhy_job_rank *rank)
{
	struct kwhy_job_host *host = &job->hosts[rank->host];

	host->ranks++;
	kwhy_job_sum(&job->span_ns, rank->span_ns);
	kwhy_job_sum(&job->busy_ns, rank->busy_ns);
	if (rank->span_ns > job->longest_ns)
		job->longest_ns = rank->span_ns;
	kwhy_job_sum(&job->run_nj, rank->run_nj);
	kwhy_job_sum(&job->run_unmetered_nj, rank->run_unmetered_nj);
	kwhy_job_sum(&job->measured_nj, rank->measured_nj);
	job->metered_ranks += rank->measured_nj != INT64_MIN;
	job->modelled_ranks += rank->is_modelled;
	job->unused_ranks += rank->is_unused;
}

static enum kwhy_status add_rank(struct kwhy_job *job, const char *path, const struct kwhy_digest *digest,
	uint32_t device, struct kwhy_error *error)
{
	const struct kwhy_digest_device *row = &digest->device[device];
	struct kwhy_job_rank *rank;
	enum kwhy_status status = kwhy_column_reserve((void **)&job->ranks, &job->rank_capacity,
		job->rank_count + 1, sizeof(*job->ranks), "ranks", error);

	if (status)
		return status;
	rank = &job->ranks[job->rank_count];
	*rank = new_rank();
	status = find_host(job, digest->digest->host, &rank->host, error);
	if (status)
		return status;
	rank->rank = digest->digest->rank;
	rank->number = row->number;
	rank->path = path;
	rank->span_ns = row->span_ns;
	rank->busy_ns = row->busy_ns;
	rank->compute_ns = row->compute_ns;
	rank->exposed_ns = row->collective_exposed_ns;
	rank->measured_nj = row->measured_nj != INT64_MIN ? row->measured_nj : row->attributed_nj;
	rank->run_nj = row->run_nj;
	rank->run_unmetered_nj = row->run_unmetered_nj;
	rank->is_modelled = row->is_modelled == 1;
	rank->is_unused = kwhy_digest_is_unused(digest);
	take_gauges(rank, digest, device);
	take_categories(job, rank, digest, device);
	rank->device = keep(job, row->name);
	rank->uuid = keep(job, row->uuid);
	rank->throttle = keep(job, rank->throttle);
	job->rank_count++;
	sum_rank(job, rank);
	return KWHY_OK;
}

/* Whether the job has a row for this account. False also if memory is exhausted. */
static bool has_account(const struct kwhy_job *job, const struct kwhy_digest_account *row)
{
	struct kwhy_text key = {0};
	struct kwhy_error error;
	bool found = make_key((const char *const[3]){row->category, row->name, NULL}, &key, &error) ==
			KWHY_OK &&
		kwhy_map_find_bytes(&job->account_keys, key.data, key.length);

	kwhy_text_done(&key);
	return found;
}

static enum kwhy_status add_account(
	struct kwhy_job *job, const struct kwhy_digest_account *row, struct kwhy_error *error)
{
	const uint32_t category = category_of(row->category);
	const char *name = row->name;
	struct kwhy_job_account *account;
	uint32_t number;
	bool is_new;
	enum kwhy_status status;

	if (category == KWHY_CATEGORY_COUNT)
		return KWHY_OK;
	if (name && job->account_count >= KWHY_JOB_ACCOUNTS_MAX && !has_account(job, row))
		name = NULL;
	status = number_texts(&job->account_keys, (const char *const[3]){row->category, name, NULL},
		job->account_count, &number, &is_new, error);
	if (status)
		return status;
	if (is_new) {
		void *grown = kwhy_arena_grow(
			&job->arena, job->accounts, job->account_count, sizeof(*job->accounts));

		if (!grown)
			return kwhy_fail_memory(error, "accounts");
		job->accounts = grown;
		job->accounts[job->account_count++] = (struct kwhy_job_account){.category = category,
			.name = keep(job, name),
			.gross_nj = INT64_MIN,
			.idle_nj = INT64_MIN,
			.net_nj = INT64_MIN};
	}
	account = &job->accounts[number];
	account->ranks++;
	kwhy_job_sum(&account->accounts, row->accounts);
	kwhy_job_sum(&account->count, row->count);
	kwhy_job_sum(&account->bytes, row->bytes);
	kwhy_job_sum(&account->time_ns, row->time_ns);
	kwhy_job_sum(&account->gross_nj, row->gross_nj);
	kwhy_job_sum(&account->idle_nj, row->idle_nj);
	kwhy_job_sum(&account->net_nj, row->net_nj);
	return KWHY_OK;
}

static enum kwhy_status add_finding(struct kwhy_job *job, const struct kwhy_digest_finding *row,
	size_t first_rank, struct kwhy_error *error)
{
	struct kwhy_job_finding *finding;
	uint32_t number;
	bool is_new;
	enum kwhy_status status = number_texts(&job->finding_ids, (const char *const[3]){row->id, NULL, NULL},
		job->finding_count, &number, &is_new, error);

	if (status)
		return status;
	if (is_new) {
		void *grown = kwhy_arena_grow(
			&job->arena, job->findings, job->finding_count, sizeof(*job->findings));

		if (!grown)
			return kwhy_fail_memory(error, "findings");
		job->findings = grown;
		job->findings[job->finding_count++] = (struct kwhy_job_finding){.id = keep(job, row->id),
			.cure = keep(job, row->cure),
			.energy_nj = INT64_MIN,
			.saved_nj = INT64_MIN,
			.saved_ns = INT64_MIN,
			.worst_ns = INT64_MIN};
	}
	finding = &job->findings[number];
	finding->ranks++;
	kwhy_job_sum(&finding->count, row->count);
	kwhy_job_sum(&finding->time_ns, row->time_ns);
	kwhy_job_sum(&finding->energy_nj, row->energy_nj);
	kwhy_job_sum(&finding->saved_ns, row->saved_ns);
	kwhy_job_sum(&finding->saved_nj, row->saved_nj);
	if (row->time_ns > finding->worst_ns) {
		finding->worst_ns = row->time_ns;
		finding->worst = first_rank + (row->device == KWHY_NONE ? 0 : row->device);
		finding->title = keep(job, row->title);
		finding->place = keep(job, row->place);
	}
	return KWHY_OK;
}

/*
 * Adds the energy of a host's meter. If the digests of several ranks of a host have the same meter, only the
 * first of them counts. The same meter cannot be recognised if a digest states neither host nor boot; its
 * meters are then always added.
 */
static enum kwhy_status add_meter(struct kwhy_job *job, const char *path, const struct kwhy_digest_meter *row,
	bool *out_hostless, struct kwhy_error *error)
{
	const bool is_hostless = !row->host && !row->boot;
	uint32_t number;
	bool is_new;
	enum kwhy_status status;

	if (row->device != KWHY_NONE || row->energy_nj == INT64_MIN)
		return KWHY_OK;
	status = number_texts(&job->meter_keys,
		(const char *const[3]){is_hostless ? path : row->host, row->boot, row->source},
		job->meter_keys.count, &number, &is_new, error);
	if (status || !is_new)
		return status;
	*out_hostless = *out_hostless || is_hostless;
	kwhy_job_sum(&job->hosts_nj, row->energy_nj);
	return KWHY_OK;
}

bool kwhy_job_is_running(const struct kwhy_digest *digest)
{
	for (size_t i = 0; i < digest->lost_count; i++)
		if (digest->lost[i].what && strcmp(digest->lost[i].what, "running") == 0)
			return true;
	return false;
}

static enum kwhy_status name_cut(
	struct kwhy_job *job, const char *path, const struct kwhy_digest *digest, struct kwhy_error *error)
{
	for (size_t i = 0; i < digest->lost_count; i++)
		if (digest->lost[i].what &&
			(!strcmp(digest->lost[i].what, "truncated") ||
				!strcmp(digest->lost[i].what, "holes") ||
				!strcmp(digest->lost[i].what, "dropped_records")))
			return kwhy_job_add_problem(job, KWHY_JOB_CUT, digest->digest->rank, path, error,
				"its trace is cut or has lost records (%s)", digest->lost[i].what);
	return KWHY_OK;
}

enum kwhy_status kwhy_job_add(
	struct kwhy_job *job, const char *path, const struct kwhy_digest *digest, struct kwhy_error *error)
{
	const size_t first_rank = job->rank_count;
	const char *kept = keep(job, path);
	bool is_hostless = false;
	enum kwhy_status status = kept ? KWHY_OK : kwhy_fail_memory(error, "a path");

	for (uint32_t d = 0; !status && d < digest->device_count; d++)
		status = add_rank(job, kept, digest, d, error);
	for (size_t i = 0; !status && i < digest->account_count; i++)
		status = add_account(job, &digest->account[i], error);
	for (size_t i = 0; !status && i < digest->finding_count; i++)
		if (digest->finding[i].id && digest->device_count)
			status = add_finding(job, &digest->finding[i], first_rank, error);
	for (size_t i = 0; !status && i < digest->meter_count; i++)
		status = add_meter(job, path, &digest->meter[i], &is_hostless, error);
	job->hostless += is_hostless;
	job->running += kwhy_job_is_running(digest);
	if (!status)
		status = name_cut(job, path, digest, error);
	if (digest->digest->steps > job->steps)
		job->steps = digest->digest->steps;
	job->digests++;
	return status ? status : kwhy_job_add_collectives(job, digest, first_rank, error);
}
