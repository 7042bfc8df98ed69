/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/power_class.h"

#include "ledger/energy/counter_power.h"
#include "ledger/energy/power_in_place.h"
#include "ledger/energy/power_kind.h"
#include "ledger/energy/power_learnt.h"
#include "ledger/probing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Pools: the power classes that accounts without a class of their own share, by kind. POOL_FULL to
 * POOL_UNKNOWN_GRID are for kernels, by the share of the multiprocessors that their grids occupy.
 */
enum pool {
	POOL_FULL,
	POOL_PARTIAL,
	POOL_FEW_BLOCKS,
	POOL_UNKNOWN_GRID,
	POOL_COLLECTIVE,
	POOL_HOST_COPY,
	POOL_DEVICE_COPY,
	POOL_OTHER_COPY,
	POOL_MEMSET,
	POOL_COUNT
};

/*
 * Prior of the power above idle of accounts of each pool: `fill`, its median as a share of the power of a
 * kernel that fills the device, and `sd`, the standard deviation of the logarithm. `beside`: the work runs at
 * full power concurrently with kernels. docs/attribution.md explains the values for full and partial grids
 * and for host copies. A device-to-device copy drew as much as a full grid of FMA on the H200 (368 W and 358
 * W). The other values are wide assumptions, which the readings overrule.
 */
static const struct {
	double fill, sd; /* fill NAN: the mean share of the multiprocessors that the account's grids occupy is
			    used */
	bool beside;
} pool_priors[POOL_COUNT] = {
	[POOL_FULL] = {1, 0.6, false},
	[POOL_PARTIAL] = {NAN, 0.7, false},
	[POOL_FEW_BLOCKS] = {NAN, 0.7, false},
	[POOL_UNKNOWN_GRID] = {0.7, 0.6, false},
	[POOL_COLLECTIVE] = {0.4, 0.7, false},
	[POOL_HOST_COPY] = {0.05, 1.0, true},
	[POOL_DEVICE_COPY] = {0.8, 0.5, true},
	[POOL_OTHER_COPY] = {0.15, 1.0, true},
	[POOL_MEMSET] = {0.6, 0.7, true},
};

/* Share of the multiprocessors below which a grid has "few blocks". */
#define FEW_BLOCKS_FILL 0.1

/*
 * Assumed ratio of the idle level to the power above idle of a full grid. It serves to rank the accounts by
 * expected energy before powers are known.
 */
#define IDLE_SHARE 0.4

struct account_sum {
	double grid_ns, filled_ns; /* grid_ns: time of activities with a known grid; filled_ns: sum over these
				      of time * fill */
	double time_ns;		   /* time of all activities, repeats by kwhy probe included */
	double repeats_ns;
	size_t rows; /* number of activities, repeats included */
	enum pool pool;
	double fill, expected, in_place_ratio;
	struct kwhy_learnt_prior learnt;
	struct kwhy_counter_prior counted;
	uint8_t kind; /* enum kwhy_activity_kind of the account's activities */
	uint32_t account;
};

uint32_t kwhy_power_sm_count(
	const struct kwhy_recording *recording, uint32_t device, const struct kwhy_profile *profile)
{
	uint32_t sm_count = recording->devices[device].sm_count;

	return sm_count || !profile ? sm_count : profile->sm_count;
}

double kwhy_power_grid_fill(uint32_t blocks, uint32_t sm_count)
{
	if (blocks == KWHY_UNKNOWN_BLOCKS || sm_count == 0)
		return NAN;
	if (blocks >= sm_count)
		return 1;
	return blocks ? (double)blocks / sm_count : 1.0 / sm_count;
}

static enum pool pool_of_copy(uint8_t copy_kind)
{
	switch (copy_kind) {
	case KWHY_COPY_H2D:
	case KWHY_COPY_D2H:
		return POOL_HOST_COPY;
	case KWHY_COPY_D2D:
		return POOL_DEVICE_COPY;
	default:
		return POOL_OTHER_COPY;
	}
}

static void add_row(
	struct account_sum *sum, const struct kwhy_activities *rows, size_t row, uint32_t sm_count)
{
	double length_ns = (double)rows->end_ns[row] - (double)rows->start_ns[row];
	double fill = kwhy_power_grid_fill(rows->blocks[row], sm_count);

	sum->time_ns += length_ns;
	sum->rows++;
	if (rows->kind[row] == KWHY_ACTIVITY_COPY)
		sum->pool = pool_of_copy(rows->copy_kind[row]);
	sum->kind = rows->kind[row];
	if (isnan(fill))
		return;
	sum->grid_ns += length_ns;
	sum->filled_ns += length_ns * fill;
}

static enum pool pool_of_grid(double fill)
{
	if (isnan(fill))
		return POOL_UNKNOWN_GRID;
	if (fill >= 0.999)
		return POOL_FULL;
	return fill < FEW_BLOCKS_FILL ? POOL_FEW_BLOCKS : POOL_PARTIAL;
}

static void judge_account(struct account_sum *sum)
{
	const enum kwhy_category category = kwhy_category_of_kind(sum->kind);
	double fill = sum->grid_ns > 0 ? sum->filled_ns / sum->grid_ns : NAN;

	if (category == KWHY_CATEGORY_COMPUTE)
		sum->pool = pool_of_grid(fill);
	else if (category == KWHY_CATEGORY_COLLECTIVE)
		sum->pool = POOL_COLLECTIVE;
	else if (category == KWHY_CATEGORY_MEMSET)
		sum->pool = POOL_MEMSET;
	sum->fill = isnan(pool_priors[sum->pool].fill) ? fill : pool_priors[sum->pool].fill;
	sum->expected = (sum->time_ns - sum->repeats_ns) * (IDLE_SHARE + sum->fill);
}

static int compare_sums(const void *a, const void *b)
{
	const struct account_sum *left = a, *right = b;

	if (left->expected != right->expected)
		return left->expected > right->expected ? -1 : 1;
	return (left->account > right->account) - (left->account < right->account);
}

/*
 * Adds what is known of an account's power to the prior of its class: kind_w by performance counters or, if
 * these are less certain, by the kind of kernel; learnt_w from other recordings; known_w from the profile's
 * list of kernels. Only called for classes with one account.
 */
static void sharpen(struct kwhy_power_prior *prior, const struct account_sum *sum,
	const struct kwhy_profile *profile, const char *name)
{
	const double fill = sum->grid_ns > 0 ? sum->filled_ns / sum->grid_ns : NAN;
	const struct kwhy_kind_prior kind = kwhy_kind_prior_of(
		profile, name, fill, 1e-9 * sum->time_ns / (double)sum->rows);

	prior->kind_w = kind.above_idle_w;
	prior->kind_spread = kind.sd;
	if (!(sum->counted.sd >= kind.sd) && sum->counted.above_idle_w > 0) {
		prior->kind_w = sum->counted.above_idle_w;
		prior->kind_spread = sum->counted.sd;
		prior->is_counted = true;
	}
	prior->learnt_w = sum->learnt.above_idle_w;
	prior->learnt_sd = sum->learnt.sd;
	for (size_t i = 0; profile && i < profile->known_power_count; i++) {
		const struct kwhy_known_power *known = &profile->known_powers[i];

		if (isnan(known->power_w.value) || !strstr(name, known->pattern))
			continue;
		prior->known_w = known->power_w.value;
		prior->known_sd_w = known->power_w.sd;
		return;
	}
}

static struct kwhy_power_prior *open_class(struct kwhy_power_classes *classes, enum pool pool)
{
	struct kwhy_power_prior *prior = &classes->priors[classes->count++];

	*prior = (struct kwhy_power_prior){
		.sd = pool_priors[pool].sd,
		.known_w = NAN,
		.known_sd_w = NAN,
		.kind_w = NAN,
		.kind_spread = NAN,
		.learnt_w = NAN,
		.learnt_sd = NAN,
		.beside = pool_priors[pool].beside,
	};
	return prior;
}

static void join_class(struct kwhy_power_prior *prior, const struct account_sum *sum)
{
	double time_ns = prior->time_ns + sum->time_ns;

	if (time_ns > 0) {
		prior->fill = (prior->fill * prior->time_ns + sum->fill * sum->time_ns) / time_ns;
		prior->in_place_ratio = (prior->in_place_ratio * prior->time_ns +
						sum->in_place_ratio * sum->time_ns) /
			time_ns;
	} else {
		prior->fill = sum->fill;
	}
	prior->time_ns = time_ns;
	prior->account_count++;
}

/*
 * Makes the power classes of accounts with activities, and sets their power_class. `sums` are in descending
 * order of expected energy: the first own_most accounts get classes of their own, the others share pools.
 */
static void form_classes(struct kwhy_power_classes *classes, struct kwhy_device_ledger *device_ledger,
	const struct account_sum *sums, size_t count, size_t own_most, const struct kwhy_profile *profile)
{
	uint32_t class_of_pool[POOL_COUNT];

	memset(class_of_pool, 0xff, sizeof(class_of_pool));
	for (size_t i = 0; i < count; i++) {
		struct kwhy_account *account = &device_ledger->accounts[sums[i].account];
		uint32_t *pooled = &class_of_pool[sums[i].pool];
		bool own = i < own_most;

		if (own || *pooled == KWHY_NONE) {
			account->power_class = (uint32_t)classes->count;
			if (!own)
				*pooled = account->power_class;
			if (own)
				sharpen(open_class(classes, sums[i].pool), &sums[i], profile, account->name);
			else
				open_class(classes, sums[i].pool);
		} else {
			account->power_class = *pooled;
		}
		join_class(&classes->priors[account->power_class], &sums[i]);
	}
}

static void form_clean_class(struct kwhy_power_classes *classes, struct kwhy_device_ledger *device_ledger)
{
	for (size_t i = 0; i < device_ledger->account_count; i++) {
		if (!device_ledger->accounts[i].is_clean)
			continue;
		classes->clean = device_ledger->accounts[i].power_class = (uint32_t)classes->count;
		classes->priors[classes->count++] = (struct kwhy_power_prior){.known_w = NAN,
			.known_sd_w = NAN,
			.kind_w = NAN,
			.learnt_w = NAN,
			.account_count = 1};
	}
}

/*
 * Adds the sums of kwhy probe's repeats of a kernel to those of the program's kernel, because both have one
 * power class. twins[account_count]: for accounts of repeats, the account of the program's kernel; else
 * KWHY_NONE.
 */
static void join_twins(
	struct account_sum *sums, const struct kwhy_device_ledger *device_ledger, const uint32_t *twins)
{
	for (size_t i = 0; i < device_ledger->account_count; i++) {
		struct account_sum *twin = twins[i] == KWHY_NONE ? NULL : &sums[twins[i]];

		if (!twin)
			continue;
		twin->grid_ns += sums[i].grid_ns;
		twin->filled_ns += sums[i].filled_ns;
		twin->time_ns += sums[i].time_ns;
		twin->repeats_ns += sums[i].time_ns;
		twin->rows += sums[i].rows;
	}
}

/*
 * Removes the sums of accounts without activities, which have no power class, and of accounts of kwhy probe's
 * repeats of a kernel of the program. Sets pool, fill and expected energy of the others. Returns their
 * number.
 */
static size_t drop_idle(
	struct account_sum *sums, const struct kwhy_device_ledger *device_ledger, const uint32_t *twins)
{
	size_t kept = 0;

	for (size_t i = 0; i < device_ledger->account_count; i++) {
		const struct kwhy_account *account = &device_ledger->accounts[i];

		if (account->category > KWHY_CATEGORY_MEMSET &&
			(account->category != KWHY_CATEGORY_PROBING || account->is_probing_idle))
			continue;
		if (twins[i] != KWHY_NONE)
			continue;
		judge_account(&sums[i]);
		sums[kept] = sums[i];
		sums[kept++].account = (uint32_t)i;
	}
	return kept;
}

/*
 * Gives the accounts of kwhy probe's repeats the power class of the program's kernel. Called when the classes
 * of all other accounts are set.
 */
static void class_twins(struct kwhy_device_ledger *device_ledger, const uint32_t *twins)
{
	for (size_t i = 0; i < device_ledger->account_count; i++)
		if (twins[i] != KWHY_NONE)
			device_ledger->accounts[i].power_class = device_ledger->accounts[twins[i]]
									 .power_class;
}

/*
 * What is known of each account from elsewhere, [account_count]: uncertainty of its power in place
 * (power_in_place.h), powers from other recordings, powers by performance counters.
 */
struct account_facts {
	double *in_place_ratio;
	struct kwhy_learnt_prior *learnt;
	struct kwhy_counter_prior *counted;
};

static enum kwhy_status find_facts(struct account_facts *facts,
	const struct kwhy_device_ledger *device_ledger, const struct kwhy_recording *recording,
	uint32_t device, const struct kwhy_ledger_options *options, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	facts->in_place_ratio = calloc(device_ledger->account_count + 1, sizeof(*facts->in_place_ratio));
	facts->learnt = calloc(device_ledger->account_count + 1, sizeof(*facts->learnt));
	facts->counted = calloc(device_ledger->account_count + 1, sizeof(*facts->counted));
	if (!facts->in_place_ratio || !facts->learnt || !facts->counted)
		return kwhy_fail_memory(error, "power classes");
	status = kwhy_power_places_find(device_ledger, recording, device, facts->in_place_ratio, error);
	if (!status)
		status = kwhy_learnt_priors_find(
			recording, device, device_ledger, options, facts->learnt, error);
	return status ? status
		      : kwhy_counter_priors_find(
				recording, device, device_ledger, options->profile, facts->counted, error);
}

static enum kwhy_status sum_accounts(struct account_sum *sums, const struct kwhy_device_ledger *device_ledger,
	const struct kwhy_recording *recording, uint32_t device, const struct kwhy_ledger_options *options,
	struct kwhy_error *error)
{
	const struct kwhy_activities *rows = &recording->activities;
	uint32_t sm_count = kwhy_power_sm_count(recording, device, options->profile);
	struct account_facts facts = {0};
	size_t first = rows->first[device];
	enum kwhy_status status = find_facts(&facts, device_ledger, recording, device, options, error);

	for (size_t i = first; !status && i < rows->first[device + 1]; i++)
		add_row(&sums[device_ledger->account_of[i - first]], rows, i, sm_count);
	for (size_t i = 0; !status && i < device_ledger->account_count; i++) {
		sums[i].in_place_ratio = facts.in_place_ratio[i];
		sums[i].learnt = facts.learnt[i];
		sums[i].counted = facts.counted[i];
	}
	free(facts.in_place_ratio);
	free(facts.learnt);
	free(facts.counted);
	return status;
}

static enum kwhy_status fill_classes(struct kwhy_power_classes *classes,
	struct kwhy_device_ledger *device_ledger, const struct kwhy_profile *profile,
	struct account_sum *sums, struct kwhy_error *error)
{
	uint32_t *twins = calloc(device_ledger->account_count + 1, sizeof(*twins));
	size_t count;

	if (!twins)
		return kwhy_fail_memory(error, "power classes");
	kwhy_probing_twins(device_ledger, twins);
	join_twins(sums, device_ledger, twins);
	count = drop_idle(sums, device_ledger, twins);
	qsort(sums, count, sizeof(*sums), compare_sums);
	form_classes(classes, device_ledger, sums, count,
		device_ledger->time.probing_ns > 0 ? KWHY_POWER_CLASS_PROBED_MAX : KWHY_POWER_CLASS_OWN_MAX,
		profile);
	class_twins(device_ledger, twins);
	form_clean_class(classes, device_ledger);
	free(twins);
	return KWHY_OK;
}

enum kwhy_status kwhy_power_classes_init(struct kwhy_power_classes *classes,
	struct kwhy_device_ledger *device_ledger, const struct kwhy_recording *recording, uint32_t device,
	const struct kwhy_ledger_options *options, struct kwhy_error *error)
{
	struct account_sum *sums = calloc(device_ledger->account_count + 1, sizeof(*sums));
	enum kwhy_status status;

	*classes = (struct kwhy_power_classes){
		.priors = calloc(KWHY_POWER_CLASS_PROBED_MAX + POOL_COUNT + 1, sizeof(*classes->priors)),
		.clean = KWHY_NONE};
	status = sums && classes->priors
		? sum_accounts(sums, device_ledger, recording, device, options, error)
		: kwhy_fail_memory(error, "power classes");
	if (!status)
		status = fill_classes(classes, device_ledger, options->profile, sums, error);
	if (status)
		kwhy_power_classes_done(classes);
	free(sums);
	return status;
}

void kwhy_power_classes_done(struct kwhy_power_classes *classes)
{
	free(classes->priors);
	*classes = (struct kwhy_power_classes){0};
}
