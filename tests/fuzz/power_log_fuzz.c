/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_input.h"

/*
 * A trace with an activity of one second on each of two GPUs, of which only GPU 0 has a UUID and a
 * PCI address. The fuzzed power log of another tool is attributed to this trace.
 */
static const char trace[] = "# device 0 uuid=GPU-11111111-2222-3333-4444-555555555550 pci=0000:30:00.0\n"
			    "kind,device,start_ns,end_ns\n"
			    "kernel,0,1795245134000000000,1795245135000000000\n"
			    "kernel,1,1795245134000000000,1795245135000000000\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	static const char *const stated[] = {"1=node1/1"};
	struct kwhy_import_options options = {.partial = length % 2,
		.power_zone = length % 3 ? NULL : "UTC",
		.power_devices = stated,
		.power_device_count = length % 5 == 0};
	struct kwhy_recording *recording;
	struct kwhy_error error = {0};
	enum kwhy_status status;
	char path[64], log[64];
	int file = input_open(trace, sizeof(trace) - 1, path), log_file = input_open(data, length, log);

	if (kwhy_recording_new(&recording, &error) || kwhy_reader_csv.read(recording, path, &options, &error))
		abort();
	status = kwhy_import_power(recording, log, &options, &error);
	input_check(recording, status, &error);
	close(log_file);
	close(file);
	return 0;
}
