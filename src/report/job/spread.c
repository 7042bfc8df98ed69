/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantile.h"
#include "report/job.h"

#include <math.h>
#include <stdlib.h>

enum kwhy_status kwhy_job_spread_of(const struct kwhy_job *job, kwhy_job_value *value, const void *context,
	struct kwhy_job_spread *out, struct kwhy_error *error)
{
	double *values = malloc((job->rank_count + 1) * sizeof(*values)), most = -HUGE_VAL;

	*out = (struct kwhy_job_spread){.least = NAN, .low = NAN, .median = NAN, .high = NAN, .most = NAN};
	if (!values)
		return kwhy_fail_memory(error, "distributions");
	for (size_t i = 0; i < job->rank_count; i++) {
		const double one = value(&job->ranks[i], context);

		if (isnan(one))
			continue;
		values[out->count++] = one;
		if (one > most) {
			most = one;
			out->most_rank = i;
		}
	}
	if (out->count) {
		kwhy_sort_reals(values, out->count);
		out->least = values[0];
		out->low = kwhy_quantile(values, out->count, 0.1);
		out->median = kwhy_quantile(values, out->count, 0.5);
		out->high = kwhy_quantile(values, out->count, 0.9);
		out->most = values[out->count - 1];
	}
	free(values);
	return KWHY_OK;
}

static double known(int64_t value)
{
	return value == INT64_MIN ? NAN : (double)value;
}

double kwhy_job_category_ratio(const struct kwhy_job_rank *rank, const void *context)
{
	const int64_t part_ns = rank->category_ns[*(const uint32_t *)context];

	return rank->span_ns > 0 ? (part_ns == INT64_MIN ? 0 : (double)part_ns) / (double)rank->span_ns : NAN;
}

#define VALUE(name, expression)                                                   \
	static double name(const struct kwhy_job_rank *rank, const void *context) \
	{                                                                         \
		(void)context;                                                    \
		return expression;                                                \
	}
VALUE(span, known(rank->span_ns))
VALUE(busy, known(rank->busy_ns))
VALUE(compute, known(rank->compute_ns))
VALUE(exposed, known(rank->exposed_ns))
VALUE(waiting, rank->compared ? (double)rank->waiting_ns : NAN)
VALUE(caused, rank->compared ? (double)rank->caused_ns : NAN)
VALUE(energy, known(rank->measured_nj))
VALUE(waiting_energy, known(rank->waiting_nj))
VALUE(caused_energy,
	rank->caused_nj == INT64_MIN && rank->compared && rank->waiting_nj != INT64_MIN
		? 0
		: known(rank->caused_nj))
VALUE(clock_offset, isnan(rank->clock_error_ns) ? NAN : rank->offset_ns)

const struct kwhy_job_measure kwhy_job_measures[] = {
	{"span", "ns", "span", span},
	{"busy", "ns", "busy", busy},
	{"compute", "ns", "computing", compute},
	{"collective_exposed", "ns", "exposed collectives", exposed},
	{"waiting", "ns", "waited for others", waiting},
	{"caused", "ns", "others waited for it", caused},
	{"energy", "nj", "energy", energy},
	{"waiting_energy", "nj", "energy of waiting", waiting_energy},
	{"caused_energy", "nj", "energy of the others' waiting", caused_energy},
	{"clock_offset", "ns", "clock offset", clock_offset},
};
const size_t kwhy_job_measure_count = sizeof(kwhy_job_measures) / sizeof(kwhy_job_measures[0]);

static int compare_caused(const void *a, const void *b, void *context)
{
	const struct kwhy_job *job = context;
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	const int64_t left_ns = job->ranks[left].caused_ns, right_ns = job->ranks[right].caused_ns;

	if (left_ns != right_ns)
		return left_ns < right_ns ? 1 : -1;
	return left < right ? -1 : left > right;
}

uint32_t *kwhy_job_ranks_by_caused(const struct kwhy_job *job)
{
	uint32_t *order = malloc((job->rank_count + 1) * sizeof(*order));

	for (size_t i = 0; order && i < job->rank_count; i++)
		order[i] = (uint32_t)i;
	if (order)
		qsort_r(order, job->rank_count, sizeof(*order), compare_caused, (void *)job);
	return order;
}

static int compare_waiting(const void *a, const void *b, void *context)
{
	const struct kwhy_job *job = context;
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	const int64_t left_ns = job->collectives[left].waiting_ns;
	const int64_t right_ns = job->collectives[right].waiting_ns;

	if (left_ns != right_ns)
		return left_ns < right_ns ? 1 : -1;
	return left < right ? -1 : left > right;
}

uint32_t *kwhy_job_collectives_by_waiting(const struct kwhy_job *job, size_t *count)
{
	uint32_t *order = malloc((job->collective_count + 1) * sizeof(*order));

	*count = 0;
	for (size_t i = 0; order && i < job->collective_count; i++)
		if (kwhy_job_is_compared(job, &job->collectives[i]))
			order[(*count)++] = (uint32_t)i;
	if (order)
		qsort_r(order, *count, sizeof(*order), compare_waiting, (void *)job);
	return order;
}
