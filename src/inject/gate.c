/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/gate.h"

#include "base/clock.h"
#include "inject/patience.h"

#include <fnmatch.h>

/* Two windows that lie closer than this to each other are not worth switching twice. */
#define NOT_WORTH_NS (KWHY_INJECT_GATE_LEAD_NS + 1000000)
/* Records of what was launched last have come by then, unless it runs for longer. */
#define RESTS_NS INT64_C(300000000)

/* A library that is called while a thread switches may use ranges, too. */
static _Thread_local bool is_switching;

void kwhy_inject_gate_init(struct kwhy_inject_gate *gate, const struct kwhy_inject_plan *plan,
	const char *pattern, int64_t (*switch_to)(void *context, bool is_on), void *context)
{
	pthread_mutex_init(&gate->lock, NULL);
	kwhy_inject_windows_init(&gate->windows, plan);
	gate->pattern = pattern;
	gate->switch_to = switch_to;
	gate->context = context;
}

static void turn(struct kwhy_inject_gate *gate, bool is_on)
{
	const int64_t before_ns = kwhy_clock_mono_ns();
	int64_t after_ns;

	is_switching = true;
	after_ns = gate->switch_to(gate->context, is_on);
	is_switching = false;
	gate->switching_ns += kwhy_clock_mono_ns() - before_ns;
	gate->switches++;
	gate->is_on = is_on;
	if (is_on)
		gate->since_mono_ns = after_ns;
	else
		gate->off_mono_ns = after_ns;
}

static void add_ended(struct kwhy_inject_gate *gate, int64_t end_mono_ns)
{
	const size_t place = (gate->ended_first + gate->ended_count) % KWHY_INJECT_GATE_ENDED;

	if (end_mono_ns <= gate->start_mono_ns || gate->ended_count == KWHY_INJECT_GATE_ENDED)
		return;
	gate->ended[place] = (struct kwhy_inject_window){
		gate->start_mono_ns, end_mono_ns, gate->since_mono_ns};
	gate->ended_count++;
}

static bool is_wanted(const struct kwhy_inject_gate *gate)
{
	return gate->has_begun && gate->is_scheduled && (!gate->pattern[0] || gate->open_ranges);
}

static void claim(struct kwhy_inject_gate *gate, int64_t at_mono_ns)
{
	if (!gate->is_on)
		turn(gate, true);
	gate->start_mono_ns = at_mono_ns > gate->since_mono_ns ? at_mono_ns : gate->since_mono_ns;
	gate->is_claimed = true;
}

/* After something has changed at a time. */
static void settle(struct kwhy_inject_gate *gate, int64_t at_mono_ns)
{
	if (is_wanted(gate) && !gate->is_claimed) {
		claim(gate, at_mono_ns);
	} else if (!is_wanted(gate) && gate->is_claimed) {
		gate->is_claimed = false;
		add_ended(gate, at_mono_ns);
		gate->off_due_mono_ns = at_mono_ns + (gate->pattern[0] ? KWHY_INJECT_GATE_LINGER_NS : 0);
	}
}

void kwhy_inject_gate_begin(struct kwhy_inject_gate *gate, int64_t now_mono_ns)
{
	pthread_mutex_lock(&gate->lock);
	gate->has_begun = gate->is_on = true;
	gate->since_mono_ns = 0;
	kwhy_inject_windows_pass(&gate->windows, now_mono_ns);
	gate->is_scheduled = gate->windows.start_mono_ns <= now_mono_ns;
	settle(gate, now_mono_ns);
	if (!gate->is_claimed)
		turn(gate, false);
	pthread_mutex_unlock(&gate->lock);
}

/* Past edges of the plan, one after the other. */
static void pass_edges(struct kwhy_inject_gate *gate, int64_t now_mono_ns)
{
	struct kwhy_inject_windows *windows = &gate->windows;

	while (windows->end_mono_ns <= now_mono_ns) {
		if (gate->is_scheduled) {
			gate->is_scheduled = false;
			settle(gate, windows->end_mono_ns);
		}
		kwhy_inject_windows_pass(windows, windows->end_mono_ns);
		gate->is_leading = false;
	}
	if (!gate->is_scheduled && windows->start_mono_ns <= now_mono_ns) {
		gate->is_scheduled = true;
		gate->is_leading = false;
		settle(gate, windows->start_mono_ns);
	}
}

/* Collection a little before a window, and on into one that follows closely. */
static void lead(struct kwhy_inject_gate *gate, int64_t now_mono_ns)
{
	const int64_t start_ns = gate->windows.start_mono_ns;

	if (!gate->has_begun || gate->is_scheduled || gate->pattern[0] || start_ns == INT64_MAX)
		return;
	gate->is_leading = start_ns - now_mono_ns <= (gate->is_on ? NOT_WORTH_NS : KWHY_INJECT_GATE_LEAD_NS);
	if (gate->is_leading && !gate->is_on)
		turn(gate, true);
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t next_time(const struct kwhy_inject_gate *gate)
{
	const int64_t start_ns = gate->windows.start_mono_ns;
	int64_t next_ns = gate->windows.end_mono_ns;

	if (!gate->is_scheduled && start_ns != INT64_MAX)
		next_ns = gate->is_leading ? start_ns : start_ns - KWHY_INJECT_GATE_LEAD_NS;
	if (gate->is_on && !gate->is_claimed && !gate->is_leading)
		next_ns = earlier(next_ns, gate->off_due_mono_ns);
	return next_ns;
}

int64_t kwhy_inject_gate_advance(struct kwhy_inject_gate *gate, int64_t now_mono_ns)
{
	int64_t next_ns = INT64_MAX;

	pthread_mutex_lock(&gate->lock);
	pass_edges(gate, now_mono_ns);
	lead(gate, now_mono_ns);
	if (gate->is_on && !gate->is_claimed && !gate->is_leading && now_mono_ns >= gate->off_due_mono_ns)
		turn(gate, false);
	next_ns = next_time(gate);
	pthread_mutex_unlock(&gate->lock);
	return next_ns;
}

bool kwhy_inject_gate_wants(const struct kwhy_inject_gate *gate, const char *name)
{
	return gate->pattern[0] && fnmatch(gate->pattern, name, 0) == 0;
}

void kwhy_inject_gate_enter(struct kwhy_inject_gate *gate, int64_t now_mono_ns)
{
	if (is_switching)
		return;
	pthread_mutex_lock(&gate->lock);
	gate->open_ranges++;
	settle(gate, now_mono_ns);
	pthread_mutex_unlock(&gate->lock);
}

void kwhy_inject_gate_leave(struct kwhy_inject_gate *gate, int64_t now_mono_ns)
{
	if (is_switching)
		return;
	pthread_mutex_lock(&gate->lock);
	if (gate->open_ranges) /* else it was opened before a fork, by the parent */
		gate->open_ranges--;
	settle(gate, now_mono_ns);
	pthread_mutex_unlock(&gate->lock);
}

bool kwhy_inject_gate_end(struct kwhy_inject_gate *gate, int64_t now_mono_ns)
{
	if (!kwhy_inject_lock_patiently(&gate->lock))
		return false;
	if (gate->windows.end_mono_ns < now_mono_ns)
		now_mono_ns = gate->windows.end_mono_ns;
	gate->has_begun = false;
	settle(gate, now_mono_ns);
	pthread_mutex_unlock(&gate->lock);
	return true;
}

bool kwhy_inject_gate_take(
	struct kwhy_inject_gate *gate, int64_t ended_by_mono_ns, struct kwhy_inject_window *out)
{
	bool is_given;

	if (!kwhy_inject_lock_patiently(&gate->lock))
		return false;
	is_given = gate->ended_count && gate->ended[gate->ended_first].end_mono_ns <= ended_by_mono_ns;
	if (is_given) {
		*out = gate->ended[gate->ended_first];
		gate->ended_first = (gate->ended_first + 1) % KWHY_INJECT_GATE_ENDED;
		gate->ended_count--;
	}
	pthread_mutex_unlock(&gate->lock);
	return is_given;
}

bool kwhy_inject_gate_rests(struct kwhy_inject_gate *gate, int64_t now_mono_ns)
{
	bool rests;

	pthread_mutex_lock(&gate->lock);
	rests = !gate->is_on && now_mono_ns - gate->off_mono_ns > RESTS_NS;
	pthread_mutex_unlock(&gate->lock);
	return rests;
}

bool kwhy_inject_gate_cost(struct kwhy_inject_gate *gate, int64_t *out_spent_ns, uint64_t *out_switches)
{
	if (!kwhy_inject_lock_patiently(&gate->lock))
		return false;
	*out_spent_ns = gate->switching_ns;
	*out_switches = gate->switches;
	pthread_mutex_unlock(&gate->lock);
	return true;
}
