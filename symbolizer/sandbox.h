/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUARTZ_SYMBOLIZER_SANDBOX_H
#define QUARTZ_SYMBOLIZER_SANDBOX_H

/*
 * Permanently gives up all that a parser of untrusted files does not need: identity, capabilities,
 * files other than `fd`, environment, and all but a few system calls. Without root, it keeps its
 * uid and gives up the rest. 0 or -errno; on failure, the process must end.
 */
int sandbox__enter(int fd);

#endif
