/// Memory of error feedback on the host and, equal, on the device.
#pragma once

#include "device_list.hpp"

namespace bird_test {

/// Residuals and velocities of a list, equal on both sides to begin with.
class twin_memory {
 public:
  explicit twin_memory(twin_list const& list)
    : residual_{list.host(), bird::dtype::float32}, velocity_{list.host(), bird::dtype::float32}
  {
  }
  [[nodiscard]] bool same() const { return residual_.same() && velocity_.same(); }
  [[nodiscard]] bird::feedback host(float momentum) { return of(true, momentum); }
  [[nodiscard]] bird::feedback device(float momentum) { return of(false, momentum); }

 private:
  static std::vector<float*> pointers(std::vector<bird::tensor_view> const& views)
  {
    alignas(16) static float none = 0;  // for a tensor without elements: never followed
    std::vector<float*> all;
    for (bird::tensor_view const& view : views) {
      all.push_back(view.count == 0 ? &none : static_cast<float*>(view.data));
    }
    return all;
  }
  /// A momentum below zero stands for none.
  bird::feedback of(bool host, float momentum)
  {
    pointers_[0] = pointers(host ? residual_.host() : residual_.device());
    pointers_[1] = pointers(host ? velocity_.host() : velocity_.device());
    return momentum < 0 ? bird::feedback{pointers_[0], {}, 0}
                        : bird::feedback{pointers_[0], pointers_[1], momentum};
  }

  twin_outputs residual_;
  twin_outputs velocity_;
  std::vector<float*> pointers_[2];
};

}  // namespace bird_test
