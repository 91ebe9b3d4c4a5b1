/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sockets on which quartzd gives snapshots to quartzctl: NUL-terminated JSON requests, see
 * quartzd(8). Never waits for a client. The peer's user and groups, by the kernel, decide who may ask. The second socket is
 * for all users, and gives each of them the own processes; requests there do not wake quartzd, and have a bounded cost.
 */
#ifndef QUARTZ_DAEMON_CONTROL_SOCKET_H
#define QUARTZ_DAEMON_CONTROL_SOCKET_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct control_socket;

/* Requests other than for a snapshot. All but the status are for root only. */
enum server_command { SERVER_STATUS, SERVER_PAUSE, SERVER_RESUME, SERVER_RELOAD, SERVER_COMMANDS };

/* How much of a snapshot is asked for. */
enum server_detail { SERVER_SCOPES, SERVER_PROCEDURES, SERVER_STACKS, SERVER_DETAILS };

/* See core/transform/compact.h and daemon/output/user_filter.h. */
struct control_socket_wanted {
	enum server_detail detail;
	uint64_t since_ns; /* CLOCK_REALTIME: of an earlier snapshot, its begin and its length */
	bool whole;	   /* of this process all: */
	int32_t pid;
	uint64_t start_ns;
	bool own; /* no more than the processes of this user: */
	uid_t uid;
	gid_t gid;
};

struct control_socket_calls {
	/* Writes a snapshot of this moment to fd. 0, or -errno; -ENODATA: nothing is being measured. */
	int (*snapshot)(void *context, int fd, const struct control_socket_wanted *wanted);
	/*
	 * Executes a command, or starts its execution. Returns the answer, or NULL with the reason for a failure.
	 */
	json_t *(*command)(void *context, enum server_command command, const char **reason);
};

/*
 * Takes the lock of the one quartzd of a machine in `directory`, which it makes, and listens there.
 * NULL with errno, EBUSY when another one runs; *holder is its pid then.
 */
struct control_socket *control_socket__new(const char *directory,
					   const struct control_socket_calls *calls, void *context,
					   int *holder);

/* Removes the socket. Accepts NULL. */
void control_socket__free(struct control_socket *s);

/* A descriptor for poll(2): readable when control_socket__run has something to do. */
int control_socket__fd(const struct control_socket *s);

/* Serves without waiting, and drops clients that are too slow. To be called at each tick, too. */
void control_socket__run(struct control_socket *s);

#endif
