/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/probe_known.h"

#include "base/probe_width.h"
#include "import/demangle.h"
#include "import/import.h"
#include "record/bursts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum kwhy_status add_earlier(struct kwhy_probing *probing, const char *path, struct kwhy_error *error)
{
	const struct kwhy_import_options options = {0};
	struct kwhy_recording *recording = NULL;
	enum kwhy_status status = kwhy_recording_new(&recording, error);

	if (!status)
		status = kwhy_import_trace(recording, path, &options, error);
	if (!status)
		status = kwhy_recording_finish(recording, error);
	if (!status && !recording->burst_count)
		status = kwhy_fail(error, KWHY_E_INPUT,
			"--append: %.300s holds no repeated kernels; name a recording of kwhy probe", path);
	if (!status)
		status = kwhy_probing_add(probing, recording, true, error);
	kwhy_recording_free(recording);
	return status;
}

/*
 * The account in `probing` of the kernel that a burst repeated; NULL: `probing` has no account of it.
 * `probing` has demangled names, as recordings do, but kernel->name is mangled, as the injected library knows
 * it.
 */
static const struct kwhy_probing_account *account_of(
	const struct kwhy_probing *probing, const struct kwhy_record_burst_kernel *kernel)
{
	char *plain = kwhy_demangle(kernel->name, strlen(kernel->name));
	const struct kwhy_probing_account *account = kwhy_probing_find(
		probing, plain ? plain : kernel->name, kernel->blocks, kernel->threads_per_block);

	free(plain);
	return account;
}

static void list(const struct kwhy_probing *probing, const struct kwhy_record_burst_kernel *kernel,
	struct kwhy_text *out)
{
	const struct kwhy_probing_account *account = kernel->name && !strpbrk(kernel->name, "\t\n")
		? account_of(probing, kernel)
		: NULL;

	if (account && account->bursts >= KWHY_PROBE_BURSTS_MIN && account->repeated_ns > 0)
		kwhy_text_addf(out, "%.6f\t%u\t%u\t%s\n",
			sqrt(kwhy_probe_width_squared(account->bursts, account->repeated_ns)), kernel->blocks,
			kernel->threads_per_block, kernel->name);
}

enum kwhy_status kwhy_probe_known_list(struct kwhy_probing *probing, const struct kwhy_strings *earlier,
	struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_record_burst_kernels kernels = {0};
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < earlier->count; i++)
		status = add_earlier(probing, earlier->items[i], error);
	for (size_t i = 0; !status && i < earlier->count; i++)
		status = kwhy_record_burst_kernels_read(&kernels, earlier->items[i], error);
	for (size_t i = 0; !status && i < kernels.count; i++)
		list(probing, &kernels.rows[i], out);
	kwhy_record_burst_kernels_done(&kernels);
	return status ? status : kwhy_text_check(out, error);
}
