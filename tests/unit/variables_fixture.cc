/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Likewise in C++: namespaces, base classes, static members and the standard library's types.
 */
#include <condition_variable>
#include <mutex>

namespace app
{
struct base {
	long id;
	std::mutex guard;
};

struct queue : base {
	std::condition_variable filled;
	static std::mutex shared;
	std::mutex stripes[4];
};

std::mutex queue::shared;
queue jobs;
} // namespace app

int main()
{
	std::lock_guard<std::mutex> hold(app::jobs.guard);

	return app::queue::shared.try_lock();
}
