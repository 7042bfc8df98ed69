/* SPDX-License-Identifier: Apache-2.0 */
#include "digest/fold.h"
#include "digest/making.h"

#include <stdlib.h>
#include <string.h>

static int64_t known(int64_t value)
{
	return value == INT64_MIN ? 0 : value;
}

static int compare_accounts(const void *a, const void *b)
{
	const struct kwhy_digest_account *left = a, *right = b;
	const int64_t left_nj = known(left->gross_nj), right_nj = known(right->gross_nj);

	if (left->device != right->device)
		return left->device < right->device ? -1 : 1;
	if (left_nj != right_nj)
		return left_nj > right_nj ? -1 : 1;
	return (left->time_ns < right->time_ns) - (left->time_ns > right->time_ns);
}

#define BY_TIME(table, column)                                                                \
	static int compare_##table(const void *a, const void *b)                              \
	{                                                                                     \
		const int64_t left = known(((const struct kwhy_digest_##table *)a)->column),  \
			      right = known(((const struct kwhy_digest_##table *)b)->column); \
		return (left < right) - (left > right);                                       \
	}
BY_TIME(range, host_ns)
BY_TIME(api, total_ns)
BY_TIME(wait, time_ns)
BY_TIME(copy, total_ns)
#undef BY_TIME

/* Copies a row of the sum; the texts stay those of the sum. */
static enum kwhy_status copy_row(struct kwhy_digest *out, const struct kwhy_digest_table *table,
	const void *from, struct kwhy_error *error)
{
	void *row = kwhy_digest_add_row(table, out, error);

	if (!row)
		return error->status;
	memcpy(row, from, table->row_bytes);
	return KWHY_OK;
}

static enum kwhy_status copy_tables(
	const struct kwhy_digest *sum, struct kwhy_digest *out, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t t = 0; t < kwhy_digest_table_count; t++) {
		const struct kwhy_digest_table *table = &kwhy_digest_tables[t];
		const char *rows = *(char *const *)((const char *)sum + table->rows_offset);
		const size_t count = *(const size_t *)((const char *)sum + table->count_offset);

		for (size_t i = 0; !status && i < count && t != KWHY_DIGEST_TABLE_account; i++)
			status = copy_row(out, table, rows + i * table->row_bytes, error);
	}
	return status;
}

static void add_known(int64_t *sum, int64_t part)
{
	if (part != INT64_MIN)
		*sum = known(*sum) + part;
}

/* Adds a small account to the row of its category and device that sums such accounts. */
static enum kwhy_status add_to_rest(
	struct kwhy_digest *out, const struct kwhy_digest_account *account, struct kwhy_error *error)
{
	struct kwhy_digest_account *row = NULL;

	for (size_t i = 0; !row && i < out->account_count; i++)
		if (!out->account[i].name && out->account[i].device == account->device &&
			!strcmp(out->account[i].category, account->category))
			row = &out->account[i];
	if (!row) {
		row = KWHY_DIGEST_ADD(out, account, error);
		if (!row)
			return error->status;
		row->device = account->device;
		row->category = account->category;
	}
	add_known(&row->accounts, 1);
	add_known(&row->count, account->count);
	add_known(&row->bytes, account->bytes);
	add_known(&row->time_ns, account->time_ns);
	add_known(&row->gross_nj, account->gross_nj);
	add_known(&row->idle_nj, account->idle_nj);
	add_known(&row->net_nj, account->net_nj);
	return KWHY_OK;
}

static enum kwhy_status add_accounts(const struct kwhy_digest *sum, const struct kwhy_digest_limits *limits,
	struct kwhy_digest *out, struct kwhy_error *error)
{
	const struct kwhy_digest_table *table = &kwhy_digest_tables[KWHY_DIGEST_TABLE_account];
	struct kwhy_digest_account *sorted = calloc(sum->account_count + 1, sizeof(*sorted));
	enum kwhy_status status = sorted ? KWHY_OK : kwhy_fail_memory(error, "a digest");
	size_t of_device = 0;

	if (sorted && sum->account_count)
		memcpy(sorted, sum->account, sum->account_count * sizeof(*sorted));
	if (sorted)
		qsort(sorted, sum->account_count, sizeof(*sorted), compare_accounts);
	for (size_t i = 0; !status && i < sum->account_count; i++) {
		of_device = i && sorted[i].device == sorted[i - 1].device ? of_device + 1 : 0;
		status = of_device < limits->accounts ? copy_row(out, table, &sorted[i], error)
						      : add_to_rest(out, &sorted[i], error);
	}
	free(sorted);
	return status;
}

/* Keeps the first rows of each table of details, after the largest have been sorted to its start. */
static void keep_rows(struct kwhy_digest *out, size_t rows)
{
	size_t count = 0;
#define SORT(table)             \
	if (out->table##_count) \
	qsort(out->table, out->table##_count, sizeof(*out->table), compare_##table)
#define KEEP(table)                    \
	if (out->table##_count > rows) \
	out->table##_count = rows
	SORT(range);
	SORT(api);
	SORT(wait);
	SORT(copy);
	KEEP(source);
	KEEP(finding);
	KEEP(step);
	KEEP(range);
	KEEP(api);
	KEEP(wait);
	KEEP(copy);
	KEEP(clock);
	KEEP(note);
	KEEP(work);
#undef KEEP
#undef SORT
	for (size_t i = 0; i < out->occurrence_count; i++)
		if (out->occurrence[i].finding < out->finding_count)
			out->occurrence[count++] = out->occurrence[i];
	out->occurrence_count = count;
}

/* Keeps a share of the collectives, the same ones on all ranks. */
static void keep_collectives(struct kwhy_digest *out, size_t limit)
{
	size_t count = 0;

	if (out->collective_count > limit)
		out->digest->kept_ratio *= (double)limit / (double)out->collective_count;
	for (size_t i = 0; i < out->communicator_count; i++)
		out->communicator[i].kept_ns = 0;
	for (size_t i = 0; i < out->collective_count; i++) {
		const struct kwhy_digest_collective row = out->collective[i];

		if (!kwhy_digest_keeps(row.sequence, out->digest->kept_ratio))
			continue;
		out->communicator[row.communicator].kept_ns += row.exit_ns - row.enter_ns;
		out->collective[count++] = row;
	}
	out->collective_count = count;
	if (!count)
		out->operation_count = 0;
}

enum kwhy_status kwhy_digest_fit(
	const struct kwhy_digest *sum, struct kwhy_digest *out, struct kwhy_error *error)
{
	struct kwhy_digest_limits limits = kwhy_digest_limits_default();
	size_t bytes = 0;
	enum kwhy_status status;

	for (;;) {
		status = copy_tables(sum, out, error);
		if (!status)
			status = add_accounts(sum, &limits, out, error);
		if (status)
			return status;
		keep_rows(out, limits.rows);
		keep_collectives(out, limits.collectives);
		status = kwhy_digest_size(out, &bytes, error);
		if (status || bytes <= KWHY_DIGEST_BYTES_MAX)
			return status;
		if (!limits.accounts && !limits.collectives)
			return kwhy_fail(error, KWHY_E_UNSUPPORTED,
				"the sums of a rank with its %zu devices need %zu bytes, and a digest has "
				"%d; "
				"give each rank a recording of its own",
				out->device_count, bytes, KWHY_DIGEST_BYTES_MAX);
		kwhy_digest_lessen(&limits, out->collective_count, bytes);
		kwhy_digest_done(out);
	}
}
