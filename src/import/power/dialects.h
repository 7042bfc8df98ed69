/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_DIALECTS_H
#define KWHY_IMPORT_POWER_DIALECTS_H

#include "import/power/amount.h"

#include <stddef.h>

/* What a column of a table, a JSON key or a metric states. */
enum kwhy_power_role {
	KWHY_POWER_ROLE_NONE,
	KWHY_POWER_ROLE_TIME,
	KWHY_POWER_ROLE_DATE, /* the date, if KWHY_POWER_ROLE_TIME is only a time of day */
	KWHY_POWER_ROLE_HOST,
	KWHY_POWER_ROLE_GPU, /* an index, a UUID or a PCI address */
	KWHY_POWER_ROLE_UUID,
	KWHY_POWER_ROLE_PCI,
	KWHY_POWER_ROLE_RUN,	/* id of the run that a window belongs to; the energy of each window of a run
				   counts from the start of the run */
	KWHY_POWER_ROLE_LENGTH, /* duration of a window in seconds */
	KWHY_POWER_ROLE_COUNT,	/* number of GPUs over which the energy in a row is summed */
	KWHY_POWER_ROLE_PUE,	/* power usage effectiveness (PUE), the factor by which the tool multiplied an
				   energy */
	/* All roles from here on are readings of power or energy. */
	/*
	 * nvmlDeviceGetPowerUsage(): on GPUs since Ampere, except GA100, the mean of the last second; on
	 * older GPUs the instantaneous power.
	 */
	KWHY_POWER_ROLE_DRAW,
	KWHY_POWER_ROLE_AVERAGE, /* NVML's mean power of the last second */
	KWHY_POWER_ROLE_INSTANT,
	KWHY_POWER_ROLE_COUNTER,   /* NVML's energy counter */
	KWHY_POWER_ROLE_AMD_POWER, /* power of the whole package of an AMD GPU */
	KWHY_POWER_ROLE_AMD_COUNTER,
	KWHY_POWER_ROLE_WINDOW, /* energy of a window, an interval whose duration the log states */
	KWHY_POWER_ROLE_END
};

/*
 * Whether a row of a tool is a reading at one time or the energy of a window, and whether the time in the row
 * of a window is the window's start (FROM) or its end (UP_TO).
 */
enum kwhy_power_shape { KWHY_POWER_READINGS, KWHY_POWER_WINDOWS_FROM, KWHY_POWER_WINDOWS_UP_TO };

/* A name in a log, in lower case. '#' stands for the index of a GPU. */
struct kwhy_power_name {
	const char *name;
	enum kwhy_power_role role;
	const char *unit; /* unit of the reading if neither the header nor the cell states one; NULL: the name
			     is not that of a reading */
};

#define KWHY_POWER_NAMES_MAX 8

/* Format of the logs of one tool. */
struct kwhy_power_dialect {
	const char *tool;
	/* Names of readings, by which the tool is recognised. The list ends with a name that is NULL. */
	struct kwhy_power_name readings[KWHY_POWER_NAMES_MAX];
	enum kwhy_power_shape shape;
	/*
	 * Each line has a device such as "GPU 0" in a column "#Entity". The names of this tool's readings,
	 * such as "power", are ambiguous, so they are recognised only in a log with such a column.
	 */
	bool has_entities;
	bool has_metrics;  /* the tool's readings are metrics of Prometheus */
	bool cuts_seconds; /* the tool writes whole seconds, rounded down */
	const char *cure;  /* advice on how to make a usable log with this tool; follows "; " in messages */
};

extern const struct kwhy_power_dialect kwhy_power_dialects[];
extern const size_t kwhy_power_dialect_count;

struct kwhy_power_meaning {
	enum kwhy_power_role role;
	const struct kwhy_power_unit *unit;	  /* unit of a reading; otherwise NULL */
	const struct kwhy_power_dialect *dialect; /* tool of a reading; otherwise NULL */
	int32_t gpu; /* index of the GPU in the name of the reading; -1: the name contains none */
};

/* The only dialect with `has_entities`, and the only one with `has_metrics`. */
const struct kwhy_power_dialect *kwhy_power_dialect_of_entities(void);
const struct kwhy_power_dialect *kwhy_power_dialect_of_metrics(void);

/*
 * The meaning of a name such as "Power.Draw [W]", "Average Graphics Package Power (W)" or "gpu0_energy" in a
 * log of the dialect; NULL: in a log of any dialect without has_entities. The role is KWHY_POWER_ROLE_NONE if
 * the name is unknown.
 */
struct kwhy_power_meaning kwhy_power_name_read(
	const struct kwhy_power_dialect *dialect, struct kwhy_span name);

#endif
