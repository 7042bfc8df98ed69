/* SPDX-License-Identifier: Apache-2.0 */
#include "base/waiting_kernel.h"

#include <fnmatch.h>
#include <stddef.h>

/*
 * Patterns (fnmatch) of names of kernels, plain or mangled ("_Z5delayx"). Short words such as "delay" must be
 * the whole name of the function, so that "delayed_add" does not match.
 */
static const char *const waiting_names[] = {"*[Dd]elay[Kk]ernel*", "*[Dd]elay_[Kk]ernel*",
	"*[Ss]pin[Kk]ernel*", "*[Ss]pin_[Kk]ernel*", "*[Ss]leep[Kk]ernel*", "*[Ss]leep_[Kk]ernel*",
	"*[Ww]ait[Kk]ernel*", "*[Ww]ait_[Kk]ernel*", "*[Bb]usy[Ww]ait*", "*[Bb]usy_[Ww]ait*", "_Z5delay*",
	"_Z4spin*", "_Z5sleep*", "_Z4wait*", "delay", "spin", "sleep", "wait", "delay(*", "spin(*", "sleep(*",
	"wait(*"};

bool kwhy_waiting_kernel(const char *name)
{
	for (size_t i = 0; i < sizeof(waiting_names) / sizeof(waiting_names[0]); i++)
		if (fnmatch(waiting_names[i], name, 0) == 0)
			return true;
	return false;
}
