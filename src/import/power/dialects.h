/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_DIALECTS_H
#define KWHY_IMPORT_POWER_DIALECTS_H

#include "import/power/amount.h"

#include <stddef.h>

/* What a column, a key of JSON or a metric's name stands for. */
enum kwhy_power_role {
	KWHY_POWER_ROLE_NONE,
	KWHY_POWER_ROLE_TIME,
	KWHY_POWER_ROLE_DATE, /* of a time of day in KWHY_POWER_ROLE_TIME */
	KWHY_POWER_ROLE_HOST,
	KWHY_POWER_ROLE_GPU, /* a number, or what has the shape of one of the two below */
	KWHY_POWER_ROLE_UUID,
	KWHY_POWER_ROLE_PCI,
	KWHY_POWER_ROLE_RUN,	/* of windows: rows with the same one count up from one start */
	KWHY_POWER_ROLE_LENGTH, /* of a window, seconds */
	KWHY_POWER_ROLE_COUNT,	/* GPUs that a row is the sum of */
	KWHY_POWER_ROLE_PUE,	/* by which an energy was multiplied */
	/* From here on readings. */
	KWHY_POWER_ROLE_DRAW, /* NVML's power: a mean of the last second from Ampere on (not on GA100), before
				 of now */
	KWHY_POWER_ROLE_AVERAGE, /* NVML's mean of the last second */
	KWHY_POWER_ROLE_INSTANT,
	KWHY_POWER_ROLE_COUNTER,   /* NVML's energy */
	KWHY_POWER_ROLE_AMD_POWER, /* of the socket */
	KWHY_POWER_ROLE_AMD_COUNTER,
	KWHY_POWER_ROLE_WINDOW, /* energy of a window */
	KWHY_POWER_ROLE_END
};

/* Where its rows' time stands in a window. */
enum kwhy_power_shape { KWHY_POWER_READINGS, KWHY_POWER_WINDOWS_FROM, KWHY_POWER_WINDOWS_UP_TO };

/* A name in small letters; '#' stands for a number, the GPU's. */
struct kwhy_power_name {
	const char *name;
	enum kwhy_power_role role;
	const char *unit; /* where neither head nor cell names one; NULL: of no reading */
};

#define KWHY_POWER_NAMES_MAX 8

/* One row a tool whose logs are read. */
struct kwhy_power_dialect {
	const char *tool;
	struct kwhy_power_name
		readings[KWHY_POWER_NAMES_MAX]; /* ends with a NULL name; these tell the tool */
	enum kwhy_power_shape shape;
	bool has_entities; /* lines begin with "GPU 0" under "#Entity": its names are too short for other
			      forms */
	bool cuts_seconds; /* its times are whole seconds, the rest cut off */
	const char *cure;  /* how a log with times and names of GPUs is made, to stand behind "; " */
};

extern const struct kwhy_power_dialect kwhy_power_dialects[];
extern const size_t kwhy_power_dialect_count;

struct kwhy_power_meaning {
	enum kwhy_power_role role;
	const struct kwhy_power_unit *unit;	  /* of readings */
	const struct kwhy_power_dialect *dialect; /* of readings */
	int32_t gpu;				  /* in the name; -1: none */
};

/* The dialect whose lines name entities. */
const struct kwhy_power_dialect *kwhy_power_dialect_of_entities(void);

/*
 * What a name says in a file of that dialect; NULL: of any that has no entities.
 * "Power.Draw [W]", "Average Graphics Package Power (W)", "gpu0_energy": role NONE where it says nothing.
 */
struct kwhy_power_meaning kwhy_power_name_read(
	const struct kwhy_power_dialect *dialect, struct kwhy_span name);

#endif
