/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the tables that the commands of kwhy model read. */
#include "cli/model/csv.h"
#include "trace_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	static const struct kwhy_csv_column columns[] = {
		{"time_s", true}, {"energy_j", false}, {"name", true}, {"unit", false}};
	struct kwhy_model_csv table = {0};
	struct kwhy_error error = {0};
	char path[64];
	const int file = input_open(data, length, path);

	if (kwhy_model_csv_read(path, columns, 2, 2, &table, &error)) {
		if (!error.text[0])
			abort();
	} else {
		for (size_t row = 0; row < table.row_count; row++)
			for (size_t column = 0; column < 2; column++) {
				(void)kwhy_model_csv_number(&table, row, column);
				if (!kwhy_model_csv_word(&table, row, column))
					abort();
			}
	}
	kwhy_model_csv_done(&table);
	close(file);
	return 0;
}
