/* SPDX-License-Identifier: GPL-2.0-only */
#include "exporter/http.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/util/clock.h"
#include "core/util/term_escape.h"
#include "core/util/options.h"
#include "core/format/pprof.h"
#include "core/html/html_file.h"
#include "exporter/host.h"
#include "exporter/clients.h"
#include "exporter/credentials.h"
#include "exporter/source.h"
#include "exporter/stream.h"

#define IDLE_SECONDS	 10
#define CONNECTION_BYTES (16 << 10)
#define THREAD_BYTES	 (512 << 10)
#define DEFAULT_SECONDS	 30
#define MAX_SECONDS	 300
#define PROFILE_MS	 60000 /* besides its seconds: to ask quartzd, to subtract, to send */
#define OPENMETRICS	 "application/openmetrics-text"
#define PLAIN		 "text/plain; charset=utf-8"

struct http {
	struct MHD_Daemon *daemon;
	struct http_options options;
	struct metrics *metrics;
	struct clients *clients;
	int stop; /* eventfd, readable when the server ends */
};

static const char index_text[] =
	"quartz-exporter " QUARTZ_VERSION "\n\n"
	"/metrics                          figures, for Prometheus\n"
	"/debug/pprof/profile?seconds=30   what was sampled in the next 30 seconds, for pprof\n"
	"/debug/pprof/all                  what was sampled since quartzd began to measure\n"
	"/page                             what runs now, for browsers; ?scope=pid=N, unit=NAME\n"
	"\nProfiles and the page are given where it was started with --profiles.\n";

static const union MHD_ConnectionInfo *info_of(struct MHD_Connection *c,
					       enum MHD_ConnectionInfoType type)
{
	return MHD_get_connection_info(c, type);
}

/* NULL: it was refused. */
static struct client *client_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = info_of(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static int socket_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = info_of(c, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

/* ---- answers ---- */

/* Sends a response, or closes the connection if there is none. */
static enum MHD_Result answer(struct MHD_Connection *c, unsigned int status,
			      struct MHD_Response *response, const char *type)
{
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	if (status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
					"Basic realm=\"quartz-exporter\"");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(c, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result answer_line(struct MHD_Connection *c, unsigned int status, const char *line)
{
	char text[SOURCE_REASON + 2];
	int n = snprintf(text, sizeof(text), "%s\n", line);

	return answer(c, status,
		      MHD_create_response_from_buffer((size_t)n, text, MHD_RESPMEM_MUST_COPY),
		      PLAIN);
}

static enum MHD_Result answer_profile(struct MHD_Connection *c, const struct qz_profile *p)
{
	int fd = memfd_create("profile", MFD_CLOEXEC);
	struct MHD_Response *response = NULL;
	struct stat st;

	if (fd < 0 || qz_pprof__write(p, fd) || fstat(fd, &st)) {
		if (fd >= 0)
			close(fd);
		return answer_line(c, MHD_HTTP_SERVICE_UNAVAILABLE, "memory is short");
	}
	response = MHD_create_response_from_fd64((uint64_t)st.st_size, fd);
	if (!response)
		close(fd);
	else
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_DISPOSITION,
					"attachment; filename=\"profile.pb.gz\"");
	return answer(c, MHD_HTTP_OK, response, "application/octet-stream");
}

/* ---- pages ---- */

static enum MHD_Result serve_index(struct http *h, struct MHD_Connection *c)
{
	return answer(c, MHD_HTTP_OK,
		      MHD_create_response_from_buffer(sizeof(index_text) - 1, (void *)index_text,
						      MHD_RESPMEM_PERSISTENT),
		      PLAIN);
}

static enum MHD_Result serve_metrics(struct http *h, struct MHD_Connection *c)
{
	const char *accept = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Accept");
	bool openmetrics = accept && strstr(accept, OPENMETRICS);
	size_t size;
	char *text = metrics__text(h->metrics, openmetrics, &size);

	if (!text)
		return answer_line(c, MHD_HTTP_SERVICE_UNAVAILABLE, "memory is short");
	return answer(c, MHD_HTTP_OK,
		      MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE),
		      openmetrics ? OPENMETRICS "; version=1.0.0; charset=utf-8"
				  : "text/plain; version=0.0.4; charset=utf-8");
}

/* Waits. False: the client has disconnected, or the server ends. */
static bool wait_until(struct http *h, struct MHD_Connection *c, int64_t due)
{
	struct pollfd fds[2] = {
		{.fd = h->stop, .events = POLLIN},
		{.fd = socket_of(c), .events = POLLRDHUP},
	};
	int n;

	do {
		int64_t left = due - qz_clock__now_ms();

		n = poll(fds, 2, left > 0 ? (int)left : 0);
	} while (n < 0 && errno == EINTR);
	return n == 0;
}

/* A profile has two snapshots in memory, so few are served at a time, until they are sent. */
static enum MHD_Result
serve_limited(struct http *h, struct MHD_Connection *c, enum client_work work,
	      enum MHD_Result (*serve)(struct http *, struct MHD_Connection *, int64_t),
	      int64_t seconds)
{
	struct client *client = client_of(c);

	if (!clients__begin(h->clients, client, work))
		return answer_line(c, MHD_HTTP_SERVICE_UNAVAILABLE,
				   work == CLIENT_PROFILE
					   ? "others are being served profiles; try again later"
					   : "others look at the page; try again later");
	clients__set_phase(h->clients, client, CLIENT_PREPARING, seconds * 1000 + PROFILE_MS);
	return serve(h, c, seconds);
}

static enum MHD_Result serve_difference(struct http *h, struct MHD_Connection *c, int64_t seconds)
{
	char reason[SOURCE_REASON];
	int64_t due = qz_clock__now_ms() + seconds * 1000;
	struct qz_profile *before = source__profile(h->options.socket, reason), *whole, *added;
	enum MHD_Result result;

	if (!before)
		return answer_line(c, MHD_HTTP_SERVICE_UNAVAILABLE, reason);
	if (!wait_until(h, c, due)) {
		result = answer_line(c, MHD_HTTP_SERVICE_UNAVAILABLE, "the exporter ends");
	} else if (source__profile_since(h->options.socket, before, &whole, &added, reason)) {
		result = answer_line(c, MHD_HTTP_SERVICE_UNAVAILABLE, reason);
	} else {
		result = answer_profile(c, added);
		qz_profile__free(added);
		qz_profile__free(whole);
	}
	qz_profile__free(before);
	return result;
}

static enum MHD_Result serve_whole(struct http *h, struct MHD_Connection *c, int64_t seconds)
{
	char reason[SOURCE_REASON];
	struct qz_profile *p = source__profile(h->options.socket, reason);
	enum MHD_Result result = p ? answer_profile(c, p)
				   : answer_line(c, MHD_HTTP_SERVICE_UNAVAILABLE, reason);

	qz_profile__free(p);
	return result;
}

static enum MHD_Result serve_profile(struct http *h, struct MHD_Connection *c)
{
	const char *text = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "seconds");
	int64_t seconds = DEFAULT_SECONDS;

	if (text && qz_options__integer(text, 1, MAX_SECONDS, &seconds))
		return answer_line(c, MHD_HTTP_BAD_REQUEST, "seconds: not an integer of 1 to 300");
	return serve_limited(h, c, CLIENT_PROFILE, serve_difference, seconds);
}

static enum MHD_Result serve_all(struct http *h, struct MHD_Connection *c)
{
	return serve_limited(h, c, CLIENT_PROFILE, serve_whole, 0);
}

/* ---- the page ---- */

static enum MHD_Result serve_page(struct http *h, struct MHD_Connection *c)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool failed = !out || qz_html_file__write(out, NULL, 0);

	if ((out && fclose(out)) || failed) {
		free(text);
		return answer_line(c, MHD_HTTP_SERVICE_UNAVAILABLE, "memory is short");
	}
	return answer(c, MHD_HTTP_OK,
		      MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE),
		      "text/html; charset=utf-8");
}

struct listener {
	struct http *h;
	struct MHD_Connection *c;
};

/* Who takes each document in time is served as long as he likes. */
static bool wait_for_turn(void *context, int64_t due_ms)
{
	struct listener *l = context;

	clients__set_phase(l->h->clients, client_of(l->c), CLIENT_SENDING, 0);
	return wait_until(l->h, l->c, due_ms);
}

static enum MHD_Result serve_stream(struct http *h, struct MHD_Connection *c, int64_t seconds)
{
	const char *scope = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "scope");
	struct listener *listener = malloc(sizeof(*listener));
	struct MHD_Response *response;
	char reason[SOURCE_REASON];
	struct deltas *deltas;

	if (!listener)
		return answer_line(c, MHD_HTTP_SERVICE_UNAVAILABLE, "memory is short");
	*listener = (struct listener) {h, c};
	deltas = deltas__new(h->options.socket, scope, reason);
	if (!deltas) {
		free(listener);
		return answer_line(c, MHD_HTTP_SERVICE_UNAVAILABLE, reason);
	}
	response = stream__response(deltas, wait_for_turn, free, listener);
	if (!response) {
		deltas__free(deltas);
		free(listener);
	}
	return answer(c, MHD_HTTP_OK, response, "application/octet-stream");
}

static enum MHD_Result serve_deltas(struct http *h, struct MHD_Connection *c)
{
	return serve_limited(h, c, CLIENT_STREAM, serve_stream, 0);
}

/* ---- requests ---- */

static bool has_password(struct MHD_Connection *c, const char *wanted)
{
	const char *given =
		MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);

	return given && credentials__have(given, wanted);
}

/*
 * Whether a browser asks for a page of another origin (Fetch Metadata). Such a page cannot read the answer, but could take all
 * places of those that look. It may lead to what costs nothing, as by a link.
 */
static bool is_foreign(struct MHD_Connection *c, bool costly)
{
	const char *site = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Sec-Fetch-Site");
	const char *target = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Sec-Fetch-Dest");

	if (!site || !strcmp(site, "same-origin") || !strcmp(site, "none"))
		return false;
	return costly || !target || strcmp(target, "document");
}

struct seen {
	const char *host;
	int n;
};

static enum MHD_Result see_host(void *context, enum MHD_ValueKind kind, const char *key,
				const char *value)
{
	struct seen *seen = context;

	if (!strcasecmp(key, MHD_HTTP_HEADER_HOST)) {
		seen->host = value ? value : "";
		seen->n++;
	}
	return MHD_YES;
}

/* A request without a Host header is from an old client, not from a browser. */
static bool is_for_us(struct http *h, struct MHD_Connection *c, const char **host)
{
	struct sockaddr_storage arrived = {0};
	socklen_t size = sizeof(arrived);
	struct seen seen = {.host = ""};

	MHD_get_connection_values(c, MHD_HEADER_KIND, see_host, &seen);
	*host = seen.host;
	if (seen.n != 1)
		return !seen.n;
	getsockname(socket_of(c), (struct sockaddr *)&arrived, &size);
	return host__is_ours(seen.host, (struct sockaddr *)&arrived, &h->options.hosts);
}

static enum MHD_Result answer_misdirected(struct MHD_Connection *c, const char *host)
{
	char line[SOURCE_REASON], escaped[100];

	qz_term_escape(escaped, sizeof(escaped), host);
	snprintf(line, sizeof(line),
		 "the host '%s' is not served here; quartz-exporter --host NAME allows a name",
		 escaped);
	return answer_line(c, MHD_HTTP_MISDIRECTED_REQUEST, line);
}

static enum MHD_Result serve(struct http *h, struct MHD_Connection *c, const char *url)
{
	static const struct {
		const char *path;
		enum MHD_Result (*serve)(struct http *, struct MHD_Connection *);
		bool profile, costly;
	} pages[] = {
		{"/", serve_index},
		{"/metrics", serve_metrics},
		{"/debug/pprof/", serve_index},
		{"/debug/pprof/profile", serve_profile, true, true},
		{"/debug/pprof/all", serve_all, true, true},
		{"/page", serve_page, true},
		{"/page/deltas", serve_deltas, true, true},
	};
	const char *host;

	if (!is_for_us(h, c, &host))
		return answer_misdirected(c, host);
	if (h->options.password && !has_password(c, h->options.password))
		return answer_line(c, MHD_HTTP_UNAUTHORIZED, "the password is missing or wrong");
	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
		if (strcmp(url, pages[i].path))
			continue;
		if (is_foreign(c, pages[i].costly))
			return answer_line(c, MHD_HTTP_FORBIDDEN,
					   "a web page of another origin asked for this");
		if (pages[i].profile && !h->options.profiles)
			return answer_line(c, MHD_HTTP_FORBIDDEN,
					   "profiles are given where quartz-exporter was started "
					   "with --profiles");
		return pages[i].serve(h, c);
	}
	return answer_line(c, MHD_HTTP_NOT_FOUND, "no such page; / lists them");
}

static enum MHD_Result handle(void *context, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **seen)
{
	struct client *client = client_of(c);
	struct http *h = context;
	enum MHD_Result result;

	if (!client)
		return MHD_NO;
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return answer_line(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD");
	/* The first call is for the head of the request only. */
	if (!*seen) {
		*seen = context;
		return MHD_YES;
	}
	clients__set_phase(h->clients, client, CLIENT_PREPARING, 0);
	result = serve(h, c, url);
	clients__set_phase(h->clients, client, CLIENT_SENDING, 0);
	return result;
}

/* The answer was sent, or cannot be sent. */
static void completed(void *context, struct MHD_Connection *c, void **seen,
		      enum MHD_RequestTerminationCode how)
{
	struct http *h = context;
	struct client *client = client_of(c);

	if (!client)
		return;
	clients__end(h->clients, client);
	clients__set_phase(h->clients, client, CLIENT_REQUESTING, 0);
}

static void connected(void *context, struct MHD_Connection *c, void **own,
		      enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *address;
	struct http *h = context;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		address = info_of(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
		*own = address ? clients__add(h->clients, socket_of(c), address->client_addr)
			       : NULL;
	} else {
		clients__remove(h->clients, *own);
	}
}

/* ---- start and end ---- */

static int listen_at(const struct sockaddr *address, socklen_t size)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, err;

	if (fd < 0)
		return -errno;
	if (!setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) &&
	    !bind(fd, address, size) && !listen(fd, SOMAXCONN))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static struct MHD_Daemon *start(struct http *h, int fd)
{
	return MHD_start_daemon(MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD |
					MHD_USE_POLL | MHD_USE_ITC,
				0, NULL, NULL, handle, h, MHD_OPTION_LISTEN_SOCKET, fd,
				MHD_OPTION_NOTIFY_CONNECTION, connected, h,
				MHD_OPTION_NOTIFY_COMPLETED, completed, h,
				MHD_OPTION_CONNECTION_LIMIT, (unsigned int)CLIENTS_MAX,
				MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_SECONDS,
				MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
				MHD_OPTION_THREAD_STACK_SIZE, (size_t)THREAD_BYTES, MHD_OPTION_END);
}

struct http *http__new(const struct sockaddr *address, socklen_t size,
		       const struct http_options *options, struct metrics *metrics)
{
	struct http *h = calloc(1, sizeof(*h));
	int fd = listen_at(address, size), err = fd < 0 ? -fd : 0;

	if (!h || err)
		goto failed;
	h->options = *options;
	h->metrics = metrics;
	h->stop = eventfd(0, EFD_CLOEXEC);
	h->clients = h->stop < 0 ? NULL : clients__new();
	if (h->clients)
		h->daemon = start(h, fd);
	if (h->daemon)
		return h;
	err = errno ? errno : ENOMEM;
	clients__free(h->clients);
	if (h->stop >= 0)
		close(h->stop);
failed:
	if (fd >= 0)
		close(fd);
	free(h);
	errno = err ? err : ENOMEM;
	return NULL;
}

void http__free(struct http *h)
{
	uint64_t one = 1;

	if (!h)
		return;
	if (write(h->stop, &one, sizeof(one)) == sizeof(one))
		MHD_stop_daemon(h->daemon);
	clients__free(h->clients);
	close(h->stop);
	free(h);
}

unsigned int http__port(const struct http *h)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_LISTEN_FD);
	struct sockaddr_storage address = {0};
	socklen_t size = sizeof(address);

	if (!info || getsockname(info->listen_fd, (struct sockaddr *)&address, &size))
		return 0;
	if (address.ss_family == AF_INET6)
		return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
	return ntohs(((struct sockaddr_in *)&address)->sin_port);
}
