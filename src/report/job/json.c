/* SPDX-License-Identifier: Apache-2.0 */
#include "report/job.h"
#include "report/job/map.h"
#include "report/json/writer.h"
#include "report/page/page.h"

#include <math.h>
#include <stdlib.h>

/*
 * Largest number of elements in each array of the JSON: ACCOUNTS_MAX for accounts, ROWS_MAX for the others.
 * Counts and sums beside an array include what it leaves out.
 */
enum { ROWS_MAX = 100, ACCOUNTS_MAX = 200 };

struct parts {
	const struct kwhy_job *job;
	struct kwhy_json json;
	struct kwhy_error *error;
};

static void write_rank(struct kwhy_json *json, const struct kwhy_job *job, size_t index)
{
	const struct kwhy_job_rank *rank = &job->ranks[index];

	kwhy_json_index(json, "rank", rank->rank);
	kwhy_json_int(json, "device", rank->number);
	kwhy_json_string(json, "host", job->hosts[rank->host].name);
}

static enum kwhy_status write_run(struct parts *parts)
{
	const struct kwhy_job *job = parts->job;
	struct kwhy_json *json = &parts->json;

	kwhy_json_string(json, "schema", "kwhy.job/1");
	kwhy_json_count(json, "files", job->files);
	kwhy_json_count(json, "digests", job->digests);
	kwhy_json_count(json, "ranks", job->rank_count - job->unused_ranks);
	kwhy_json_count(json, "unused_devices", job->unused_ranks);
	kwhy_json_count(json, "merged_ranks", job->merged_ranks);
	kwhy_json_count(json, "running", job->running);
	kwhy_json_count(json, "hosts", job->host_count);
	kwhy_json_index(json, "world_size", job->world_size);
	kwhy_json_row(json, "sums");
	kwhy_json_int(json, "span_ns", job->span_ns);
	kwhy_json_int(json, "busy_ns", job->busy_ns);
	kwhy_json_int(json, "longest_ns", job->longest_ns);
	kwhy_json_known(json, "measured_nj", job->measured_nj);
	kwhy_json_known(json, "run_nj", job->run_nj);
	kwhy_json_known(json, "run_unmetered_nj", job->run_unmetered_nj);
	kwhy_json_known(json, "hosts_nj", job->hosts_nj);
	kwhy_json_count(json, "digests_with_hostless_meters", job->hostless);
	kwhy_json_count(json, "ranks_with_energy", job->metered_ranks);
	kwhy_json_count(json, "ranks_with_modelled_energy", job->modelled_ranks);
	kwhy_json_count(json, "ranks_with_shared_devices", job->shared_ranks);
	kwhy_json_int(json, "steps", job->steps);
	kwhy_json_object_end(json);
	return KWHY_OK;
}

static void write_spread(struct parts *parts, const struct kwhy_job_spread *spread)
{
	struct kwhy_json *json = &parts->json;

	kwhy_json_count(json, "ranks", spread->count);
	kwhy_json_real(json, "least", spread->least);
	kwhy_json_real(json, "p10", spread->low);
	kwhy_json_real(json, "median", spread->median);
	kwhy_json_real(json, "p90", spread->high);
	kwhy_json_real(json, "most", spread->most);
	if (spread->count)
		kwhy_json_index(json, "most_rank", parts->job->ranks[spread->most_rank].rank);
	else
		kwhy_json_null(json, "most_rank");
}

static enum kwhy_status write_categories(struct parts *parts)
{
	const struct kwhy_job *job = parts->job;
	enum kwhy_status status = KWHY_OK;

	kwhy_json_array(&parts->json, "categories");
	for (uint32_t c = 0; !status && c < KWHY_CATEGORY_COUNT; c++) {
		struct kwhy_job_spread spread;

		if (job->category_ns[c] == INT64_MIN && job->category_nj[c] == INT64_MIN)
			continue;
		status = kwhy_job_spread_of(job, kwhy_job_category_ratio, &c, &spread, parts->error);
		kwhy_json_row(&parts->json, NULL);
		kwhy_json_string(&parts->json, "category", kwhy_category_name((enum kwhy_category)c));
		kwhy_json_known(&parts->json, "span_ns", job->category_ns[c]);
		kwhy_json_known(&parts->json, "gross_nj", job->category_nj[c]);
		kwhy_json_row(&parts->json, "ratio");
		write_spread(parts, &spread);
		kwhy_json_object_end(&parts->json);
		kwhy_json_object_end(&parts->json);
	}
	kwhy_json_array_end(&parts->json);
	return status;
}

static enum kwhy_status write_distributions(struct parts *parts)
{
	enum kwhy_status status = KWHY_OK;

	kwhy_json_array(&parts->json, "distributions");
	for (size_t i = 0; !status && i < kwhy_job_measure_count; i++) {
		struct kwhy_job_spread spread;

		status = kwhy_job_spread_of(
			parts->job, kwhy_job_measures[i].value, NULL, &spread, parts->error);
		kwhy_json_row(&parts->json, NULL);
		kwhy_json_string(&parts->json, "of", kwhy_job_measures[i].name);
		kwhy_json_string(&parts->json, "unit", kwhy_job_measures[i].unit);
		write_spread(parts, &spread);
		kwhy_json_object_end(&parts->json);
	}
	kwhy_json_array_end(&parts->json);
	return status;
}

static enum kwhy_status write_accounts(struct parts *parts)
{
	const struct kwhy_job *job = parts->job;
	struct kwhy_json *json = &parts->json;

	kwhy_json_count(json, "account_count", job->account_count);
	kwhy_json_array(json, "accounts");
	for (size_t i = 0; i < job->account_count && i < ACCOUNTS_MAX; i++) {
		const struct kwhy_job_account *row = &job->accounts[i];

		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "category", kwhy_category_name((enum kwhy_category)row->category));
		kwhy_json_string(json, "name", row->name);
		kwhy_json_count(json, "ranks", row->ranks);
		kwhy_json_int(json, "accounts", row->accounts);
		kwhy_json_int(json, "count", row->count);
		kwhy_json_int(json, "time_ns", row->time_ns);
		kwhy_json_known(json, "gross_nj", row->gross_nj);
		kwhy_json_known(json, "idle_nj", row->idle_nj);
		kwhy_json_known(json, "net_nj", row->net_nj);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
	return KWHY_OK;
}

static enum kwhy_status write_collective_sums(struct parts *parts)
{
	const struct kwhy_job *job = parts->job;
	struct kwhy_json *json = &parts->json;

	kwhy_json_row(json, "collective_sums");
	kwhy_json_count(json, "of_ranks", job->seen);
	kwhy_json_count(json, "in_digests", job->kept);
	kwhy_json_count(json, "apart", job->apart);
	kwhy_json_count(json, "compared", job->compared);
	kwhy_json_known(json, "skew_ns", job->compared ? job->skew_ns : KWHY_UNKNOWN_NS);
	kwhy_json_known(json, "transfer_ns", job->compared ? job->transfer_ns : KWHY_UNKNOWN_NS);
	kwhy_json_known(json, "waiting_ns", job->compared ? job->waiting_ns : KWHY_UNKNOWN_NS);
	kwhy_json_known(json, "waiting_nj", job->waiting_nj);
	kwhy_json_count(json, "alone", job->alone);
	kwhy_json_count(json, "mismatched", job->mismatched);
	kwhy_json_known(json, "all_waiting_ns", job->compared ? job->all_waiting_ns : KWHY_UNKNOWN_NS);
	kwhy_json_known(json, "all_waiting_nj", job->all_waiting_nj);
	kwhy_json_real(json, "all_waiting_error_ns", job->compared ? job->all_waiting_error_ns : NAN);
	kwhy_json_real(json, "clock_error_ns", job->clock_error_ns);
	kwhy_json_object_end(json);
	return KWHY_OK;
}

static void write_collective(struct parts *parts, const struct kwhy_job_collective *row)
{
	const struct kwhy_job *job = parts->job;
	struct kwhy_json *json = &parts->json;

	kwhy_json_row(json, NULL);
	kwhy_json_string(json, "communicator", job->communicators[row->communicator].name);
	kwhy_json_int(json, "sequence", row->sequence);
	kwhy_json_string(json, "operation", job->operations[row->operation].name);
	kwhy_json_index(json, "ranks", row->ranks);
	kwhy_json_int(json, "start_ns", row->first_enter_ns);
	kwhy_json_int(json, "skew_ns", kwhy_job_skew_ns(row));
	kwhy_json_int(json, "transfer_ns", kwhy_job_transfer_ns(row));
	kwhy_json_int(json, "waiting_ns", row->waiting_ns);
	kwhy_json_known(json, "waiting_nj", row->waiting_nj);
	kwhy_json_index(json, "late_rank", job->ranks[row->late].rank);
	kwhy_json_object_end(json);
}

static enum kwhy_status write_collectives(struct parts *parts)
{
	size_t count;
	uint32_t *order = kwhy_job_collectives_by_waiting(parts->job, &count);

	if (!order)
		return kwhy_fail_memory(parts->error, "collectives");
	kwhy_json_array(&parts->json, "collectives");
	for (size_t i = 0; i < count && i < ROWS_MAX; i++)
		write_collective(parts, &parts->job->collectives[order[i]]);
	kwhy_json_array_end(&parts->json);
	free(order);
	return KWHY_OK;
}

static enum kwhy_status write_late(struct parts *parts)
{
	const struct kwhy_job *job = parts->job;
	struct kwhy_json *json = &parts->json;
	uint32_t *order = kwhy_job_ranks_by_caused(job);

	if (!order)
		return kwhy_fail_memory(parts->error, "ranks");
	kwhy_json_array(json, "late_ranks");
	for (size_t i = 0; i < job->rank_count && i < ROWS_MAX && job->ranks[order[i]].late; i++) {
		const struct kwhy_job_rank *rank = &job->ranks[order[i]];

		kwhy_json_row(json, NULL);
		write_rank(json, job, order[i]);
		kwhy_json_bool(json, "straggler", rank->is_straggler);
		kwhy_json_count(json, "late", rank->late);
		kwhy_json_count(json, "compared", rank->compared);
		kwhy_json_int(json, "caused_ns", rank->caused_ns);
		kwhy_json_known(json, "caused_nj", rank->caused_nj);
		kwhy_json_known(json, "compute_ns", rank->compute_ns);
		kwhy_json_known(json, "sm_clock_hz", rank->sm_clock_hz);
		kwhy_json_real(json, "clock_offset_ns", rank->offset_ns);
		kwhy_json_real(json, "clock_drift_ppm", rank->drift * 1e6);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
	free(order);
	return KWHY_OK;
}

static enum kwhy_status write_slow_links(struct parts *parts)
{
	const struct kwhy_job *job = parts->job;
	struct kwhy_json *json = &parts->json;

	kwhy_json_array(json, "slow_links");
	for (size_t i = 0; i < job->slow_link_count && i < ROWS_MAX; i++) {
		const struct kwhy_job_slow_link *row = &job->slow_links[i];
		const struct kwhy_job_communicator *communicator = &job->communicators[row->communicator];

		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "communicator", communicator->name);
		kwhy_json_string(json, "ranks", communicator->ranks);
		kwhy_json_index(json, "size", communicator->size);
		kwhy_json_string(json, "operation", job->operations[row->operation].name);
		kwhy_json_count(json, "collectives", row->collectives);
		kwhy_json_real(json, "median_ns", row->median_ns);
		kwhy_json_real(json, "others_ns", row->others_ns);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
	return KWHY_OK;
}

static enum kwhy_status write_hosts(struct parts *parts)
{
	const struct kwhy_job *job = parts->job;
	struct kwhy_json *json = &parts->json;

	kwhy_json_array(json, "throttled_hosts");
	for (size_t i = 0; i < job->host_count; i++) {
		const struct kwhy_job_host *host = &job->hosts[i];

		if (!host->is_throttled)
			continue;
		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "host", host->name);
		kwhy_json_count(json, "ranks", host->ranks);
		kwhy_json_known(json, "sm_clock_hz", host->sm_clock_hz);
		kwhy_json_string(json, "reason", host->throttle);
		kwhy_json_real(json, "ratio", host->throttled_ratio);
		kwhy_json_int(json, "caused_ns", host->caused_ns);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
	return KWHY_OK;
}

static enum kwhy_status write_findings(struct parts *parts)
{
	const struct kwhy_job *job = parts->job;
	struct kwhy_json *json = &parts->json;

	kwhy_json_array(json, "findings");
	for (size_t i = 0; i < job->finding_count; i++) {
		const struct kwhy_job_finding *row = &job->findings[i];

		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "id", row->id);
		kwhy_json_count(json, "ranks", row->ranks);
		kwhy_json_int(json, "count", row->count);
		kwhy_json_int(json, "time_ns", row->time_ns);
		kwhy_json_known(json, "energy_nj", row->energy_nj);
		kwhy_json_known(json, "saved_ns", row->saved_ns);
		kwhy_json_known(json, "saved_nj", row->saved_nj);
		kwhy_json_index(json, "worst_rank", job->ranks[row->worst].rank);
		kwhy_json_string(json, "worst", row->title);
		kwhy_json_string(json, "place", row->place);
		kwhy_json_string(json, "cure", row->cure);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
	return KWHY_OK;
}

static enum kwhy_status write_problems(struct parts *parts)
{
	const struct kwhy_job *job = parts->job;
	struct kwhy_json *json = &parts->json;

	kwhy_json_count(json, "problem_count", job->problem_count);
	kwhy_json_array(json, "problems");
	for (size_t i = 0; i < job->problem_count && i < ROWS_MAX; i++) {
		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "kind", kwhy_job_problem_name(job->problems[i].kind));
		kwhy_json_index(json, "rank", job->problems[i].rank);
		kwhy_json_string(json, "path", job->problems[i].path);
		kwhy_json_string(json, "text", job->problems[i].text);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
	return KWHY_OK;
}

static enum kwhy_status write_all(
	const struct kwhy_job *job, bool has_map, struct kwhy_text *out, struct kwhy_error *error)
{
	static enum kwhy_status (*const all[])(struct parts * parts) = {write_run, write_categories,
		write_distributions, write_collective_sums, write_late, write_collectives, write_slow_links,
		write_hosts, write_findings, write_accounts, write_problems};
	struct parts parts = {.job = job, .error = error};
	enum kwhy_status status = KWHY_OK;

	kwhy_json_init(&parts.json, out);
	kwhy_json_object(&parts.json, NULL);
	for (size_t i = 0; !status && i < sizeof(all) / sizeof(all[0]); i++)
		status = all[i](&parts);
	if (!status && has_map)
		status = kwhy_job_map(job, &parts.json, error);
	kwhy_json_object_end(&parts.json);
	return status ? status : kwhy_text_check(out, error);
}

enum kwhy_status kwhy_job_json(const struct kwhy_job *job, struct kwhy_text *out, struct kwhy_error *error)
{
	return write_all(job, false, out, error);
}

enum kwhy_status kwhy_job_page(const struct kwhy_job *job, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_text json = {0};
	enum kwhy_status status = write_all(job, true, &json, error);

	if (!status)
		status = kwhy_report_block_page("kwhy-job", json.data, out, error);
	kwhy_text_done(&json);
	return status;
}
