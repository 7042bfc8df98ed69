/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LLM_METER_H
#define KWHY_CLI_LLM_METER_H

#include "base/arena.h"
#include "cli/run/stat_meter.h"
#include "llm/scraper.h"

/* What all GPUs used together in one window. NAN where not known. Words last until the meter is closed. */
struct kwhy_llm_energy {
	double seconds;
	double joules, low_j, high_j;
	const char *basis;   /* NULL: unknown */
	const char *missing; /* why joules are unknown; NULL: they are known */
};

/* The meters of the server's GPUs while it is under load: this host's, or those that a kwhy serve reads. */
struct kwhy_llm_meter {
	struct kwhy_llm_scraper *remote; /* NULL: this host's */
	struct kwhy_arena arena;	 /* words of what is missing */
	bool open;
	struct kwhy_stat_meter meter;
	struct kwhy_stat_domain *domains;
	const char *missing; /* why there is no energy at all; NULL: there is */
};

/* No GPU with a meter is KWHY_OK: `missing` says so. Close also after a failure. */
KWHY_MUST_USE enum kwhy_status kwhy_llm_meter_open(
	struct kwhy_llm_meter *meter, const char *devices, const char *replay_path, struct kwhy_error *error);
/* Meters of another host. Fails where they do not answer; what is missing later is of its window alone. */
KWHY_MUST_USE enum kwhy_status kwhy_llm_meter_open_remote(
	struct kwhy_llm_meter *meter, const struct kwhy_llm_meters *meters, struct kwhy_error *error);
void kwhy_llm_meter_close(struct kwhy_llm_meter *meter);

/* A kwhy_llm_tick: takes what the meters have shown. */
KWHY_MUST_USE enum kwhy_status kwhy_llm_meter_tick(void *meter, struct kwhy_error *error);

/* Waits until the meters have shown the window; windows in order of time, each at most a minute ago. */
KWHY_MUST_USE enum kwhy_status kwhy_llm_meter_window(struct kwhy_llm_meter *meter, int64_t start_ns,
	int64_t end_ns, struct kwhy_llm_energy *out, struct kwhy_error *error);

/* Lets a time pass and gives what was used in it. */
KWHY_MUST_USE enum kwhy_status kwhy_llm_meter_rest(
	struct kwhy_llm_meter *meter, double seconds, struct kwhy_llm_energy *out, struct kwhy_error *error);

/* `gross` less what `idle` would have used in the same time; both intervals count. */
struct kwhy_llm_energy kwhy_llm_energy_net(
	const struct kwhy_llm_energy *gross, const struct kwhy_llm_energy *idle);

#endif
