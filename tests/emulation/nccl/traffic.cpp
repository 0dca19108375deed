#include "traffic.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

namespace loopback {
namespace {

struct records {
  std::mutex mutex;
  std::vector<std::shared_ptr<traffic>> all;
};

void write_at_exit();

records& all_records()
{
  static records& all    = *new records;  // threads may still run when the process ends
  static bool const once = [] {
    std::atexit(write_at_exit);
    return true;
  }();
  static_cast<void>(once);
  return all;
}

void write_at_exit()
{
  if (char const* const path = std::getenv("LOOPBACK_REPORT")) {
    std::string name = path;
    if (std::size_t const at = name.find("%p"); at != std::string::npos) {
      name.replace(at, 2, std::to_string(getpid()));
    }
    std::ofstream(name) << traffic::report();
  }
}

void add_to(loopbackTraffic& sum, loopbackTraffic const& more)
{
  sum.calls += more.calls;
  sum.payload_bytes += more.payload_bytes;
  sum.wire_bytes += more.wire_bytes;
}

std::string quoted(std::string const& text)
{
  std::string result = "\"";
  for (char const c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
    }
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result + "\"";
}

}  // namespace

std::shared_ptr<traffic> traffic::begin(std::string id, std::string name, int rank, int nranks)
{
  auto made     = std::make_shared<traffic>();
  made->id_     = std::move(id);
  made->name_   = std::move(name);
  made->rank_   = rank;
  made->nranks_ = nranks;
  records& all  = all_records();
  std::lock_guard const guard(all.mutex);
  all.all.push_back(made);
  return made;
}

void traffic::add(operation const& op)
{
  loopbackTraffic const one{1, op.call.count * op.element(), wire_bytes(op, rank_, nranks_)};
  std::lock_guard const guard(mutex_);
  add_to(by_kind_.at(static_cast<std::size_t>(op.call.what)), one);
}

loopbackTraffic traffic::sum(char const* function) const
{
  loopbackTraffic result{};
  bool known = function == nullptr;
  std::lock_guard const guard(mutex_);
  for (int k = 0; k < kinds; ++k) {
    if (function == nullptr || std::strcmp(function, name_of(static_cast<kind>(k))) == 0) {
      add_to(result, by_kind_.at(static_cast<std::size_t>(k)));
      known = true;
    }
  }
  if (!known) {
    throw failure(ncclInvalidArgument, std::string("no traffic is counted for ") + function);
  }
  return result;
}

loopbackTraffic traffic::sum_of_process(char const* function)
{
  records& all = all_records();
  std::lock_guard const guard(all.mutex);
  loopbackTraffic result{};
  for (auto const& one : all.all) {
    add_to(result, one->sum(function));
  }
  return result;
}

std::string traffic::report()
{
  records& all = all_records();
  std::lock_guard const guard(all.mutex);
  std::string text      = "{\"communicators\": [";
  char const* separator = "\n";
  for (auto const& one : all.all) {
    text += separator + ("  {\"id\": " + quoted(one->id_)) + ", \"name\": " + quoted(one->name_) +
            ", \"rank\": " + std::to_string(one->rank_) + ", \"nranks\": " + std::to_string(one->nranks_) +
            ", \"calls\": {";
    separator              = ",\n";
    char const* separator2 = "";
    for (int k = 0; k < kinds; ++k) {
      char const* const name    = name_of(static_cast<kind>(k));
      loopbackTraffic const sum = one->sum(name);
      if (sum.calls != 0) {
        text += separator2 + quoted(name) + ": {\"calls\": " + std::to_string(sum.calls) +
                ", \"payload_bytes\": " + std::to_string(sum.payload_bytes) +
                ", \"wire_bytes\": " + std::to_string(sum.wire_bytes) + "}";
        separator2 = ", ";
      }
    }
    text += "}}";
  }
  return text + "\n]}\n";
}

}  // namespace loopback
