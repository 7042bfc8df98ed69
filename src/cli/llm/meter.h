/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LLM_METER_H
#define KWHY_CLI_LLM_METER_H

#include "base/arena.h"
#include "cli/run/stat_meter.h"
#include "llm/scraper.h"
#include "llm/work.h"

/*
 * Sum of the energies of all GPUs in one window of `seconds`, with the bounds of its interval, J; NAN:
 * unknown. Strings are valid until the meter is closed.
 */
struct kwhy_llm_energy {
	double seconds;
	double joules, low_j, high_j;
	const char *basis;   /* what measured the joules, such as "counter+power"; NULL: they are unknown */
	const char *missing; /* why joules are unknown; NULL: they are known */
};

/* Cumulative energy over successive windows, about one reading per second. Must be zero-initialised. */
struct kwhy_llm_series {
	struct kwhy_llm_reading *items;
	size_t count, capacity;
	bool is_broken; /* the energy of a part of the windows is unknown */
};
void kwhy_llm_series_done(struct kwhy_llm_series *series);

/*
 * The meters of the server's GPUs while the server is under load: either meters of this host, or those that
 * a `kwhy serve` on another host reads.
 */
struct kwhy_llm_meter {
	/* reader of another host's meters; NULL: this host's meters are used */
	struct kwhy_llm_scraper *remote;
	struct kwhy_arena arena; /* memory of the texts that say why energy is missing */
	bool open;
	struct kwhy_stat_meter meter;
	struct kwhy_stat_domain *domains;
	const char *missing; /* why no energy can be measured; NULL: it can */
};

/*
 * Opens the meters of this host. It also returns KWHY_OK if no GPU has a meter, and meter->missing then
 * states why. Close the meter after a failure, too.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_meter_open(
	struct kwhy_llm_meter *meter, const char *devices, const char *replay_path, struct kwhy_error *error);
/*
 * Opens the meters of another host. Fails if they do not answer. If they do not answer later, during a
 * window, kwhy_llm_meter_window() succeeds and the energy of this window is unknown.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_meter_open_remote(
	struct kwhy_llm_meter *meter, const struct kwhy_llm_meters *meters, struct kwhy_error *error);
void kwhy_llm_meter_close(struct kwhy_llm_meter *meter);

/*
 * Takes the new readings of this host's meters; does nothing for those of another host. `meter` is a struct
 * kwhy_llm_meter, as in kwhy_llm_tick.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_meter_tick(void *meter, struct kwhy_error *error);

/*
 * Waits until the meters have readings for the whole window, gets the window's energy, and adds the
 * window's readings to `series`. The windows of a series must follow each other without a gap. Each window
 * must be later than the one before, and have ended at most a minute ago.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_meter_window(struct kwhy_llm_meter *meter, int64_t start_ns,
	int64_t end_ns, struct kwhy_llm_series *series, struct kwhy_llm_energy *out,
	struct kwhy_error *error);

/*
 * Waits for `seconds`, during which the caller must leave the server idle, and gets the energy of this time.
 * Does not wait if there are no meters.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_meter_rest(struct kwhy_llm_meter *meter, double seconds,
	struct kwhy_llm_series *series, struct kwhy_llm_energy *out, struct kwhy_error *error);

/*
 * Energy above idle: `gross` minus the mean power of `idle` times the duration of the window of `gross`. The
 * half-widths of both intervals are added.
 */
struct kwhy_llm_energy kwhy_llm_energy_net(
	const struct kwhy_llm_energy *gross, const struct kwhy_llm_energy *idle);

#endif
