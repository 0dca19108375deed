/// Accounting: what each rank of this process sent, by kind of call. Kept when the communicator is gone.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>

#include "loopback.h"
#include "operation.hpp"

namespace loopback {

class traffic {
 public:
  static std::shared_ptr<traffic> begin(std::string id, std::string name, int rank, int nranks);

  void add(operation const& op);
  /// `function` as in loopbackGetTraffic(). @throws failure for a name that is none
  loopbackTraffic sum(char const* function) const;

  static loopbackTraffic sum_of_process(char const* function);
  /// As JSON.
  static std::string report();

 private:
  std::string id_;
  std::string name_;
  int rank_   = 0;
  int nranks_ = 0;
  mutable std::mutex mutex_;
  std::array<loopbackTraffic, kinds> by_kind_{};
};

}  // namespace loopback
