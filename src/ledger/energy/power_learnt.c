/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/power_learnt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * How well a learnt power matches an account, best first: by name, threads of a block and blocks; by name and
 * threads; by name alone.
 */
enum match { MATCH_GRID, MATCH_BLOCK, MATCH_NAME, MATCH_NONE };

static const double spread_between_runs[] = {
	[MATCH_GRID] = 0.02,
	[MATCH_BLOCK] = 0.15,
	[MATCH_NAME] = 0.3,
};

/*
 * Sums over those learnt powers that match an account best so far (`match`): of their weights, and of their
 * logarithms times their weights.
 */
struct gathering {
	enum match match;
	double weight, weighted_log;
};

static enum match match_of(
	const struct kwhy_learnt_power *power, const char *name, struct kwhy_learnt_grid grid)
{
	if (strcmp(power->name, name) != 0)
		return MATCH_NONE;
	if (power->grid.threads != grid.threads)
		return MATCH_NAME;
	return power->grid.blocks == grid.blocks ? MATCH_GRID : MATCH_BLOCK;
}

static void gather(struct gathering *gathering, const struct kwhy_learnt_power *power, enum match match)
{
	const double sd = power->sd_w / power->above_idle_w, weight = 1 / (sd * sd + 1e-6);

	if (match > gathering->match)
		return;
	if (match < gathering->match)
		*gathering = (struct gathering){.match = match};
	gathering->weight += weight;
	gathering->weighted_log += weight * log(power->above_idle_w);
}

static struct kwhy_learnt_prior prior_of(const struct kwhy_ledger_options *options, const char *device_name,
	const char *name, struct kwhy_learnt_grid grid)
{
	struct gathering gathering = {.match = MATCH_NONE};

	for (size_t s = 0; s < options->learnt_count; s++) {
		const struct kwhy_learnt_powers *powers = options->learnt[s];

		if (!kwhy_device_names_agree(powers->device_name, device_name))
			continue;
		for (size_t i = 0; i < powers->count; i++) {
			enum match match = match_of(&powers->items[i], name, grid);

			if (match != MATCH_NONE)
				gather(&gathering, &powers->items[i], match);
		}
	}
	if (gathering.match == MATCH_NONE)
		return (struct kwhy_learnt_prior){NAN, NAN};
	return (struct kwhy_learnt_prior){
		.above_idle_w = exp(gathering.weighted_log / gathering.weight),
		.sd = hypot(sqrt(1 / gathering.weight), spread_between_runs[gathering.match]),
	};
}

enum kwhy_status kwhy_learnt_priors_find(const struct kwhy_recording *recording, uint32_t device,
	const struct kwhy_device_ledger *device_ledger, const struct kwhy_ledger_options *options,
	struct kwhy_learnt_prior *out_priors, struct kwhy_error *error)
{
	const char *device_name = recording->devices[device].name;
	struct kwhy_learnt_grid *grids;
	enum kwhy_status status;

	for (size_t i = 0; i < device_ledger->account_count; i++)
		out_priors[i] = (struct kwhy_learnt_prior){NAN, NAN};
	if (!options->learnt_count || !device_name)
		return KWHY_OK;
	grids = calloc(device_ledger->account_count + 1, sizeof(*grids));
	status = grids ? kwhy_learnt_grids_find(recording, device, device_ledger, grids, error)
		       : kwhy_fail_memory(error, "learnt powers");
	for (size_t i = 0; !status && i < device_ledger->account_count; i++)
		if (device_ledger->accounts[i].category <= KWHY_CATEGORY_MEMSET)
			out_priors[i] = prior_of(
				options, device_name, device_ledger->accounts[i].name, grids[i]);
	free(grids);
	return status;
}
