/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	char path[64];
	int file = input_open(data, length, path);

	kwhy_reader_rocprof_json.probe(path, data, length < 4096 ? length : 4096);
	input_read_both_ways(&kwhy_reader_rocprof_json, path);
	close(file);
	return 0;
}
