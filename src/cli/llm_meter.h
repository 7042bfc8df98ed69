/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LLM_METER_H
#define KWHY_CLI_LLM_METER_H

#include "cli/stat_meter.h"

/* What all GPUs used together in one window. NAN where not known. */
struct kwhy_llm_energy {
	double seconds;
	double joules, low_j, high_j;
	const char *basis;   /* NULL: unknown */
	const char *missing; /* why joules are unknown; NULL: they are known */
};

/* The meters of this host's GPUs while a server is under load. */
struct kwhy_llm_meter {
	bool open;
	struct kwhy_stat_meter meter;
	struct kwhy_stat_domain *domains;
	const char *missing; /* why there is no energy at all; NULL: there is */
};

/* No GPU with a meter is KWHY_OK: `missing` says so. Close also after a failure. */
KWHY_MUST_USE enum kwhy_status kwhy_llm_meter_open(
	struct kwhy_llm_meter *meter, const char *devices, const char *replay_path, struct kwhy_error *error);
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
