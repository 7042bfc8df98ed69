/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/call_switch.h"

#include "inject/calls.h"

#include <string.h>

static const struct {
	int domain, kind;
	const char *stays;
} domains[] = {
	{KWHY_CUPTI_DOMAIN_RUNTIME, KWHY_CUPTI_KIND_RUNTIME, "cudaProfilerStop"},
	{KWHY_CUPTI_DOMAIN_DRIVER, KWHY_CUPTI_KIND_DRIVER, "cuProfilerStop"},
};

enum { DOMAINS = sizeof(domains) / sizeof(domains[0]) };

/*
 * Reads the names of a domain's calls into calls->domains; `stays` is the name of the call that stays
 * enabled. CUPTI numbers the calls of a domain without gaps, so the first number without a name follows the
 * last call.
 */
static void read_names(struct kwhy_inject_call_switch *calls, int domain, const char *stays)
{
	char name[KWHY_INJECT_CALL_NAME_BYTES];
	const char *long_name = NULL;
	uint32_t id = 1;

	for (; id < KWHY_INJECT_CALL_NUMBERS && !calls->cupti->cuptiGetCallbackName(domain, id, &long_name);
		id++) {
		if (long_name)
			kwhy_inject_call_name(long_name, name);
		calls->domains[domain - 1].matters[id] = long_name && kwhy_inject_call_matters(name);
		if (long_name && !strcmp(name, stays))
			calls->domains[domain - 1].stays = id;
		long_name = NULL;
	}
	calls->domains[domain - 1].count = id;
}

void kwhy_inject_call_switch_init(struct kwhy_inject_call_switch *calls, const struct kwhy_cupti *cupti)
{
	calls->cupti = cupti;
	calls->is_alone = false;
	calls->can_choose = cupti->cuptiActivityEnableRuntimeApi && cupti->cuptiActivityEnableDriverApi;
	for (int i = 0; i < DOMAINS && calls->can_choose; i++)
		read_names(calls, domains[i].domain, domains[i].stays);
}

static __typeof__(cuptiActivityEnableRuntimeApi) *setter_of(
	const struct kwhy_inject_call_switch *calls, int domain)
{
	return domain == KWHY_CUPTI_DOMAIN_RUNTIME ? calls->cupti->cuptiActivityEnableRuntimeApi
						   : calls->cupti->cuptiActivityEnableDriverApi;
}

/*
 * Enables or disables, one by one, those calls of a domain for which kwhy_inject_call_matters() equals
 * `matter`.
 */
static void switch_each(const struct kwhy_inject_call_switch *calls, int domain, bool matter, bool is_on)
{
	__typeof__(cuptiActivityEnableRuntimeApi) *set = setter_of(calls, domain);

	for (uint32_t id = 1; id < calls->domains[domain - 1].count; id++)
		if (calls->domains[domain - 1].matters[id] == matter)
			set(id, is_on);
}

void kwhy_inject_call_switch_begin(struct kwhy_inject_call_switch *calls)
{
	calls->is_alone = calls->can_choose;
	for (int i = 0; i < DOMAINS && calls->is_alone; i++)
		if (calls->domains[domains[i].domain - 1].stays)
			setter_of(calls, domains[i].domain)(
				calls->domains[domains[i].domain - 1].stays, true);
	kwhy_inject_call_switch_set(calls, true);
}

static void set_domain(const struct kwhy_inject_call_switch *calls, int domain, int kind, bool is_on)
{
	if (!is_on)
		calls->cupti->cuptiActivityDisable(kind);
	else
		calls->cupti->cuptiActivityEnable(kind);
	if (is_on && calls->can_choose)
		switch_each(calls, domain, false, false);
}

void kwhy_inject_call_switch_set(struct kwhy_inject_call_switch *calls, bool is_on)
{
	for (int i = 0; i < DOMAINS; i++)
		if (calls->is_alone)
			switch_each(calls, domains[i].domain, true, is_on);
		else
			set_domain(calls, domains[i].domain, domains[i].kind, is_on);
}

void kwhy_inject_call_switch_give_up_alone(struct kwhy_inject_call_switch *calls)
{
	calls->is_alone = false;
}
