/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_findings.h"

#include "base/quantile.h"

#include <math.h>
#include <stdlib.h>

/*
 * Largest ratio of posterior to prior standard deviation at which the basis of a power is `data`: 1 - 0.45^2,
 * or four fifths, of the information is then from the readings.
 */
#define PRIOR_POSTERIOR_RATIO 0.45

struct grouping {
	struct kwhy_ledger *ledger;
	const struct kwhy_energy_findings *findings;
	struct kwhy_device_ledger *device_ledger;
	uint32_t *group_of; /* [class_count + 1] group of each class, or KWHY_NONE */
	size_t found; /* number of groups of two or more classes; groups of pools (single classes with several
			 accounts) follow */
	bool *chosen; /* [class_count + 1] whether the class is in the group that is being written */
};

/*
 * Index of an account's power class in arrays of [class_count + 1]. Idle and unrecorded time have no class
 * and get class_count, the entry of idle.
 */
static size_t class_of(const struct grouping *grouping, const struct kwhy_account *account)
{
	return account->power_class == KWHY_NONE ? grouping->findings->apportioned->class_count
						 : account->power_class;
}

/* Makes a group of each power class that has several accounts (a pool) and is in no group. */
static void add_pools(struct grouping *grouping, size_t *count)
{
	const struct kwhy_power_classes *classes = grouping->findings->classes;

	for (size_t c = 0; c < classes->count; c++)
		if (grouping->group_of[c] == KWHY_NONE && classes->priors[c].account_count > 1)
			grouping->group_of[c] = (uint32_t)(*count)++;
}

static enum kwhy_status write_group(struct grouping *grouping, uint32_t number, struct kwhy_error *error)
{
	struct kwhy_device_ledger *device_ledger = grouping->device_ledger;
	struct kwhy_account_group *group = &device_ledger->groups[number];
	size_t classes = grouping->findings->apportioned->class_count;
	double low_nj, high_nj;
	enum kwhy_status status;

	for (size_t c = 0; c <= classes; c++)
		grouping->chosen[c] = grouping->group_of[c] == number;
	group->members = kwhy_arena_alloc(
		&grouping->ledger->arena, device_ledger->account_count, sizeof(*group->members));
	if (!group->members)
		return kwhy_fail_memory(error, "groups of accounts");
	for (size_t i = 0; i < device_ledger->account_count; i++) {
		if (!grouping->chosen[class_of(grouping, &device_ledger->accounts[i])] ||
			device_ledger->accounts[i].category == KWHY_CATEGORY_UNRECORDED)
			continue;
		group->members[group->member_count++] = (uint32_t)i;
		group->gross_nj += device_ledger->accounts[i].gross_nj;
		device_ledger->accounts[i].group = number;
	}
	status = kwhy_energy_draws_sum(grouping->findings->draws, grouping->chosen, &low_nj, &high_nj, error);
	if (status)
		return status;
	group->low_nj = llround(fmin(low_nj, (double)group->gross_nj));
	group->high_nj = llround(fmax(high_nj, (double)group->gross_nj));
	return KWHY_OK;
}

static bool is_decided(const struct kwhy_powers *powers, size_t class)
{
	return powers->posterior_ratio[class] <= PRIOR_POSTERIOR_RATIO;
}

/* Basis of the power of a power class that is in no group; class_count stands for idle. */
static enum kwhy_basis basis_of(const struct grouping *grouping, size_t class)
{
	const struct kwhy_powers *powers = grouping->findings->powers;
	const struct kwhy_power_classes *classes = grouping->findings->classes;

	if (powers->reading_count &&
		(class >= powers->class_count || class == classes->clean || is_decided(powers, class)))
		return KWHY_BASIS_DATA;
	return class < classes->count && classes->priors[class].learnt_w > 0 ? KWHY_BASIS_LEARNT
									     : KWHY_BASIS_ASSUMED;
}

static void write_basis(struct grouping *grouping)
{

	for (size_t i = 0; i < grouping->device_ledger->account_count; i++) {
		struct kwhy_account *account = &grouping->device_ledger->accounts[i];

		if (account->category == KWHY_CATEGORY_UNRECORDED)
			continue;
		account->basis = account->group != KWHY_NONE
			? KWHY_BASIS_GROUPED
			: basis_of(grouping, class_of(grouping, account));
	}
}

/*
 * Relative standard deviation of a power class's power above idle in place (between the program's other
 * work). It combines the standard deviation over the draws with that of the ratio of the power in place to
 * the power in bursts.
 */
static double spread_of(const struct kwhy_powers *powers, size_t class)
{
	double squares = 0;

	for (size_t i = 0; i < powers->draw_count; i++) {
		const double away_w = powers->draws_net_w[i * powers->class_count + class] -
			powers->net_w[class];

		squares += away_w * away_w / (double)powers->draw_count;
	}
	return hypot(sqrt(squares) / fabs(powers->net_w[class]), powers->in_place_ratio[class]);
}

static enum kwhy_status write_powers(struct grouping *grouping, struct kwhy_error *error)
{
	const struct kwhy_powers *powers = grouping->findings->powers;
	struct kwhy_device_ledger *device_ledger = grouping->device_ledger;
	size_t count = powers->draw_count;
	double *values = malloc((count + 1) * sizeof(*values));

	device_ledger->classes = kwhy_arena_alloc(
		&grouping->ledger->arena, powers->class_count, sizeof(*device_ledger->classes));
	if (!values || !device_ledger->classes) {
		free(values);
		return kwhy_fail_memory(error, "power classes");
	}
	device_ledger->class_count = powers->class_count;
	for (size_t c = 0; c < powers->class_count; c++) {
		for (size_t i = 0; i < count; i++)
			values[i] = powers->draws_idle_w[i] +
				powers->draws_net_w[i * powers->class_count + c];
		kwhy_sort_reals(values, count);
		device_ledger->classes[c] = (struct kwhy_power_class){
			.power_w = powers->idle_w + powers->net_w[c],
			.low_w = values[count / 20],
			.high_w = values[count - 1 - count / 20],
			.prior_power_w = powers->idle_w + powers->prior_net_w[c],
			.spread = spread_of(powers, c),
			.is_learnt = grouping->findings->classes->priors[c].learnt_w > 0,
			.is_decided = is_decided(powers, c) &&
				grouping->findings->classes->priors[c].account_count == 1,
		};
	}
	free(values);
	return KWHY_OK;
}

static enum kwhy_status find_groups(struct grouping *grouping, struct kwhy_error *error)
{
	struct kwhy_device_ledger *device_ledger = grouping->device_ledger;
	size_t count = 0;
	enum kwhy_status status = kwhy_energy_draws_groups(
		grouping->findings->draws, grouping->group_of, &count, error);

	if (status)
		return status;
	add_pools(grouping, &count);
	device_ledger->groups = kwhy_arena_alloc(
		&grouping->ledger->arena, count, sizeof(*device_ledger->groups));
	if (!device_ledger->groups)
		return kwhy_fail_memory(error, "groups of accounts");
	device_ledger->group_count = count;
	for (uint32_t number = 0; !status && number < count; number++)
		status = write_group(grouping, number, error);
	return status;
}

enum kwhy_status kwhy_energy_write_groups(
	struct kwhy_ledger *ledger, const struct kwhy_energy_findings *findings, struct kwhy_error *error)
{
	size_t entries = findings->apportioned->class_count + 1;
	struct grouping grouping = {
		.ledger = ledger,
		.findings = findings,
		.device_ledger = &ledger->devices[findings->device],
		.group_of = calloc(entries, sizeof(uint32_t)),
		.chosen = calloc(entries, sizeof(bool)),
	};
	enum kwhy_status status = KWHY_OK;

	if (!grouping.group_of || !grouping.chosen)
		status = kwhy_fail_memory(error, "groups of accounts");
	if (!status)
		status = find_groups(&grouping, error);
	if (!status) {
		write_basis(&grouping);
		status = write_powers(&grouping, error);
	}
	free(grouping.group_of);
	free(grouping.chosen);
	return status;
}
