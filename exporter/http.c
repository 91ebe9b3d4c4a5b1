/* SPDX-License-Identifier: GPL-2.0-only */
#include "exporter/http.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/options.h"
#include "core/pprof.h"
#include "exporter/source.h"

#define MAX_CONNECTIONS	 16
#define IDLE_SECONDS	 10
#define CONNECTION_BYTES (16 << 10)
#define THREAD_BYTES	 (512 << 10)
#define MAX_PROFILES	 2 /* in the making at the same time */
#define DEFAULT_SECONDS	 30
#define MAX_SECONDS	 300
#define OPENMETRICS	 "application/openmetrics-text"
#define PLAIN		 "text/plain; charset=utf-8"

struct http {
	struct MHD_Daemon *daemon;
	struct http_options options;
	struct metrics *metrics;
	int stop; /* eventfd: readable when all must end */
	atomic_int profiles;
};

static const char index_text[] =
	"quartz-exporter " QUARTZ_VERSION "\n\n"
	"/metrics                          figures, for Prometheus\n"
	"/debug/pprof/profile?seconds=30   what was sampled in the next 30 seconds, for pprof\n"
	"/debug/pprof/all                  what was sampled since quartzd began to measure\n"
	"\nProfiles are given where it was started with --profiles.\n";

/* ---- answers ---- */

/* Sends a response, or closes the connection when there is none. */
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

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* False: the client has gone, or all must end. */
static bool wait_until(struct http *h, struct MHD_Connection *c, int64_t due)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct pollfd fds[2] = {
		{.fd = h->stop, .events = POLLIN},
		{.fd = info ? info->connect_fd : -1, .events = POLLRDHUP},
	};
	int n;

	do {
		int64_t left = due - now_ms();

		n = poll(fds, 2, left > 0 ? (int)left : 0);
	} while (n < 0 && errno == EINTR);
	return n == 0;
}

/* Those that make a profile are few, since each has two in memory. */
static enum MHD_Result with_turn(struct http *h, struct MHD_Connection *c,
				 enum MHD_Result (*serve)(struct http *, struct MHD_Connection *,
							  int64_t),
				 int64_t seconds)
{
	enum MHD_Result result;

	if (atomic_fetch_add(&h->profiles, 1) >= MAX_PROFILES)
		result = answer_line(c, MHD_HTTP_SERVICE_UNAVAILABLE,
				     "others are being served profiles; try again later");
	else
		result = serve(h, c, seconds);
	atomic_fetch_sub(&h->profiles, 1);
	return result;
}

static enum MHD_Result serve_difference(struct http *h, struct MHD_Connection *c, int64_t seconds)
{
	char reason[SOURCE_REASON];
	int64_t due = now_ms() + seconds * 1000;
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

	if (text && qz_parse_integer(text, 1, MAX_SECONDS, &seconds))
		return answer_line(c, MHD_HTTP_BAD_REQUEST, "seconds: not an integer of 1 to 300");
	return with_turn(h, c, serve_difference, seconds);
}

static enum MHD_Result serve_all(struct http *h, struct MHD_Connection *c)
{
	return with_turn(h, c, serve_whole, 0);
}

/* ---- requests ---- */

/* Takes as long whatever it is. */
static bool is_equal(const char *given, const char *wanted)
{
	size_t length = strlen(given), n = strlen(wanted);
	unsigned char differ = length != n;

	for (size_t i = 0; i < n; i++)
		differ |= (unsigned char)(wanted[i] ^ given[i < length ? i : length]);
	return !differ;
}

/* Whoever the user is called. */
static bool has_password(struct MHD_Connection *c, const char *wanted)
{
	char *given = NULL, *user = MHD_basic_auth_get_username_password(c, &given);
	bool has = given && is_equal(given, wanted);

	MHD_free(user);
	MHD_free(given);
	return has;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **seen)
{
	static const struct {
		const char *path;
		enum MHD_Result (*serve)(struct http *, struct MHD_Connection *);
		bool profile;
	} pages[] = {
		{"/", serve_index},
		{"/metrics", serve_metrics},
		{"/debug/pprof/", serve_index},
		{"/debug/pprof/profile", serve_profile, true},
		{"/debug/pprof/all", serve_all, true},
	};
	struct http *h = context;

	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return answer_line(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD");
	/* The first call is for the head of the request alone. */
	if (!*seen) {
		*seen = context;
		return MHD_YES;
	}
	if (h->options.password && !has_password(c, h->options.password))
		return answer_line(c, MHD_HTTP_UNAUTHORIZED, "the password is missing or wrong");
	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
		if (strcmp(url, pages[i].path))
			continue;
		if (pages[i].profile && !h->options.profiles)
			return answer_line(c, MHD_HTTP_FORBIDDEN,
					   "profiles are given where quartz-exporter was started "
					   "with --profiles");
		return pages[i].serve(h, c);
	}
	return answer_line(c, MHD_HTTP_NOT_FOUND, "no such page; / lists them");
}

/* ---- life ---- */

static int listen_at(const struct sockaddr *address, socklen_t size)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, err;

	if (fd < 0)
		return -errno;
	if (!setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) &&
	    !bind(fd, address, size) && !listen(fd, MAX_CONNECTIONS))
		return fd;
	err = -errno;
	close(fd);
	return err;
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
	if (h->stop >= 0)
		h->daemon = MHD_start_daemon(
			MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD |
				MHD_USE_POLL | MHD_USE_ITC,
			0, NULL, NULL, handle, h, MHD_OPTION_LISTEN_SOCKET, fd,
			MHD_OPTION_CONNECTION_LIMIT, (unsigned int)MAX_CONNECTIONS,
			MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_SECONDS,
			MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
			MHD_OPTION_THREAD_STACK_SIZE, (size_t)THREAD_BYTES, MHD_OPTION_END);
	if (h->daemon)
		return h;
	err = errno ? errno : ENOMEM;
	if (h->stop >= 0)
		close(h->stop);
	close(fd);
failed:
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
