/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LIVE_JOB_H
#define KWHY_CLI_LIVE_JOB_H

#include "base/status.h"
#include "cli/options.h"
#include "live/live.h"

/*
 * What the commands kwhy watch and kwhy serve, which run until a signal ends them, share: options, meters,
 * the thread that reads the meters (sampler), and the waiting for signals.
 */
struct kwhy_live_options {
	const char *devices, *replay;
	struct kwhy_strings meters;
	double interval_ms;
	/*
	 * true for kwhy serve: meters are read as rarely as possible without missing energy or an owner of a
	 * device, because nobody watches the figures all the time
	 */
	bool is_server;
	/*
	 * Called with `context` after the meters were opened and before a thread is started; NULL: nothing is
	 * called.
	 */
	void (*before_threads)(const void *context);
	const void *context;
};

void kwhy_live_options_init(struct kwhy_live_options *options, bool is_server);

/*
 * Rows of an option table that set the member `member`, a struct kwhy_live_options, of the options struct
 * `type`.
 */
#define KWHY_OPTION_ROWS_LIVE(type, member, interval_help)                                                 \
	{"device", 0, "LIST", "these devices alone, as their driver numbers them: 0,2", KWHY_OPTION_TEXT,  \
		offsetof(type, member.devices)},                                                           \
		{"meter", 0, "FILE", "a wall meter: power CSV that grows; may be given again",             \
			KWHY_OPTION_LIST, offsetof(type, member.meters)},                                  \
		{"power-file", 0, "FILE", "play a power CSV back instead of reading meters",               \
			KWHY_OPTION_TEXT, offsetof(type, member.replay)},                                  \
	{                                                                                                  \
		"interval", 0, "MS", interval_help, KWHY_OPTION_NUMBER, offsetof(type, member.interval_ms) \
	}

struct kwhy_live_job {
	struct kwhy_sensors *sensors;
	struct kwhy_sampler *sampler;
	struct kwhy_live *live;
	/*
	 * file descriptor (signalfd) that becomes readable when SIGINT, SIGTERM, SIGQUIT or, unless it is
	 * ignored, SIGHUP arrives
	 */
	int signals;
	/*
	 * times on CLOCK_MONOTONIC: of the last update of the figures, and of the next regular update; 0:
	 * there was no update yet
	 */
	int64_t ticked_ns, due_ns;
	int64_t busy_ns; /* time when the busy time of all CPUs was read last; 0: never */
	bool replayed;	 /* whether readings come from a file and not from meters */
};

/*
 * Opens meters and signals, and starts the sampler. From then on SIGINT, SIGTERM, SIGQUIT and, unless it is
 * ignored, SIGHUP are blocked, and SIGPIPE is ignored, so that writing to a closed pipe fails with an error.
 */
KWHY_MUST_USE enum kwhy_status kwhy_live_job_open(
	struct kwhy_live_job *job, const struct kwhy_live_options *options, struct kwhy_error *error);
void kwhy_live_job_close(struct kwhy_live_job *job);

/* Updates the live figures with the latest readings. */
KWHY_MUST_USE enum kwhy_status kwhy_live_job_tick(struct kwhy_live_job *job, struct kwhy_error *error);

/*
 * Regular updates of the live figures. kwhy_live_job_wait_ms() returns the time in ms until the next one, and
 * kwhy_live_job_tick_regularly() makes one. They are due `period_ms` apart, each READ_MS after a time at
 * which the sampler begins to read the meters that it reads once in `period_ms`.
 */
int kwhy_live_job_wait_ms(const struct kwhy_live_job *job);
KWHY_MUST_USE enum kwhy_status kwhy_live_job_tick_regularly(
	struct kwhy_live_job *job, int period_ms, struct kwhy_error *error);

/* Updates the live figures, unless the last update was less than `age_ms` ago. */
KWHY_MUST_USE enum kwhy_status kwhy_live_job_refresh(
	struct kwhy_live_job *job, int age_ms, struct kwhy_error *error);

#endif
