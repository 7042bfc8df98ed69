/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_input.h"

/*
 * Traces with one activity of one second on a device, to which the fuzzed power CSV is attributed: in Unix
 * time or, if the input has the word "clock", on another clock and with two devices.
 */
static const char trace_unix[] = "kind,device,start_ns,end_ns\n"
				 "kernel,0,1795245124000000000,1795245125000000000\n";
static const char trace_other[] =
	"# clock other boot\n"
	"kind,device,start_ns,end_ns\n"
	"kernel,0,500000000000000,500001000000000\nkernel,1,500000000000000,500001000000000\n";

static void read_beside(const char *trace, size_t trace_length, const char *power, bool partial)
{
	struct kwhy_import_options options = {.partial = partial};
	struct kwhy_recording *recording;
	struct kwhy_error error = {0};
	enum kwhy_status status;
	char path[64];
	int file = input_open(trace, trace_length, path);

	if (kwhy_recording_new(&recording, &error) || kwhy_reader_csv.read(recording, path, &options, &error))
		abort();
	close(file);
	status = kwhy_import_power(recording, power, &options, &error);
	input_check(recording, status, &error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	char path[64];
	int file = input_open(data, length, path);
	bool partial = length % 2;

	if (memmem(data, length, "clock", 5))
		read_beside(trace_other, sizeof(trace_other) - 1, path, partial);
	else
		read_beside(trace_unix, sizeof(trace_unix) - 1, path, partial);
	close(file);
	return 0;
}
