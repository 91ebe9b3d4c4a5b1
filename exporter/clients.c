/* SPDX-License-Identifier: GPL-2.0-only */
#include "exporter/clients.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/util/clock.h"

#define CONNECTIONS    64
#define PER_ADDRESS    32
#define MOST_OF_A_WORK 2
#define LOOPBACK       1 /* all loopback addresses, see key_of */

static const int64_t usual_ms[] = {
	[CLIENT_REQUESTING] = 10000, [CLIENT_PREPARING] = 30000, [CLIENT_SENDING] = 60000};

struct client {
	enum client_phase phase;
	int fd;
	uint64_t address;
	int64_t since_ms, due_ms; /* of the phase */
	bool closing;		  /* was shut down */
	enum client_work work;
};

struct clients {
	pthread_mutex_t lock; /* guards everything below */
	pthread_cond_t changed;
	pthread_t thread;
	bool stop;
	int works[CLIENT_WORKS]; /* being served */
	struct client all[CLIENTS_MAX];
};

/*
 * What counts as one address: an IPv4 address; the network of an IPv6 address, because one client
 * can have all its addresses; all loopback addresses together, because any program can use them.
 */
static uint64_t key_of(const struct sockaddr *address)
{
	const struct in6_addr *six = &((const struct sockaddr_in6 *)address)->sin6_addr;
	uint64_t network;
	uint32_t four;

	if (address->sa_family == AF_INET6 && !IN6_IS_ADDR_V4MAPPED(six)) {
		memcpy(&network, six, sizeof(network));
		return IN6_IS_ADDR_LOOPBACK(six) ? LOOPBACK : network;
	}
	if (address->sa_family == AF_INET6)
		memcpy(&four, &six->s6_addr[12], sizeof(four));
	else
		four = ((const struct sockaddr_in *)address)->sin_addr.s_addr;
	return ntohl(four) >> 24 == 127 ? LOOPBACK : (uint64_t)four << 32 | 2;
}

/* ---- closing ---- */

static void close_client(struct client *client)
{
	client->closing = true;
	shutdown(client->fd, SHUT_RDWR);
}

static bool is_open(const struct client *client)
{
	return client->phase != CLIENT_FREE && !client->closing;
}

static int count(const struct clients *clients, uint64_t address)
{
	int n = 0;

	for (int i = 0; i < CLIENTS_MAX; i++)
		n += is_open(&clients->all[i]) && clients->all[i].address == address;
	return n;
}

static int count_all(const struct clients *clients)
{
	int n = 0;

	for (int i = 0; i < CLIENTS_MAX; i++)
		n += is_open(&clients->all[i]);
	return n;
}

/* The address with the most connections. */
static uint64_t busiest_address(const struct clients *clients)
{
	uint64_t found = LOOPBACK;
	int most = 0;

	for (int i = 0; i < CLIENTS_MAX; i++) {
		const struct client *client = &clients->all[i];
		int n = is_open(client) ? count(clients, client->address) : 0;

		if (n > most) {
			most = n;
			found = client->address;
		}
	}
	return found;
}

/* A client that has not sent its request is closed before one that does not take its answer. */
static bool closes_before(const struct client *a, const struct client *b)
{
	if (a->phase != b->phase)
		return a->phase == CLIENT_REQUESTING;
	return a->since_ms < b->since_ms;
}

static void make_room(struct clients *clients, const struct client *fresh)
{
	bool many = count(clients, fresh->address) > PER_ADDRESS;
	uint64_t address = many ? fresh->address : busiest_address(clients);
	struct client *found = NULL;

	if (!many && count_all(clients) <= CONNECTIONS)
		return;
	for (int i = 0; i < CLIENTS_MAX; i++) {
		struct client *client = &clients->all[i];

		if (client == fresh || !is_open(client) || client->address != address ||
		    client->phase == CLIENT_PREPARING)
			continue;
		if (!found || closes_before(client, found))
			found = client;
	}
	if (found)
		close_client(found);
}

/* ---- deadlines ---- */

/* Closes clients whose deadline is over. Returns the next deadline, INT64_MAX: none. */
static int64_t close_overdue(struct clients *clients)
{
	int64_t now = qz_clock__now_ms(), next = INT64_MAX;

	for (int i = 0; i < CLIENTS_MAX; i++) {
		struct client *client = &clients->all[i];

		if (!is_open(client))
			continue;
		if (client->due_ms <= now)
			close_client(client);
		else if (client->due_ms < next)
			next = client->due_ms;
	}
	return next;
}

static void *watch(void *context)
{
	struct clients *clients = context;

	pthread_mutex_lock(&clients->lock);
	while (!clients->stop) {
		int64_t next = close_overdue(clients);
		struct timespec t = {.tv_sec = next / 1000, .tv_nsec = next % 1000 * 1000000};

		if (next == INT64_MAX)
			pthread_cond_wait(&clients->changed, &clients->lock);
		else
			pthread_cond_timedwait(&clients->changed, &clients->lock, &t);
	}
	pthread_mutex_unlock(&clients->lock);
	return NULL;
}

/* ---- phases ---- */

static void set_phase(struct clients *clients, struct client *client, enum client_phase phase,
		      int64_t ms)
{
	client->phase = phase;
	client->since_ms = qz_clock__now_ms();
	client->due_ms = client->since_ms + (ms ? ms : usual_ms[phase]);
	pthread_cond_signal(&clients->changed);
}

struct client *clients__add(struct clients *clients, int fd, const struct sockaddr *address)
{
	struct client *client = NULL;

	pthread_mutex_lock(&clients->lock);
	for (int i = 0; i < CLIENTS_MAX && !client; i++)
		if (clients->all[i].phase == CLIENT_FREE)
			client = &clients->all[i];
	if (client) {
		*client = (struct client) {.fd = fd, .address = key_of(address)};
		set_phase(clients, client, CLIENT_REQUESTING, 0);
		make_room(clients, client);
	}
	pthread_mutex_unlock(&clients->lock);
	return client;
}

static void end_work(struct clients *clients, struct client *client)
{
	if (client->work)
		clients->works[client->work]--;
	client->work = CLIENT_NO_WORK;
}

void clients__remove(struct clients *clients, struct client *client)
{
	if (!client)
		return;
	pthread_mutex_lock(&clients->lock);
	end_work(clients, client);
	client->phase = CLIENT_FREE;
	pthread_mutex_unlock(&clients->lock);
}

void clients__set_phase(struct clients *clients, struct client *client, enum client_phase phase,
			int64_t ms)
{
	pthread_mutex_lock(&clients->lock);
	set_phase(clients, client, phase, ms);
	pthread_mutex_unlock(&clients->lock);
}

bool clients__begin(struct clients *clients, struct client *client, enum client_work work)
{
	pthread_mutex_lock(&clients->lock);
	if (!client->work && clients->works[work] < MOST_OF_A_WORK) {
		client->work = work;
		clients->works[work]++;
	}
	pthread_mutex_unlock(&clients->lock);
	return client->work == work;
}

void clients__end(struct clients *clients, struct client *client)
{
	pthread_mutex_lock(&clients->lock);
	end_work(clients, client);
	pthread_mutex_unlock(&clients->lock);
}

/* ---- creation ---- */

struct clients *clients__new(void)
{
	struct clients *clients = calloc(1, sizeof(*clients));
	pthread_condattr_t attr;
	int err;

	if (!clients)
		return NULL;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&clients->lock, NULL);
	pthread_cond_init(&clients->changed, &attr);
	pthread_condattr_destroy(&attr);
	err = pthread_create(&clients->thread, NULL, watch, clients);
	if (!err)
		return clients;
	free(clients);
	errno = err;
	return NULL;
}

void clients__free(struct clients *clients)
{
	if (!clients)
		return;
	pthread_mutex_lock(&clients->lock);
	clients->stop = true;
	pthread_cond_signal(&clients->changed);
	pthread_mutex_unlock(&clients->lock);
	pthread_join(clients->thread, NULL);
	pthread_cond_destroy(&clients->changed);
	pthread_mutex_destroy(&clients->lock);
	free(clients);
}
