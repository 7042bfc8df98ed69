/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LLM_METER_H
#define KWHY_CLI_LLM_METER_H

#include "base/arena.h"
#include "cli/run/stat_meter.h"
#include "llm/scraper.h"

/*
 * Energy of all GPUs together in one window. NAN where unknown. Strings are valid until the meter is closed.
 */
struct kwhy_llm_energy {
	double seconds;
	double joules, low_j, high_j;
	const char *basis;   /* NULL: unknown */
	const char *missing; /* why joules are unknown; NULL: they are known */
};

/* The meters of the server's GPUs while it is under load: this host's, or those that a kwhy serve reads. */
struct kwhy_llm_meter {
	struct kwhy_llm_scraper *remote; /* NULL: this host's meters */
	struct kwhy_arena arena;	 /* holds the texts on missing meters */
	bool open;
	struct kwhy_stat_meter meter;
	struct kwhy_stat_domain *domains;
	const char *missing; /* why no energy can be measured; NULL: it can */
};

/*
 * Opens the meters. KWHY_OK also where no GPU has a meter; `missing` then says so. Close after a failure,
 * too.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_meter_open(
	struct kwhy_llm_meter *meter, const char *devices, const char *replay_path, struct kwhy_error *error);
/*
 * Opens the meters of another host. Fails where they do not answer. Readings that are missing later affect
 * only their window.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_meter_open_remote(
	struct kwhy_llm_meter *meter, const struct kwhy_llm_meters *meters, struct kwhy_error *error);
void kwhy_llm_meter_close(struct kwhy_llm_meter *meter);

/* A kwhy_llm_tick: takes the new readings of the meters. */
KWHY_MUST_USE enum kwhy_status kwhy_llm_meter_tick(void *meter, struct kwhy_error *error);

/* Waits until the meters cover the window. Windows are in order of time and end at most a minute ago. */
KWHY_MUST_USE enum kwhy_status kwhy_llm_meter_window(struct kwhy_llm_meter *meter, int64_t start_ns,
	int64_t end_ns, struct kwhy_llm_energy *out, struct kwhy_error *error);

/* Waits for `seconds` and gives the energy used in that time. */
KWHY_MUST_USE enum kwhy_status kwhy_llm_meter_rest(
	struct kwhy_llm_meter *meter, double seconds, struct kwhy_llm_energy *out, struct kwhy_error *error);

/* `gross` less the energy at the power of `idle` over the same time; the interval combines both. */
struct kwhy_llm_energy kwhy_llm_energy_net(
	const struct kwhy_llm_energy *gross, const struct kwhy_llm_energy *idle);

#endif
