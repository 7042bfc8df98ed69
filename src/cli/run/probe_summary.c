/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/probe_summary.h"

#include <inttypes.h>

enum { REASONS_MAX = 3 };

static double percent(const struct kwhy_probing *probing, int64_t busy_ns)
{
	return probing->busy_ns ? 100.0 * (double)busy_ns / (double)probing->busy_ns : 0;
}

static void write_bursts(const struct kwhy_probing *probing, struct kwhy_text *out)
{
	if (!probing->bursts) {
		kwhy_text_addf(out, "no kernel was repeated%s\n",
			probing->busy_ns ? "" : ": no kernel of the program was recorded");
		return;
	}
	kwhy_text_addf(out, "%" PRIu64 " bursts of %" PRIu64 " repeats took %.1f s\n", probing->bursts,
		probing->repeats, 1e-9 * (double)probing->spent_ns);
}

static void write_accounts(
	const struct kwhy_probe_summary *summary, const struct kwhy_probing *probing, struct kwhy_text *out)
{
	const struct kwhy_probing_parts parts = kwhy_probing_count(probing, summary->within_ratio);

	if (!parts.all.accounts)
		return;
	kwhy_text_addf(out,
		"kernels by size, shares of their busy time: %zu of %zu were repeated%s (%.1f %%); by the "
		"time of the repeats, the power in bursts of %zu is known within %g %% (%.1f %%)\n",
		parts.probed.accounts, parts.all.accounts,
		summary->earlier->count ? " in this or an earlier run" : "",
		percent(probing, parts.probed.busy_ns), parts.known.accounts, 100 * summary->within_ratio,
		percent(probing, parts.known.busy_ns));
	if (parts.waiting.accounts)
		kwhy_text_addf(out,
			"without the %.1f %% of kernels that only wait, that of %.1f %% is known\n",
			percent(probing, parts.waiting.busy_ns), 100 * kwhy_probing_known_of_work(&parts));
}

static void write_unprobed(const struct kwhy_probing *probing, struct kwhy_text *out)
{
	struct kwhy_probing_part parts[REASONS_MAX];
	const size_t count = kwhy_probing_list_unprobed(probing, parts, REASONS_MAX);

	for (size_t i = 0; i < count; i++)
		kwhy_text_addf(out, "not repeated: %.1f %%, %zu kernel%s: %s\n",
			percent(probing, parts[i].busy_ns), parts[i].accounts,
			parts[i].accounts == 1 ? "" : "s", parts[i].reason);
}

static void write_checks(const struct kwhy_probing *probing, struct kwhy_text *out)
{
	if (probing->different)
		kwhy_text_addf(out,
			"after repeats of %.300s memory was not what it had been: the results of this run "
			"are not to be trusted; leave that kernel out with --skip, by its name in the "
			"report\n",
			kwhy_names_get(&probing->names, probing->different_name));
	else if (probing->checked)
		kwhy_text_addf(out,
			"all device memory was the same after each of %" PRIu64 " bursts that were checked\n",
			probing->checked);
	else if (probing->bursts)
		kwhy_text_add(out, "no burst was checked\n");
}

static void write_next(const struct kwhy_probe_summary *summary, struct kwhy_text *out)
{
	kwhy_text_addf(out, "recorded in %s; all of it: kwhy report -v %s", summary->path, summary->path);
	for (size_t i = 0; i < summary->earlier->count; i++)
		kwhy_text_addf(out, " --powers %s", summary->earlier->items[i]);
	kwhy_text_add(out, "\n");
}

void kwhy_probe_summary_write(
	const struct kwhy_probe_summary *summary, const struct kwhy_probing *probing, struct kwhy_text *out)
{
	write_bursts(probing, out);
	write_accounts(summary, probing, out);
	write_unprobed(probing, out);
	write_checks(probing, out);
	write_next(summary, out);
}
