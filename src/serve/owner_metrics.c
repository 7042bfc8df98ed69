/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/owner_metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

typedef double shown_value(const struct kwhy_owner_shown *shown);

static double energy_j(const struct kwhy_owner_shown *shown)
{
	return shown->energy_j;
}

static double unsure_j(const struct kwhy_owner_shown *shown)
{
	return shown->unsure_j;
}

/*
 * NAN (no sample) if it was never known whether the owner used the device, as on MIG instances, whose
 * utilisation the driver does not report
 */
static double idle_j(const struct kwhy_owner_shown *shown)
{
	return shown->known_s > 0 ? shown->idle_j : NAN;
}

static double held_s(const struct kwhy_owner_shown *shown)
{
	return shown->held_s;
}

static double busy_s(const struct kwhy_owner_shown *shown)
{
	return shown->known_s > 0 ? shown->busy_s : NAN;
}

struct row {
	struct kwhy_family family;
	shown_value *value;
	bool is_host;
	bool of_programs; /* the figure is written only for owners that are programs and for their sum
			     "other", not for the rows "idle" and "unwatched", as nobody holds a device in
			     that time */
};

static const struct row rows[] = {
	{{"kwhy_owner_energy_joules", KWHY_FAMILY_COUNTER, "joules",
		 "Energy of a device by owner: job, pod, container, unit or user, or idle, unwatched or "
		 "other."},
		energy_j, false, false},
	{{"kwhy_owner_energy_uncertainty_joules", KWHY_FAMILY_COUNTER, "joules",
		 "Half of the 90 % interval of kwhy_owner_energy_joules_total, which is modelled where "
		 "devices are "
		 "shared; else 0."},
		unsure_j, false, true},
	{{"kwhy_owner_idle_energy_joules", KWHY_FAMILY_COUNTER, "joules",
		 "The part of kwhy_owner_energy_joules_total while nothing of the owner ran."},
		idle_j, false, true},
	{{"kwhy_owner_held_seconds", KWHY_FAMILY_COUNTER, "seconds",
		 "Time in which the owner held the device."},
		held_s, false, true},
	{{"kwhy_owner_busy_seconds", KWHY_FAMILY_COUNTER, "seconds",
		 "Time in which kernels of the owner ran, by the driver's utilisation."},
		busy_s, false, true},
	{{"kwhy_owner_host_energy_joules", KWHY_FAMILY_COUNTER, "joules",
		 "Energy of a CPU or board domain by owner of devices, modelled by CPU time."},
		energy_j, true, false},
};

static const char *known(const char *text)
{
	return *text ? text : NULL;
}

static void add(struct kwhy_exposition *to, const struct row *row, const struct kwhy_owner *owner,
	const struct kwhy_store_meter *meter, const struct kwhy_owner_shown *shown)
{
	char device[16];
	const struct kwhy_label labels[KWHY_LABELS_MAX] = {
		{"kind", kwhy_owner_kind_name(owner->kind)},
		{"name", known(owner->name)},
		{"part", known(owner->part)},
		{"namespace", known(owner->space)},
		{"user", known(owner->user)},
		{row->is_host ? "domain" : "device", row->is_host ? meter->name : device},
		{row->is_host ? NULL : "uuid", meter->key},
		{NULL, NULL},
	};

	snprintf(device, sizeof(device), "%" PRId32, meter->index);
	kwhy_exposition_add(to, &row->family, labels, row->value(shown));
}

static void write_row(
	const struct kwhy_keeper_state *state, const struct row *row, struct kwhy_exposition *to)
{
	for (size_t i = 0; i < state->row_count; i++) {
		const struct kwhy_owner_row *owner = &state->rows[i];

		if (!owner->is_there || !owner->is_labelled)
			continue;
		if (row->of_programs && !kwhy_owner_is_program(owner->owner.kind) &&
			owner->owner.kind != KWHY_OWNER_OTHER)
			continue;
		for (size_t k = 0; k < owner->account_count; k++) {
			const struct kwhy_store_meter *meter = &state->meters[owner->accounts[k].meter];

			if (meter->is_host == row->is_host)
				add(to, row, &owner->owner, meter, &owner->accounts[k].shown);
		}
	}
}

void kwhy_owner_metrics_write(const struct kwhy_keeper_state *state, struct kwhy_exposition *to)
{
	static const struct kwhy_family failures = {"kwhy_accounts_failures", KWHY_FAMILY_COUNTER, "",
		"Transactions of the file of accounts that failed; what they held waits for the next."};
	const struct kwhy_label no_label = {NULL, NULL};

	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++)
		write_row(state, &rows[r], to);
	kwhy_exposition_add(to, &failures, &no_label, (double)state->store_failures);
}
