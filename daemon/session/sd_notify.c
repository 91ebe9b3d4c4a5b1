// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/kernel/bpf_runtime.h"
#include "daemon/session/sd_notify.h"

/* The address, and its length, or 0. A name that begins with @ is an abstract one. */
static socklen_t address_of(const char *name, struct sockaddr_un *address)
{
	size_t n = name ? strlen(name) : 0;

	if (n < 2 || n >= sizeof(address->sun_path) || (name[0] != '/' && name[0] != '@'))
		return 0;
	*address = (struct sockaddr_un) {.sun_family = AF_UNIX};
	memcpy(address->sun_path, name, n);
	if (name[0] == '@')
		address->sun_path[0] = '\0';
	return offsetof(struct sockaddr_un, sun_path) + n + (name[0] == '/');
}

void sd_notify__send(const char *format, ...)
{
	struct sockaddr_un address;
	socklen_t size = address_of(secure_getenv("NOTIFY_SOCKET"), &address);
	char text[512];
	va_list args;
	int s, n;

	if (!size)
		return;
	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s < 0)
		return;
	if (n > 0 && n < (int)sizeof(text))
		sendto(s, text, n, MSG_NOSIGNAL, (struct sockaddr *)&address, size);
	close(s);
}

void sd_notify__reloading(void)
{
	sd_notify__send("RELOADING=1\nMONOTONIC_USEC=%llu\nSTATUS=reading its configuration",
			(unsigned long long)bpf_runtime__now() / 1000);
}

uint64_t sd_notify__watchdog_period(void)
{
	const char *usec = secure_getenv("WATCHDOG_USEC"), *pid = secure_getenv("WATCHDOG_PID");

	if (!usec || (pid && atoi(pid) != getpid()))
		return 0;
	return strtoull(usec, NULL, 10) * 1000 / 2;
}
