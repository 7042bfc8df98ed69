/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORD_COUNTERS_PROCESS_H
#define KWHY_RECORD_COUNTERS_PROCESS_H

#include "base/status.h"
#include "sensor/sensor.h"

#include <limits.h>
#include <stdint.h>

/*
 * The process that samples the performance counters of one device. It is a child of the recorder, connected
 * to it by a SOCK_SEQPACKET socket. The recorder sends orders, and shuts its side down to end the sampling.
 * The process sends an answer when, after the first order, it samples or has failed, and another one when its
 * file is complete.
 */
struct kwhy_record_counters_order {
	int64_t start_mono_ns, end_mono_ns; /* samples outside this window are not recorded */
	double share;	      /* share of the time that is sampled, 0 to 1; in the first order */
	uint64_t limit_bytes; /* largest size of the file; 0: no limit; in the first order */
	char path[PATH_MAX];  /* path of the file, which must not exist; in the first order */
};

struct kwhy_record_counters_answer {
	bool is_end;		 /* the process has ended its file */
	struct kwhy_error error; /* why it has failed; error.status KWHY_OK: it has not */
	int64_t cpu_ns;		 /* processor time since the answer to the first order */
};

/*
 * Does the work of the child process and exits. It writes nothing to the output streams that it has
 * inherited.
 */
_Noreturn void kwhy_record_counters_process(
	int socket, const struct kwhy_sensor_device *device, const char *producer);

#endif
