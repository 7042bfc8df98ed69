/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_draws.h"

#include <math.h>
#include <stdlib.h>

/*
 * A power class is not put into a group if the half-width of the 90 % interval of its energy is at most this
 * share of the middle of that interval.
 */
#define TIGHT_RATIO 0.10
/*
 * Two clusters of power classes are joined if the variance of their sum is below this share of the sum of
 * their variances.
 */
#define JOIN_RATIO 0.8
/*
 * A cluster becomes a group if the variance of its sum is below this share of the sum of its members'
 * variances.
 */
#define GROUP_RATIO 0.25

/*
 * State of the agglomerative clustering of the power classes, idle included, by the covariance of their
 * energies over the draws. Each class begins as a cluster of its own.
 */
struct clusters {
	size_t count;
	double *covariance; /* [count * count] covariance of the energies of the clusters */
	double *parts; /* [count] sum of the variances of the energies of a cluster's classes, at the index of
			  its leader */
	uint32_t *leader; /* [count] for each class, the class that stands for its cluster */
	bool *open;	  /* [count] whether the class stands for a cluster that may be joined with others */
};

static void find_covariance(struct clusters *clusters, const struct kwhy_energy_draws *draws)
{
	size_t count = clusters->count;

	for (size_t i = 0; i < draws->draw_count; i++) {
		const double *draw = draws->draws_nj + i * count;

		for (size_t a = 0; a < count; a++) {
			/*
			 * Subtracting the middle of the interval, a value near the mean, avoids cancellation;
			 * the covariance does not depend on it.
			 */
			double far = draw[a] - (draws->low_nj[a] + draws->high_nj[a]) / 2;

			clusters->parts[a] += far / (double)draws->draw_count;
			for (size_t b = 0; b < count; b++)
				clusters->covariance[a * count + b] += far *
					(draw[b] - (draws->low_nj[b] + draws->high_nj[b]) / 2) /
					(double)draws->draw_count;
		}
	}
	for (size_t a = 0; a < count; a++)
		for (size_t b = 0; b < count; b++)
			clusters->covariance[a * count + b] -= clusters->parts[a] * clusters->parts[b];
	for (size_t a = 0; a < count; a++)
		clusters->parts[a] = clusters->covariance[a * count + a];
}

static bool is_loose(const struct kwhy_energy_draws *draws, size_t class)
{
	double half_nj = (draws->high_nj[class] - draws->low_nj[class]) / 2;
	double middle_nj = (draws->high_nj[class] + draws->low_nj[class]) / 2;

	return half_nj > TIGHT_RATIO * middle_nj;
}

static double sum_variance(const struct clusters *clusters, size_t a, size_t b)
{
	size_t count = clusters->count;

	return clusters->covariance[a * count + a] + clusters->covariance[b * count + b] +
		2 * clusters->covariance[a * count + b];
}

/*
 * Finds the two open clusters whose energies are anticorrelated most: those with the smallest ratio of the
 * variance of their sum to the sum of their variances. False: no ratio is below JOIN_RATIO.
 */
static bool find_pair(const struct clusters *clusters, size_t *out_a, size_t *out_b)
{
	double best = JOIN_RATIO;
	size_t count = clusters->count;
	bool found = false;

	for (size_t a = 0; a < count; a++) {
		for (size_t b = a + 1; b < count; b++) {
			double apart = clusters->covariance[a * count + a] +
				clusters->covariance[b * count + b];

			if (!clusters->open[a] || !clusters->open[b] ||
				sum_variance(clusters, a, b) >= best * apart)
				continue;
			best = sum_variance(clusters, a, b) / apart;
			*out_a = a;
			*out_b = b;
			found = true;
		}
	}
	return found;
}

static void join(struct clusters *clusters, size_t a, size_t b)
{
	size_t count = clusters->count;

	clusters->covariance[a * count + a] = sum_variance(clusters, a, b);
	for (size_t c = 0; c < count; c++) {
		if (c != a && c != b) {
			clusters->covariance[a * count + c] += clusters->covariance[b * count + c];
			clusters->covariance[c * count + a] = clusters->covariance[a * count + c];
		}
		if (clusters->leader[c] == b)
			clusters->leader[c] = (uint32_t)a;
	}
	clusters->parts[a] += clusters->parts[b];
	clusters->open[b] = false;
}

/*
 * Makes a group of each cluster of two or more classes whose variance ratio is below GROUP_RATIO. Numbers the
 * groups from 0 on and writes to out_group the number for each class of a group; the entries of other classes
 * stay KWHY_NONE. Returns the number of groups.
 */
static size_t number_groups(const struct clusters *clusters, uint32_t *out_group)
{
	size_t groups = 0;

	for (size_t a = 0; a < clusters->count; a++) {
		size_t members = 0;
		bool joint = clusters->covariance[a * clusters->count + a] < GROUP_RATIO * clusters->parts[a];

		for (size_t c = 0; c < clusters->count; c++)
			members += clusters->leader[c] == a;
		if (!clusters->open[a] || members < 2 || !joint)
			continue;
		for (size_t c = 0; c < clusters->count; c++)
			if (clusters->leader[c] == a)
				out_group[c] = (uint32_t)groups;
		groups++;
	}
	return groups;
}

enum kwhy_status kwhy_energy_draws_groups(const struct kwhy_energy_draws *draws, uint32_t *out_group,
	size_t *out_count, struct kwhy_error *error)
{
	size_t count = draws->class_count + 1, a, b;
	struct clusters clusters = {
		.count = count,
		.covariance = calloc(count * count, sizeof(double)),
		.parts = calloc(count, sizeof(double)),
		.leader = calloc(count, sizeof(uint32_t)),
		.open = calloc(count, sizeof(bool)),
	};
	enum kwhy_status status = KWHY_OK;

	if (!clusters.covariance || !clusters.parts || !clusters.leader || !clusters.open)
		status = kwhy_fail_memory(error, "groups of accounts");
	if (!status) {
		find_covariance(&clusters, draws);
		for (size_t c = 0; c < count; c++) {
			out_group[c] = KWHY_NONE;
			clusters.leader[c] = (uint32_t)c;
			clusters.open[c] = is_loose(draws, c);
		}
		while (find_pair(&clusters, &a, &b))
			join(&clusters, a, b);
		*out_count = number_groups(&clusters, out_group);
	}
	free(clusters.covariance);
	free(clusters.parts);
	free(clusters.leader);
	free(clusters.open);
	return status;
}
