/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/gaps.h"

static int64_t at_least(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void add_host(struct kwhy_gap_cause *cause, int64_t start_ns, int64_t end_ns)
{
	cause->host_ns += end_ns - start_ns;
	if (end_ns - start_ns > cause->host_end_ns - cause->host_start_ns) {
		cause->host_start_ns = start_ns;
		cause->host_end_ns = end_ns;
	}
}

/*
 * Adds the part of an interval between two calls that lies in the gap: to launch_ns if the whole interval is
 * shorter than spacing_ns, else to host_ns.
 */
static void add_stretch(struct kwhy_gap_cause *cause, int64_t start_ns, int64_t end_ns, double spacing_ns)
{
	int64_t inside_ns = at_least(start_ns, cause->start_ns);

	if (end_ns <= inside_ns)
		return;
	if ((double)(end_ns - start_ns) < spacing_ns)
		cause->launch_ns += end_ns - inside_ns;
	else
		add_host(cause, inside_ns, end_ns);
}

/*
 * Adds the part of a call that lies in the gap and before end_ns: to wait_ns, launch_ns or host_ns; a call
 * that allocates or frees memory without a wait adds nothing.
 */
static void add_call(struct kwhy_gap_cause *cause, const struct kwhy_detect_view *view, uint32_t call,
	int64_t end_ns, double spacing_ns)
{
	const struct kwhy_calls *calls = &view->recording->calls;
	int64_t start_ns = at_least(calls->start_ns[call], cause->start_ns);

	if (end_ns <= start_ns)
		return;
	if (kwhy_detect_view_is_wait(view, call))
		cause->wait_ns += end_ns - start_ns;
	else if (calls->class[call] == KWHY_CALL_ALLOC || calls->class[call] == KWHY_CALL_FREE)
		return;
	else if (calls->class[call] == KWHY_CALL_LAUNCH || (double)(end_ns - start_ns) < spacing_ns)
		cause->launch_ns += end_ns - start_ns;
	else
		add_host(cause, start_ns, end_ns);
}

/*
 * Walks backwards from the start of the issuing call to the beginning of the gap, and adds the thread's
 * outermost calls and the intervals between them. Sets cause->wait to the last wait among them.
 */
static void walk_back(const struct kwhy_detect_view *view, struct kwhy_gap_cause *cause, double spacing_ns)
{
	const struct kwhy_calls *calls = &view->recording->calls;
	size_t first = calls->first[calls->thread[cause->call]];
	int64_t cursor_ns = calls->start_ns[cause->call];
	size_t call = cause->call;

	while (cursor_ns > cause->start_ns) {
		int64_t end_ns;

		if (call == first) {
			add_stretch(cause, cause->start_ns, cursor_ns, spacing_ns);
			return;
		}
		call = view->outer[call - 1];
		end_ns = calls->end_ns[call] < cursor_ns ? calls->end_ns[call] : cursor_ns;
		add_stretch(cause, end_ns, cursor_ns, spacing_ns);
		add_call(cause, view, (uint32_t)call, end_ns, spacing_ns);
		if (end_ns > cause->start_ns && cause->wait == KWHY_NONE &&
			kwhy_detect_view_is_wait(view, (uint32_t)call))
			cause->wait = (uint32_t)call;
		cursor_ns = calls->start_ns[call];
	}
}

static int64_t delayed_ns(const struct kwhy_gap_cause *cause, int64_t returned_ns)
{
	int64_t length_ns = cause->end_ns - at_least(returned_ns, cause->start_ns);

	return length_ns > KWHY_DELAYED_START_NS ? length_ns : 0;
}

void kwhy_gap_explain(const struct kwhy_detect_view *view, const struct kwhy_gap *gap, double spacing_ns,
	struct kwhy_gap_cause *out)
{
	const struct kwhy_calls *calls = &view->recording->calls;
	uint32_t call = view->recording->activities.call[gap->after];

	*out = (struct kwhy_gap_cause){
		.start_ns = kwhy_gap_start_ns(view, gap),
		.end_ns = kwhy_gap_end_ns(view, gap),
		.call = KWHY_NONE,
		.wait = KWHY_NONE,
	};
	if (call == KWHY_NONE)
		return;
	out->call = view->outer[call];
	out->delayed_ns = delayed_ns(out, calls->end_ns[out->call]);
	out->late = calls->end_ns[out->call] > out->start_ns && calls->start_ns[out->call] < out->end_ns;
	if (!out->late)
		return;
	/*
	 * The issuing call is taken to last until the work starts, unless the work starts so late that
	 * delayed_ns has that time. Whatever the call's length, it does not count as host_ns.
	 */
	add_call(out, view, out->call, out->end_ns - out->delayed_ns, (double)INT64_MAX);
	walk_back(view, out, spacing_ns);
}
