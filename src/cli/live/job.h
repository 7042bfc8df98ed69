/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LIVE_JOB_H
#define KWHY_CLI_LIVE_JOB_H

#include "base/status.h"
#include "cli/options.h"
#include "live/live.h"

/* Options and state of commands that run until they are interrupted: meters, their sampler, signals. */
struct kwhy_live_options {
	const char *devices, *replay;
	struct kwhy_strings meters;
	double interval_ms;
	/*
	 * Nobody looks at the figures all the time, so meters are read as rarely as no energy and no owner is
	 * missed.
	 */
	bool is_server;
	/*
	 * Called after the meters were opened and before a thread is started. NULL: nothing is called.
	 * `context` is passed to it.
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
	/* file descriptor that becomes readable when SIGINT, SIGTERM or SIGHUP arrives */
	int signals;
	/* times on CLOCK_MONOTONIC: of the last update, and of the next regular one; 0: there was none */
	int64_t ticked_ns, due_ns;
	int64_t busy_ns; /* time when the busy time of all CPUs was read last; 0: never */
	bool replayed;	 /* whether readings come from a file and not from meters */
};

/*
 * Opens meters, sampler and signals. From then on SIGINT, SIGTERM and SIGHUP are blocked, and writing to a
 * closed pipe fails with an error.
 */
KWHY_MUST_USE enum kwhy_status kwhy_live_job_open(
	struct kwhy_live_job *job, const struct kwhy_live_options *options, struct kwhy_error *error);
void kwhy_live_job_close(struct kwhy_live_job *job);

/* Updates the live figures with the latest readings. */
KWHY_MUST_USE enum kwhy_status kwhy_live_job_tick(struct kwhy_live_job *job, struct kwhy_error *error);

/*
 * Regular updates: gets the time until the next one, ms, and makes it. They are `period_ms` apart, at times
 * at which the sampler has just read the meters that it reads that often.
 */
int kwhy_live_job_wait_ms(const struct kwhy_live_job *job);
KWHY_MUST_USE enum kwhy_status kwhy_live_job_tick_regularly(
	struct kwhy_live_job *job, int period_ms, struct kwhy_error *error);

/* Updates the live figures, unless the last update was less than `age_ms` ago. */
KWHY_MUST_USE enum kwhy_status kwhy_live_job_refresh(
	struct kwhy_live_job *job, int age_ms, struct kwhy_error *error);

#endif
