/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets and constants of CUPTI by the toolkit's headers. */
#include "cupti_layout.h"

#include <cupti.h>

#define M(ours, theirs, our_member, their_member) {#theirs "." #their_member, offsetof(theirs, their_member)},
#define C(ours, theirs) {#theirs, (size_t)(theirs)},

const struct cupti_layout_row cupti_layout_of_toolkit[] = {CUPTI_LAYOUT(M, C)};
