/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets and constants of NVTX by its headers for tools. */
#include "cupti_layout.h"

#include <nvtx3/nvToolsExt.h>

#define M(ours, theirs, our_member, their_member) {#theirs "." #their_member, offsetof(theirs, their_member)},
#define C(ours, theirs) {#theirs, (size_t)(theirs)},

const struct cupti_layout_row nvtx_layout_of_toolkit[] = {NVTX_LAYOUT(M, C)};
