/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUARTZ_SYMBOLIZER_SANDBOX_H
#define QUARTZ_SYMBOLIZER_SANDBOX_H

/*
 * Gives up, for good, all that a parser of strangers' files does not need: identity, capabilities,
 * files other than `fd`, environment, and every system call but a few. Started without root it
 * keeps its uid and gives up the rest. 0 or -errno; on failure the process must end.
 */
int sandbox__enter(int fd);

#endif
