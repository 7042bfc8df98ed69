/* SPDX-License-Identifier: Apache-2.0 */
#include "import/demangle.h"

#include <cstdlib>
#include <cstring>
#include <cxxabi.h>

/* CUTLASS has the longest that are known, some 10 KiB. */
static const size_t most_bytes = 32768;

char *kwhy_demangle(const char *bytes, size_t length)
{
	char *copy, *plain;

	if (length < 3 || length > most_bytes || std::memcmp(bytes, "_Z", 2))
		return nullptr;
	copy = strndup(bytes, length);
	if (!copy)
		return nullptr;
	plain = abi::__cxa_demangle(copy, nullptr, nullptr, nullptr);
	std::free(copy);
	return plain;
}
