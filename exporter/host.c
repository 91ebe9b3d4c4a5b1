/* SPDX-License-Identifier: GPL-2.0-only */
#include "exporter/host.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>

#define MAX_NAME 256

/* Returns the name only. False: not NAME, NAME:PORT, [ADDRESS] or [ADDRESS]:PORT. */
static bool without_port(const char *header, char name[MAX_NAME])
{
	bool bracket = *header == '[';
	size_t n = strcspn(header + bracket, bracket ? "]" : ":");
	const char *rest = header + bracket + n + (bracket && header[bracket + n]);

	if (!n || n >= MAX_NAME || (bracket && !header[bracket + n]))
		return false;
	if (*rest && (*rest != ':' || rest[1 + strspn(rest + 1, "0123456789")]))
		return false;
	memcpy(name, header + bracket, n);
	if (!bracket && n > 1 && name[n - 1] == '.')
		n--;
	name[n] = '\0';
	return true;
}

/* Parses an address, IPv4 as mapped into IPv6. False: it is not one. */
static bool read_address(const char *name, struct in6_addr *address)
{
	if (inet_pton(AF_INET6, name, address) == 1)
		return true;
	memcpy(address->s6_addr, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
	return inet_pton(AF_INET, name, &address->s6_addr[12]) == 1;
}

static bool is_loopback(const struct in6_addr *address)
{
	return IN6_IS_ADDR_LOOPBACK(address) ||
	       (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127);
}

static bool is_arrived(const struct in6_addr *address, const struct sockaddr *arrived)
{
	if (arrived->sa_family == AF_INET6)
		return !memcmp(address, &((const struct sockaddr_in6 *)arrived)->sin6_addr,
			       sizeof(*address));
	return arrived->sa_family == AF_INET && IN6_IS_ADDR_V4MAPPED(address) &&
	       !memcmp(&address->s6_addr[12], &((const struct sockaddr_in *)arrived)->sin_addr, 4);
}

bool host__is_ours(const char *header, const struct sockaddr *arrived, const struct qz_texts *names)
{
	struct in6_addr address;
	char name[MAX_NAME];

	if (!without_port(header, name))
		return false;
	if (!strcasecmp(name, "localhost"))
		return true;
	for (size_t i = 0; i < names->n; i++)
		if (!strcasecmp(name, names->items[i]))
			return true;
	return read_address(name, &address) &&
	       (is_loopback(&address) || is_arrived(&address, arrived));
}
