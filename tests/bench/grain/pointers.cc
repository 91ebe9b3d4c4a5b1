/* SPDX-License-Identifier: GPL-2.0-only */
/* Two threads that look things up in what they share: with a copy of the pointer for each look, or by reference. */
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

static constexpr int turns = 75000000;
static volatile long sink;

static __attribute__((noinline)) long copied(std::shared_ptr<std::vector<long>> table, int i)
{
	return (*table)[i % 1000];
}

static __attribute__((noinline)) long referred(const std::shared_ptr<std::vector<long>> &table,
					       int i)
{
	return (*table)[i % 1000];
}

static void look_up(const std::shared_ptr<std::vector<long>> &table, bool copies)
{
	long sum = 0;

	for (int i = 0; i < turns; i++)
		sum += copies ? copied(table, i) : referred(table, i);
	sink = sum;
}

int main(int argc, char **argv)
{
	auto table = std::make_shared<std::vector<long>>(1000);
	bool copies = argc < 2 || !strcmp(argv[1], "copies");
	std::thread other(look_up, table, copies);

	look_up(table, copies);
	other.join();
}
