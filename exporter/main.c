/* SPDX-License-Identifier: GPL-2.0-only */
/* quartz-exporter: see quartz-exporter(8). */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/util/exit_status.h"
#include "core/util/options.h"
#include "core/util/standard_files.h"
#include "exporter/http.h"

#define DEFAULT_ADDRESS "127.0.0.1:9972"

struct config {
	bool help, version, profiles;
	const char *listen, *socket, *password_file;
	struct qz_texts hosts;
	int by; /* index of the word */
	int64_t rows;
};

#define FIELD(name) offsetof(struct config, name)

static const struct qz_option options[] = {
	{"listen", 'l', QZ_OPTION_STRING, FIELD(listen), "ADDRESS:PORT",
	 "Listen here [" DEFAULT_ADDRESS "]."},
	{"host", 'H', QZ_OPTION_STRINGS, FIELD(hosts), "NAME",
	 "Also answer requests for this host name,\nbesides localhost and numeric addresses;\nmay "
	 "be repeated."},
	{"socket", 's', QZ_OPTION_STRING, FIELD(socket), "PATH",
	 "Socket of quartzd\n[/run/quartz/quartzd.sock]."},
	{"by", 'b', QZ_OPTION_CHOICE, FIELD(by), "unit|comm|cgroup|process",
	 "What a series stands for [unit]."},
	{"rows", 'n', QZ_OPTION_INTEGER, FIELD(rows), "ROWS",
	 "Maximum number of these; the others are\nadded up in one more series [50].", 0, 1000},
	{"profiles", 'p', QZ_OPTION_FLAG, FIELD(profiles), NULL,
	 "Also serve profiles: names of procedures,\nfiles and locks of all users' programs."},
	{"password-file", 'P', QZ_OPTION_STRING, FIELD(password_file), "FILE",
	 "Require the password in the first line of\nFILE (HTTP basic authentication)."},
	{"version", 'V', QZ_OPTION_FLAG, FIELD(version), NULL, "Print the version and exit."},
	{"help", 'h', QZ_OPTION_FLAG, FIELD(help), NULL, "Print this text and exit."},
	{0},
};

static const char usage[] =
	"Usage: quartz-exporter [OPTION...]\n\n"
	"Serve the figures and profiles of quartzd by HTTP, for Prometheus and pprof.\n";

static int complain(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int complain(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("quartz-exporter: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	return status;
}

/* Parses ADDRESS:PORT or [ADDRESS]:PORT, numeric. False: it is neither. */
static bool resolve(const char *text, struct addrinfo **found)
{
	const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
	};
	const char *colon = strrchr(text, ':');
	char host[64];
	size_t n = colon ? (size_t)(colon - text) : 0;

	if (!n || n >= sizeof(host) || !colon[1])
		return false;
	if (text[0] == '[' && text[n - 1] == ']')
		snprintf(host, sizeof(host), "%.*s", (int)n - 2, text + 1);
	else
		snprintf(host, sizeof(host), "%.*s", (int)n, text);
	return !getaddrinfo(host, colon + 1, &hints, found);
}

static void standard_socket(char *path, size_t size)
{
	const char *directory = secure_getenv("QUARTZ_RUNTIME_DIR");

	snprintf(path, size, "%s/quartzd.sock",
		 directory && *directory ? directory : "/run/quartz");
}

/* 0 or -errno; -EINVAL: the first line is empty, too long, or has a byte that is 0. */
static int read_password(const char *path, char *password, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : read(fd, password, size);
	int err = n < 0 ? -errno : 0;
	char *end;

	if (fd >= 0)
		close(fd);
	if (err)
		return err;
	if ((size_t)n == size)
		return -EINVAL;
	end = memchr(password, '\n', (size_t)n) ?: password + n;
	*end = 0;
	return *password && password + strlen(password) == end ? 0 : -EINVAL;
}

static int serve(const struct config *config, const struct addrinfo *address)
{
	static const enum qz_process_group groups[] = {QZ_BY_UNIT, QZ_BY_COMM, QZ_BY_CGROUP,
						       QZ_BY_PROCESS};
	struct http_options offer = {
		.socket = config->socket, .hosts = config->hosts, .profiles = config->profiles};
	struct metrics *metrics;
	struct http *http;
	char password[256];
	sigset_t set;
	int number;

	if (config->password_file) {
		int err = read_password(config->password_file, password, sizeof(password));

		if (err)
			return complain(
				STATUS_FAILURE, "--password-file: %s: %s", config->password_file,
				err == -EINVAL ? "no password in its first line" : strerror(-err));
		offer.password = password;
	}
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	metrics = metrics__new(config->socket, groups[config->by], (uint32_t)config->rows);
	if (!metrics)
		return complain(STATUS_FAILURE, "out of memory");
	http = http__new(address->ai_addr, address->ai_addrlen, &offer, metrics);
	if (http) {
		fprintf(stderr, "quartz-exporter: listening at port %u\n", http__port(http));
		sigwait(&set, &number);
		http__free(http);
		metrics__free(metrics);
		return STATUS_OK;
	}
	metrics__free(metrics);
	return complain(STATUS_FAILURE, "cannot listen at %s: %s", config->listen, strerror(errno));
}

int main(int argc, char *argv[])
{
	struct config config = {.listen = DEFAULT_ADDRESS, .rows = 50};
	struct addrinfo *address = NULL;
	char error[256], socket[4096];
	int first, status;

	qz_standard_files__open();
	first = qz_options__parse(argc, argv, options, &config, error, sizeof(error));
	if (first < 0)
		return complain(STATUS_USAGE, "%s; try quartz-exporter --help", error);
	if (first < argc)
		return complain(STATUS_USAGE,
				"unexpected argument '%s'; try quartz-exporter --help",
				argv[first]);
	if (config.help)
		qz_options__help(stdout, usage, options);
	if (config.version)
		puts("quartz-exporter " QUARTZ_VERSION);
	if (config.help || config.version)
		return fflush(stdout) ? STATUS_FAILURE : STATUS_OK;
	standard_socket(socket, sizeof(socket));
	if (!config.socket)
		config.socket = socket;
	if (!resolve(config.listen, &address))
		return complain(STATUS_USAGE, "--listen: '%s' is not ADDRESS:PORT, in numbers",
				config.listen);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	status = serve(&config, address);
	freeaddrinfo(address);
	free(config.hosts.items);
	return status;
}
