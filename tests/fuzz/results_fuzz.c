/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the readers of results that kwhy wrote: report.json, stat.json, projections of whatif, and bench
 * ops. The input is read as each of them.
 */
#include "import/results/operations.h"
#include "import/results/projection.h"
#include "import/results/run.h"
#include "import/results/side.h"
#include "model/side.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void check_run(const struct kwhy_read_run *run)
{
	for (size_t i = 0; i < run->work_count; i++)
		expect(run->work[i].unit);
	for (size_t i = 0; i < run->phase_count; i++)
		expect(run->phases[i].name && !(run->phases[i].seconds < 0));
	(void)kwhy_read_work_of(run, "tokens", (double)NAN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	const char *json = (const char *)data;
	struct kwhy_projection_check check = {0};
	struct kwhy_read_run run = {0};
	struct kwhy_side side = {0};
	struct kwhy_read_ops ops;
	struct kwhy_error error = {0};

	if (kwhy_read_run_of(&run, "fuzz.json", json, length, &error))
		expect(error.text[0]);
	else
		check_run(&run);
	kwhy_read_run_done(&run);
	error.text[0] = '\0';
	expect(!kwhy_side_read(&side, "fuzz.json", json, length, &error) || error.text[0]);
	kwhy_side_done(&side);
	error.text[0] = '\0';
	expect(!kwhy_projection_check_read(&check, "fuzz.json", json, length, &error) || error.text[0]);
	kwhy_projection_check_done(&check);
	error.text[0] = '\0';
	expect(!kwhy_read_ops_of(&ops, "fuzz.json", json, length, "fp32", "memory-copy", &error) ||
		error.text[0]);
	return 0;
}
