/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_DIALECTS_H
#define KWHY_IMPORT_POWER_DIALECTS_H

#include "import/power/amount.h"

#include <stddef.h>

/* Meaning of a column, a JSON key or a metric's name. */
enum kwhy_power_role {
	KWHY_POWER_ROLE_NONE,
	KWHY_POWER_ROLE_TIME,
	KWHY_POWER_ROLE_DATE, /* date of the time of day in KWHY_POWER_ROLE_TIME */
	KWHY_POWER_ROLE_HOST,
	KWHY_POWER_ROLE_GPU, /* an index, a UUID or a PCI address */
	KWHY_POWER_ROLE_UUID,
	KWHY_POWER_ROLE_PCI,
	KWHY_POWER_ROLE_RUN,	/* run of a window: windows of one run add up from one start */
	KWHY_POWER_ROLE_LENGTH, /* duration of a window, s */
	KWHY_POWER_ROLE_COUNT,	/* number of GPUs that a row sums up */
	KWHY_POWER_ROLE_PUE,	/* power usage effectiveness by which an energy was multiplied */
	/* The roles from here on are readings. */
	KWHY_POWER_ROLE_DRAW,	 /* NVML's power: the mean of the last second since Ampere (except GA100), the
				    present power before */
	KWHY_POWER_ROLE_AVERAGE, /* NVML's mean of the last second */
	KWHY_POWER_ROLE_INSTANT,
	KWHY_POWER_ROLE_COUNTER,   /* NVML's energy */
	KWHY_POWER_ROLE_AMD_POWER, /* power of the socket */
	KWHY_POWER_ROLE_AMD_COUNTER,
	KWHY_POWER_ROLE_WINDOW, /* energy of a window, of which the log states the duration */
	KWHY_POWER_ROLE_END
};

/* Whether rows are readings or windows, and whether a window's time is its start or its end. */
enum kwhy_power_shape { KWHY_POWER_READINGS, KWHY_POWER_WINDOWS_FROM, KWHY_POWER_WINDOWS_UP_TO };

/* A name in lower case; '#' stands for the GPU's index. */
struct kwhy_power_name {
	const char *name;
	enum kwhy_power_role role;
	const char *unit; /* unit where neither header nor cell names one; NULL: no reading */
};

#define KWHY_POWER_NAMES_MAX 8

/* A tool whose logs are read. */
struct kwhy_power_dialect {
	const char *tool;
	struct kwhy_power_name
		readings[KWHY_POWER_NAMES_MAX]; /* ends with a NULL name; these names identify the tool */
	enum kwhy_power_shape shape;
	bool has_entities; /* lines begin with "GPU 0" under "#Entity"; its names are too short for other logs
			    */
	bool cuts_seconds; /* its times are cut to whole seconds */
	const char *cure;  /* how to make a log with times and names of GPUs; follows "; " in messages */
};

extern const struct kwhy_power_dialect kwhy_power_dialects[];
extern const size_t kwhy_power_dialect_count;

struct kwhy_power_meaning {
	enum kwhy_power_role role;
	const struct kwhy_power_unit *unit;	  /* of a reading; else NULL */
	const struct kwhy_power_dialect *dialect; /* of a reading; else NULL */
	int32_t gpu;				  /* index of the GPU in the name; -1: not stated */
};

/* The dialect whose lines name entities. */
const struct kwhy_power_dialect *kwhy_power_dialect_of_entities(void);

/*
 * Reads the meaning of a name in a file of that dialect, such as "Power.Draw [W]", "Average Graphics Package
 * Power (W)" or "gpu0_energy"; dialect NULL: of any dialect without entities. The role is NONE where the name
 * is unknown.
 */
struct kwhy_power_meaning kwhy_power_name_read(
	const struct kwhy_power_dialect *dialect, struct kwhy_span name);

#endif
