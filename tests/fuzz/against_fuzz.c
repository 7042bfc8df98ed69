/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the reader of the predictions that kwhy bench pairs --against compares with a measurement. The
 * measurement is of two GPUs.
 */
#include "cli/bench/pairs_simulators.h"
#include "pairs/analysis.h"
#include "trace_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct kwhy_pairs *pairs = kwhy_pairs_new();
	struct kwhy_text text = {0};
	struct kwhy_error error = {0};
	char path[64];
	const int file = input_open(data, length, path);

	if (!pairs)
		abort();
	pairs->gpu_count = 2;
	if (kwhy_pairs_hold_against(pairs, path, &text, &error) ? !error.text[0] : !text.length)
		abort();
	kwhy_text_done(&text);
	kwhy_pairs_free(pairs);
	close(file);
	return 0;
}
