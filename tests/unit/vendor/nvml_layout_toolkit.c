/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, offsets and constants of NVML by the toolkit's header. */
#include "nvml_layout.h"

#include <nvml.h>

#define T(ours, theirs) {#theirs, sizeof(theirs)},
#define M(ours, theirs, our_member, their_member) {#theirs "." #their_member, offsetof(theirs, their_member)},
#define C(ours, theirs) {#theirs, (size_t)(theirs)},

const struct nvml_layout_row nvml_layout_of_toolkit[] = {NVML_LAYOUT(T, M, C)};
