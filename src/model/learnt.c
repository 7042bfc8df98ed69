/* SPDX-License-Identifier: Apache-2.0 */
#include "model/learnt.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* smallest power above the idle level that is learnt, W */
#define ABOVE_IDLE_MIN_W 1.0
/*
 * Largest relative standard uncertainty of the power above idle with which the power of an account in a group
 * (struct kwhy_account_group) is still learnt.
 */
#define GROUPED_SPREAD_MAX 0.2

static char letter_of(char c)
{
	return c == '-' || c == '_' ? ' ' : (char)tolower((unsigned char)c);
}

bool kwhy_device_names_agree(const char *a, const char *b)
{
	for (; *a && letter_of(*a) == letter_of(*b); a++)
		b++;
	return !*a && !*b;
}

static struct kwhy_learnt_grid grid_of(const struct kwhy_activities *rows, size_t row)
{
	const uint16_t threads = rows->threads_per_block[row];

	return (struct kwhy_learnt_grid){
		rows->blocks[row], threads == KWHY_UNKNOWN_U16 ? KWHY_NONE : threads};
}

static bool grids_are_equal(struct kwhy_learnt_grid a, struct kwhy_learnt_grid b)
{
	return a.blocks == b.blocks && a.threads == b.threads;
}

/*
 * State of finding the grid with more than half of an account's time. The first pass over the activities
 * finds the only grid that can have that much, by the majority vote of Boyer and Moore (lead_ns is by how
 * much the current candidate leads); the second pass sums the time of that grid (grid_ns) and of all grids
 * (all_ns).
 */
struct vote {
	double lead_ns, grid_ns, all_ns;
};

static void vote(
	struct vote *vote, struct kwhy_learnt_grid *grid, struct kwhy_learnt_grid of_row, double length_ns)
{
	if (grids_are_equal(*grid, of_row)) {
		vote->lead_ns += length_ns;
		return;
	}
	vote->lead_ns -= length_ns;
	if (vote->lead_ns >= 0)
		return;
	vote->lead_ns = -vote->lead_ns;
	*grid = of_row;
}

static void count(
	struct vote *vote, struct kwhy_learnt_grid grid, struct kwhy_learnt_grid of_row, double length_ns)
{
	vote->all_ns += length_ns;
	if (grids_are_equal(grid, of_row))
		vote->grid_ns += length_ns;
}

enum kwhy_status kwhy_learnt_grids_find(const struct kwhy_recording *recording, uint32_t device,
	const struct kwhy_device_ledger *device_ledger, struct kwhy_learnt_grid *out_grids,
	struct kwhy_error *error)
{
	const struct kwhy_learnt_grid unknown = {KWHY_UNKNOWN_BLOCKS, KWHY_NONE};
	const struct kwhy_activities *rows = &recording->activities;
	const size_t first = rows->first[device], end = rows->first[device + 1];
	struct vote *votes = calloc(device_ledger->account_count + 1, sizeof(*votes));

	if (!votes)
		return kwhy_fail_memory(error, "grids of accounts");
	for (size_t i = 0; i < device_ledger->account_count; i++)
		out_grids[i] = unknown;
	for (int pass = 0; pass < 2; pass++) {
		for (size_t row = first; row < end; row++) {
			const uint32_t i = device_ledger->account_of[row - first];
			const double length_ns = (double)rows->end_ns[row] - (double)rows->start_ns[row];

			if (pass == 0)
				vote(&votes[i], &out_grids[i], grid_of(rows, row), length_ns);
			else
				count(&votes[i], out_grids[i], grid_of(rows, row), length_ns);
		}
	}
	for (size_t i = 0; i < device_ledger->account_count; i++)
		if (votes[i].grid_ns <= votes[i].all_ns / 2)
			out_grids[i] = unknown;
	free(votes);
	return KWHY_OK;
}

/*
 * Whether an account's power is learnt. Only accounts of kernels, collectives, copies and memsets are. Their
 * power must be decided by the readings. For an account in a group, of which the readings decide only the
 * sum, the account must be alone in its power class, the relative standard uncertainty of its power above
 * idle must be at most GROUPED_SPREAD_MAX, and the prior of its power must not come from another recording.
 */
static bool is_learnt(const struct kwhy_device_ledger *device_ledger, const struct kwhy_account *account)
{
	const struct kwhy_power_class *class;

	if (account->category > KWHY_CATEGORY_MEMSET || account->mean_power_mw <= 0 ||
		account->gross_nj <= 0 || account->power_class == KWHY_NONE)
		return false;
	class = &device_ledger->classes[account->power_class];
	if (account->basis == KWHY_BASIS_GROUPED)
		return class->is_decided && !class->is_learnt && class->spread <= GROUPED_SPREAD_MAX;
	return account->basis == KWHY_BASIS_DATA;
}

/*
 * Writes the power of an account above idle. Returns false if it is at most ABOVE_IDLE_MIN_W or at most its
 * standard deviation. The standard deviation written is that of the power class (accounts that share one
 * power). The power of one account in the class is less certain, because of temperature and other work on the
 * device; a ledger that uses the learnt power adds this part itself.
 */
static bool learn(struct kwhy_learnt_power *out, const struct kwhy_device_ledger *device_ledger,
	const struct kwhy_account *account)
{
	const double above_idle_w = (double)account->mean_power_mw * 1e-3 -
		device_ledger->energy.context_idle_w;

	*out = (struct kwhy_learnt_power){
		.above_idle_w = above_idle_w,
		.sd_w = device_ledger->classes[account->power_class].spread * above_idle_w,
		.count = account->count,
		.time_ns = account->time_ns,
	};
	return out->above_idle_w > ABOVE_IDLE_MIN_W && out->sd_w < out->above_idle_w;
}

static enum kwhy_status collect_device(struct kwhy_learnt_powers *powers,
	const struct kwhy_recording *recording, const struct kwhy_ledger *ledger, uint32_t device,
	struct kwhy_error *error)
{
	const struct kwhy_device_ledger *device_ledger = &ledger->devices[device];
	struct kwhy_learnt_grid *grids = calloc(device_ledger->account_count + 1, sizeof(*grids));
	enum kwhy_status status = grids
		? kwhy_learnt_grids_find(recording, device, device_ledger, grids, error)
		: kwhy_fail_memory(error, "learnt powers");

	for (size_t i = 0; !status && i < device_ledger->account_count; i++) {
		struct kwhy_learnt_power power, *items;

		if (!is_learnt(device_ledger, &device_ledger->accounts[i]) ||
			!learn(&power, device_ledger, &device_ledger->accounts[i]))
			continue;
		power.grid = grids[i];
		power.name = kwhy_arena_copy(&powers->arena, device_ledger->accounts[i].name);
		items = kwhy_arena_grow(&powers->arena, powers->items, powers->count, sizeof(*items));
		if (!power.name || !items)
			status = kwhy_fail_memory(error, "learnt powers");
		else
			(powers->items = items)[powers->count++] = power;
	}
	free(grids);
	return status;
}

/* Sets the device name and the context idle power that all learnt powers of the recording refer to. */
static enum kwhy_status name_device(struct kwhy_learnt_powers *powers, const struct kwhy_device *device,
	double idle_w, struct kwhy_error *error)
{
	powers->context_idle_w = idle_w;
	powers->device_name = kwhy_arena_copy(&powers->arena, device->name);
	return powers->device_name ? KWHY_OK : kwhy_fail_memory(error, "learnt powers");
}

static enum kwhy_status collect(struct kwhy_learnt_powers *powers, const struct kwhy_recording *recording,
	const struct kwhy_ledger *ledger, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	powers->path = kwhy_arena_copy(&powers->arena, powers->path);
	if (!powers->path)
		return kwhy_fail_memory(error, "learnt powers");
	for (uint32_t d = 0; !status && d < ledger->device_count; d++) {
		const struct kwhy_device *device = &recording->devices[d];
		const struct kwhy_device_energy *energy = &ledger->devices[d].energy;

		if (!device->name || !energy->known || energy->modelled || !(energy->context_idle_w > 0) ||
			(powers->count && !kwhy_device_names_agree(powers->device_name, device->name)))
			continue;
		if (!powers->count)
			status = name_device(powers, device, energy->context_idle_w, error);
		if (!status)
			status = collect_device(powers, recording, ledger, d, error);
	}
	return status || powers->count
		? status
		: kwhy_fail(error, KWHY_E_INPUT,
			  "%s teaches no power: its readings decide that of no kernel of a device whose name "
			  "is known; probe the program, or record it for longer",
			  powers->path);
}

enum kwhy_status kwhy_learnt_powers_collect(const struct kwhy_recording *recording,
	const struct kwhy_ledger *ledger, const char *path, struct kwhy_learnt_powers **out,
	struct kwhy_error *error)
{
	struct kwhy_learnt_powers *powers = calloc(1, sizeof(*powers));
	enum kwhy_status status;

	if (!powers)
		return kwhy_fail_memory(error, "learnt powers");
	powers->path = path;
	status = collect(powers, recording, ledger, error);
	if (status)
		kwhy_learnt_powers_free(powers);
	else
		*out = powers;
	return status;
}

void kwhy_learnt_powers_free(struct kwhy_learnt_powers *powers)
{
	if (!powers)
		return;
	kwhy_arena_done(&powers->arena);
	free(powers);
}
