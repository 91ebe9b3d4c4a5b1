/* SPDX-License-Identifier: GPL-2.0-only */
/* The password of a request: HTTP basic authentication (RFC 7617). */
#ifndef QUARTZ_EXPORTER_CREDENTIALS_H
#define QUARTZ_EXPORTER_CREDENTIALS_H

#include <stdbool.h>

/*
 * Whether the value of a header Authorization has this password, whatever the user's name. For user and password together of
 * up to 1023 bytes. How long it takes does not depend on where two passwords differ. From any thread.
 */
bool credentials__have(const char *authorization, const char *password);

#endif
