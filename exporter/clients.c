/* SPDX-License-Identifier: GPL-2.0-only */
#include "exporter/clients.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

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

static int count(const struct clients *p, uint64_t address)
{
	int n = 0;

	for (int i = 0; i < CLIENTS_MAX; i++)
		n += is_open(&p->all[i]) && p->all[i].address == address;
	return n;
}

static int count_all(const struct clients *p)
{
	int n = 0;

	for (int i = 0; i < CLIENTS_MAX; i++)
		n += is_open(&p->all[i]);
	return n;
}

/* The address with the most connections. */
static uint64_t busiest_address(const struct clients *p)
{
	uint64_t found = LOOPBACK;
	int most = 0;

	for (int i = 0; i < CLIENTS_MAX; i++) {
		const struct client *client = &p->all[i];
		int n = is_open(client) ? count(p, client->address) : 0;

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

static void make_room(struct clients *p, const struct client *fresh)
{
	bool many = count(p, fresh->address) > PER_ADDRESS;
	uint64_t address = many ? fresh->address : busiest_address(p);
	struct client *found = NULL;

	if (!many && count_all(p) <= CONNECTIONS)
		return;
	for (int i = 0; i < CLIENTS_MAX; i++) {
		struct client *client = &p->all[i];

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
static int64_t close_overdue(struct clients *p)
{
	int64_t now = now_ms(), next = INT64_MAX;

	for (int i = 0; i < CLIENTS_MAX; i++) {
		struct client *client = &p->all[i];

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
	struct clients *p = context;

	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		int64_t next = close_overdue(p);
		struct timespec t = {.tv_sec = next / 1000, .tv_nsec = next % 1000 * 1000000};

		if (next == INT64_MAX)
			pthread_cond_wait(&p->changed, &p->lock);
		else
			pthread_cond_timedwait(&p->changed, &p->lock, &t);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* ---- phases ---- */

static void set_phase(struct clients *p, struct client *client, enum client_phase phase, int64_t ms)
{
	client->phase = phase;
	client->since_ms = now_ms();
	client->due_ms = client->since_ms + (ms ? ms : usual_ms[phase]);
	pthread_cond_signal(&p->changed);
}

struct client *clients__add(struct clients *p, int fd, const struct sockaddr *address)
{
	struct client *client = NULL;

	pthread_mutex_lock(&p->lock);
	for (int i = 0; i < CLIENTS_MAX && !client; i++)
		if (p->all[i].phase == CLIENT_FREE)
			client = &p->all[i];
	if (client) {
		*client = (struct client) {.fd = fd, .address = key_of(address)};
		set_phase(p, client, CLIENT_REQUESTING, 0);
		make_room(p, client);
	}
	pthread_mutex_unlock(&p->lock);
	return client;
}

static void end_work(struct clients *p, struct client *client)
{
	if (client->work)
		p->works[client->work]--;
	client->work = CLIENT_NO_WORK;
}

void clients__remove(struct clients *p, struct client *client)
{
	if (!client)
		return;
	pthread_mutex_lock(&p->lock);
	end_work(p, client);
	client->phase = CLIENT_FREE;
	pthread_mutex_unlock(&p->lock);
}

void clients__set_phase(struct clients *p, struct client *client, enum client_phase phase,
			int64_t ms)
{
	pthread_mutex_lock(&p->lock);
	set_phase(p, client, phase, ms);
	pthread_mutex_unlock(&p->lock);
}

bool clients__begin(struct clients *p, struct client *client, enum client_work work)
{
	pthread_mutex_lock(&p->lock);
	if (!client->work && p->works[work] < MOST_OF_A_WORK) {
		client->work = work;
		p->works[work]++;
	}
	pthread_mutex_unlock(&p->lock);
	return client->work == work;
}

void clients__end(struct clients *p, struct client *client)
{
	pthread_mutex_lock(&p->lock);
	end_work(p, client);
	pthread_mutex_unlock(&p->lock);
}

/* ---- creation ---- */

struct clients *clients__new(void)
{
	struct clients *p = calloc(1, sizeof(*p));
	pthread_condattr_t attr;
	int err;

	if (!p)
		return NULL;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, &attr);
	pthread_condattr_destroy(&attr);
	err = pthread_create(&p->thread, NULL, watch, p);
	if (!err)
		return p;
	free(p);
	errno = err;
	return NULL;
}

void clients__free(struct clients *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p);
}
