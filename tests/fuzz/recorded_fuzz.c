/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_input.h"

/* Fuzzes whole files of a recording, most of which the checksums must reject. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	char path[64];
	int file = input_open(data, length, path);

	input_read_both_ways(&kwhy_reader_kwhy, path);
	close(file);
	return 0;
}
