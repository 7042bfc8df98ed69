/* SPDX-License-Identifier: Apache-2.0 */
#include "report/columns.h"
#include "report/job.h"

#include <math.h>

#include <string.h>

/* Writes CSV files with the columns of docs/scale.md. */

struct rank_row {
	struct kwhy_job_rank rank;
	const char *host;
	double drift_ppm;
	int64_t clock_offset_ns; /* the rank's clock less the job's clock; KWHY_UNKNOWN_NS: not fitted */
};

#define RANK(member) KWHY_AT(struct rank_row, member)

static const struct kwhy_column rank_items[] = {
	{"rank", NULL, KWHY_UNIT_ONE, KWHY_IN_CSV, RANK(rank.rank)},
	{"device", NULL, KWHY_UNIT_ONE, KWHY_IN_CSV, RANK(rank.number)},
	{"host", NULL, KWHY_UNIT_WORDS, KWHY_IN_CSV, RANK(host)},
	{"uuid", NULL, KWHY_UNIT_WORDS, KWHY_IN_CSV, RANK(rank.uuid)},
	{"digest", NULL, KWHY_UNIT_WORDS, KWHY_IN_CSV, RANK(rank.path)},
	{"span_ns", NULL, KWHY_UNIT_NS, KWHY_IN_CSV, RANK(rank.span_ns)},
	{"busy_ns", NULL, KWHY_UNIT_NS, KWHY_IN_CSV, RANK(rank.busy_ns)},
	{"compute_ns", NULL, KWHY_UNIT_NS, KWHY_IN_CSV, RANK(rank.compute_ns)},
	{"collective_exposed_ns", NULL, KWHY_UNIT_NS, KWHY_IN_CSV, RANK(rank.exposed_ns)},
	{"measured_nj", NULL, KWHY_UNIT_NJ, KWHY_IN_CSV, RANK(rank.measured_nj)},
	{"energy_ratio", NULL, KWHY_UNIT_RATIO, KWHY_IN_CSV, RANK(rank.energy_ratio)},
	{"compared", NULL, KWHY_UNIT_ONE, KWHY_IN_CSV, RANK(rank.compared)},
	{"late", NULL, KWHY_UNIT_ONE, KWHY_IN_CSV, RANK(rank.late)},
	{"waiting_ns", NULL, KWHY_UNIT_NS, KWHY_IN_CSV, RANK(rank.waiting_ns)},
	{"waiting_nj", NULL, KWHY_UNIT_NJ, KWHY_IN_CSV, RANK(rank.waiting_nj)},
	{"caused_ns", NULL, KWHY_UNIT_NS, KWHY_IN_CSV, RANK(rank.caused_ns)},
	{"caused_nj", NULL, KWHY_UNIT_NJ, KWHY_IN_CSV, RANK(rank.caused_nj)},
	{"straggler", NULL, KWHY_UNIT_WORDS, KWHY_IN_CSV, RANK(rank.is_straggler)},
	{"clock_offset_ns", NULL, KWHY_UNIT_NS, KWHY_IN_CSV, RANK(clock_offset_ns)},
	{"clock_drift_ppm", NULL, KWHY_UNIT_ONE, KWHY_IN_CSV, RANK(drift_ppm)},
	{"clock_error_ns", NULL, KWHY_UNIT_NS, KWHY_IN_CSV, RANK(rank.clock_error_ns)},
	{"sm_clock_hz", NULL, KWHY_UNIT_HZ, KWHY_IN_CSV, RANK(rank.sm_clock_hz)},
	{"throttle", NULL, KWHY_UNIT_WORDS, KWHY_IN_CSV, RANK(rank.throttle)},
	{"throttled_ratio", NULL, KWHY_UNIT_RATIO, KWHY_IN_CSV, RANK(rank.throttled_ratio)},
};

static void write_ranks(const struct kwhy_job *job, struct kwhy_text *out)
{
	const struct kwhy_columns columns = {KWHY_COLUMNS(rank_items)};

	kwhy_columns_csv_head(&columns, out);
	for (size_t i = 0; i < job->rank_count; i++) {
		const struct kwhy_job_rank *rank = &job->ranks[i];
		const bool is_fitted = rank->clock_error_ns >= 0;
		struct rank_row row = {*rank, job->hosts[rank->host].name,
			is_fitted ? rank->drift * 1e6 : NAN,
			is_fitted ? (int64_t)rank->offset_ns : KWHY_UNKNOWN_NS};

		if (!rank->compared)
			row.rank.waiting_ns = row.rank.caused_ns = KWHY_UNKNOWN_NS;
		kwhy_columns_csv(&columns, out, &row);
	}
}

struct collective_row {
	struct kwhy_job_collective collective;
	const char *communicator, *operation, *type;
	int64_t elements, skew_ns, transfer_ns;
	uint32_t late;
};

#define ROW(member) KWHY_AT(struct collective_row, member)

static const struct kwhy_column collective_items[] = {
	{"communicator", NULL, KWHY_UNIT_WORDS, KWHY_IN_CSV, ROW(communicator)},
	{"sequence", NULL, KWHY_UNIT_ONE, KWHY_IN_CSV, ROW(collective.sequence)},
	{"part", NULL, KWHY_UNIT_ONE, KWHY_IN_CSV, ROW(collective.part)},
	{"operation", NULL, KWHY_UNIT_WORDS, KWHY_IN_CSV, ROW(operation)},
	{"type", NULL, KWHY_UNIT_WORDS, KWHY_IN_CSV, ROW(type)},
	{"elements", NULL, KWHY_UNIT_ONE, KWHY_IN_CSV, ROW(elements)},
	{"ranks", NULL, KWHY_UNIT_ONE, KWHY_IN_CSV, ROW(collective.ranks)},
	{"start_ns", NULL, KWHY_UNIT_NS, KWHY_IN_CSV, ROW(collective.first_enter_ns)},
	{"skew_ns", NULL, KWHY_UNIT_NS, KWHY_IN_CSV, ROW(skew_ns)},
	{"transfer_ns", NULL, KWHY_UNIT_NS, KWHY_IN_CSV, ROW(transfer_ns)},
	{"waiting_ns", NULL, KWHY_UNIT_NS, KWHY_IN_CSV, ROW(collective.waiting_ns)},
	{"waiting_nj", NULL, KWHY_UNIT_NJ, KWHY_IN_CSV, ROW(collective.waiting_nj)},
	{"late_rank", NULL, KWHY_UNIT_ONE, KWHY_IN_CSV, ROW(late)},
};

static void write_collectives(const struct kwhy_job *job, struct kwhy_text *out)
{
	const struct kwhy_columns columns = {KWHY_COLUMNS(collective_items)};

	kwhy_columns_csv_head(&columns, out);
	for (size_t i = 0; i < job->collective_count; i++) {
		const struct kwhy_job_collective *at = &job->collectives[i];
		const struct kwhy_job_operation *operation = &job->operations[at->operation];
		const struct collective_row row = {*at, job->communicators[at->communicator].name,
			operation->name, operation->type, operation->in_elements, kwhy_job_skew_ns(at),
			kwhy_job_transfer_ns(at), job->ranks[at->late].rank};

		if (kwhy_job_is_compared(job, at))
			kwhy_columns_csv(&columns, out, &row);
	}
}

#define ACCOUNT(member) KWHY_AT(struct kwhy_job_account, member)

static const char *category_name(unsigned value)
{
	return kwhy_category_name((enum kwhy_category)value);
}

static const struct kwhy_column account_items[] = {
	{"category", NULL, KWHY_UNIT_WORDS, KWHY_IN_CSV, ACCOUNT(category), .name = category_name},
	{"name", NULL, KWHY_UNIT_WORDS, KWHY_IN_CSV, ACCOUNT(name)},
	{"accounts", NULL, KWHY_UNIT_ONE, KWHY_IN_CSV, ACCOUNT(accounts)},
	{"count", NULL, KWHY_UNIT_ONE, KWHY_IN_CSV, ACCOUNT(count)},
	{"time_ns", NULL, KWHY_UNIT_NS, KWHY_IN_CSV, ACCOUNT(time_ns)},
	{"gross_nj", NULL, KWHY_UNIT_NJ, KWHY_IN_CSV, ACCOUNT(gross_nj)},
	{"idle_nj", NULL, KWHY_UNIT_NJ, KWHY_IN_CSV, ACCOUNT(idle_nj)},
	{"net_nj", NULL, KWHY_UNIT_NJ, KWHY_IN_CSV, ACCOUNT(net_nj)},
};

static void write_accounts(const struct kwhy_job *job, struct kwhy_text *out)
{
	const struct kwhy_columns columns = {KWHY_COLUMNS(account_items)};

	kwhy_columns_csv_head(&columns, out);
	for (size_t i = 0; i < job->account_count; i++)
		kwhy_columns_csv(&columns, out, &job->accounts[i]);
}

struct finding_row {
	struct kwhy_job_finding finding;
	uint64_t ranks;
	uint32_t worst;
};

#define FINDING(member) KWHY_AT(struct finding_row, member)

static const struct kwhy_column finding_items[] = {
	{"id", NULL, KWHY_UNIT_WORDS, KWHY_IN_CSV, FINDING(finding.id)},
	{"ranks", NULL, KWHY_UNIT_ONE, KWHY_IN_CSV, FINDING(ranks)},
	{"count", NULL, KWHY_UNIT_ONE, KWHY_IN_CSV, FINDING(finding.count)},
	{"time_ns", NULL, KWHY_UNIT_NS, KWHY_IN_CSV, FINDING(finding.time_ns)},
	{"energy_nj", NULL, KWHY_UNIT_NJ, KWHY_IN_CSV, FINDING(finding.energy_nj)},
	{"saved_ns", NULL, KWHY_UNIT_NS, KWHY_IN_CSV, FINDING(finding.saved_ns)},
	{"saved_nj", NULL, KWHY_UNIT_NJ, KWHY_IN_CSV, FINDING(finding.saved_nj)},
	{"worst_rank", NULL, KWHY_UNIT_ONE, KWHY_IN_CSV, FINDING(worst)},
	{"worst", NULL, KWHY_UNIT_WORDS, KWHY_IN_CSV, FINDING(finding.title)},
	{"place", NULL, KWHY_UNIT_WORDS, KWHY_IN_CSV, FINDING(finding.place)},
	{"cure", NULL, KWHY_UNIT_WORDS, KWHY_IN_CSV, FINDING(finding.cure)},
};

static void write_findings(const struct kwhy_job *job, struct kwhy_text *out)
{
	const struct kwhy_columns columns = {KWHY_COLUMNS(finding_items)};

	kwhy_columns_csv_head(&columns, out);
	for (size_t i = 0; i < job->finding_count; i++) {
		const struct finding_row row = {
			job->findings[i], job->findings[i].ranks, job->ranks[job->findings[i].worst].rank};

		kwhy_columns_csv(&columns, out, &row);
	}
}

enum kwhy_status kwhy_job_csv(
	const struct kwhy_job *job, const char *what, struct kwhy_text *out, struct kwhy_error *error)
{
	static const struct {
		const char *name;
		void (*write)(const struct kwhy_job *job, struct kwhy_text *out);
	} tables[] = {{"ranks", write_ranks}, {"collectives", write_collectives},
		{"accounts", write_accounts}, {"findings", write_findings}};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (strcmp(tables[i].name, what) == 0) {
			tables[i].write(job, out);
			return kwhy_text_check(out, error);
		}
	return kwhy_fail(error, KWHY_E_USAGE,
		"--csv of a job takes ranks, collectives, accounts or findings, not '%.60s'", what);
}
