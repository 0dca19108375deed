#include "faults.hpp"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <vector>

#include "operation.hpp"

namespace loopback::faults {
namespace {

struct fault {
  std::string name;
  std::vector<std::uint64_t> numbers;
};

struct planned {
  std::mutex mutex;
  std::vector<fault> faults;
  std::uint64_t calls       = 0;
  std::uint64_t allocations = 0;
};

std::vector<fault> parsed(std::string const& text)
{
  static std::pair<char const*, std::size_t> const known[] = {{"fail", 2},  {"memory", 1}, {"polls", 1},
                                                              {"async", 3}, {"kill", 2},   {"die", 2},
                                                              {"stall", 2}, {"slow", 2},   {"corrupt", 2}};
  std::vector<fault> faults;
  std::istringstream list(text);
  for (std::string item; std::getline(list, item, ',');) {
    std::istringstream fields(item);
    fault one;
    std::getline(fields, one.name, ':');
    bool sound = true;
    for (std::string field; std::getline(fields, field, ':');) {
      sound = sound && !field.empty() && field.find_first_not_of("0123456789") == std::string::npos;
      one.numbers.push_back(std::strtoull(field.c_str(), nullptr, 10));
    }
    bool is_known = false;
    for (auto const& [name, numbers] : known) {
      is_known = is_known || (one.name == name && one.numbers.size() == numbers);
    }
    if (!sound || !is_known) {
      throw failure(ncclInvalidArgument, "\"" + item + "\" is no fault that the loopback knows");
    }
    faults.push_back(one);
  }
  return faults;
}

planned& plans()
{
  static planned& all    = *new planned;  // used until the last thread ends
  static bool const read = [] {
    if (char const* const text = std::getenv("LOOPBACK_FAULTS")) {
      try {
        all.faults = parsed(text);
      } catch (failure const& error) {
        std::fprintf(stderr, "LOOPBACK_FAULTS: %s\n", error.what());
        std::abort();  // a test that plans a fault must not run without it
      }
    }
    return true;
  }();
  static_cast<void>(read);
  return all;
}

}  // namespace

void plan(std::string const& text)
{
  std::vector<fault> faults = parsed(text);
  planned& all              = plans();
  std::lock_guard const guard(all.mutex);
  all.faults      = std::move(faults);
  all.calls       = 0;
  all.allocations = 0;
}

ncclResult_t next_call()
{
  planned& all = plans();
  std::lock_guard const guard(all.mutex);
  ++all.calls;
  for (fault const& one : all.faults) {
    if (one.name == "fail" && one.numbers[0] == all.calls) {
      return static_cast<ncclResult_t>(one.numbers[1]);
    }
  }
  return ncclSuccess;
}

bool next_allocation_fails()
{
  planned& all = plans();
  std::lock_guard const guard(all.mutex);
  ++all.allocations;
  for (fault const& one : all.faults) {
    if (one.name == "memory" && one.numbers[0] == all.allocations) {
      return true;
    }
  }
  return false;
}

int polls()
{
  planned& all = plans();
  std::lock_guard const guard(all.mutex);
  for (fault const& one : all.faults) {
    if (one.name == "polls") {
      return static_cast<int>(one.numbers[0]);
    }
  }
  return 0;
}

fate of(int rank, std::uint64_t operation)
{
  planned& all = plans();
  std::lock_guard const guard(all.mutex);
  fate result;
  for (fault const& one : all.faults) {
    if (one.name == "fail" || one.name == "memory" || one.name == "polls" ||
        one.numbers[0] != static_cast<std::uint64_t>(rank)) {
      continue;
    }
    if (one.name == "slow") {
      result.delay_ms = static_cast<int>(one.numbers[1]);
    } else if (one.numbers[1] == operation) {
      result.kill    = result.kill || one.name == "kill";
      result.die     = result.die || one.name == "die";
      result.stall   = result.stall || one.name == "stall";
      result.corrupt = result.corrupt || one.name == "corrupt";
      if (one.name == "async") {
        result.async = static_cast<ncclResult_t>(one.numbers[2]);
      }
    }
  }
  return result;
}

}  // namespace loopback::faults
