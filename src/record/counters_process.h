/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORD_COUNTERS_PROCESS_H
#define KWHY_RECORD_COUNTERS_PROCESS_H

#include "base/status.h"
#include "sensor/sensor.h"

#include <limits.h>
#include <stdint.h>

/*
 * The process that samples the performance counters of one device. It is a child of the recorder, and they
 * talk by a socket that keeps messages whole. The recorder sends orders, and shuts its side down to end the
 * sampling. The process answers the first order when it samples or has failed, and again at its end.
 */
struct kwhy_record_counters_order {
	int64_t start_mono_ns, end_mono_ns; /* samples outside this window are not recorded */
	double share;	      /* share of the time that is sampled, 0 to 1; in the first order */
	uint64_t limit_bytes; /* largest size of the file; 0: no limit; in the first order */
	char path[PATH_MAX];  /* path of the file, which must not exist; in the first order */
};

struct kwhy_record_counters_answer {
	bool is_end;		 /* the process has ended its file */
	struct kwhy_error error; /* error.status KWHY_OK: it has not failed so far */
	int64_t cpu_ns;		 /* processor time since the answer to the first order */
};

/* Runs the process and ends it. It writes nothing to the recorder's output streams. */
_Noreturn void kwhy_record_counters_process(
	int socket, const struct kwhy_sensor_device *device, const char *producer);

#endif
