/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connections of clients, so that no client keeps others out. Each request and each answer has a
 * deadline. If there are too many connections, the address with the most of them loses the one that
 * has been idle the longest, so new connections are never refused in favour of old ones.
 * Thread-safe.
 */
#ifndef QUARTZ_EXPORTER_CLIENTS_H
#define QUARTZ_EXPORTER_CLIENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* Connections at a time, including those that were shut down and have not ended yet. */
#define CLIENTS_MAX 96

struct clients;
struct client;

enum client_phase {
	CLIENT_FREE,
	CLIENT_REQUESTING, /* a request is incomplete */
	CLIENT_PREPARING,  /* an answer is being prepared; never closed in favour of others */
	CLIENT_SENDING,	   /* the client must take the answer */
};

/* Starts a thread for the deadlines. NULL with errno. */
struct clients *clients__new(void);

/* After the last connection has ended. Accepts NULL. */
void clients__free(struct clients *clients);

/*
 * Adds a connection, in the phase CLIENT_REQUESTING. The socket is borrowed until clients__remove,
 * and is shut down to close the connection. NULL: there are CLIENTS_MAX.
 */
struct client *clients__add(struct clients *clients, int fd, const struct sockaddr *address);

/* Accepts NULL as the client. */
void clients__remove(struct clients *clients, struct client *client);

/* Begins a phase, with a deadline in ms; 0: the default of the phase. */
void clients__set_phase(struct clients *clients, struct client *client, enum client_phase phase,
			int64_t ms);

/* What has snapshots in memory while it is served. */
enum client_work {
	CLIENT_NO_WORK,
	CLIENT_PROFILE,
	CLIENT_STREAM, /* of exporter/stream.h */
	CLIENT_WORKS,
};

/* Few of each are served at a time. False: too many others are. */
bool clients__begin(struct clients *clients, struct client *client, enum client_work work);
void clients__end(struct clients *clients, struct client *client);

#endif
