/// interrupt: lets Ctrl-C (and SIGTERM) end a run in good order. A second one ends the program at once.
#pragma once

namespace bird::cli {

/// While one exists, the first SIGINT or SIGTERM only sets a flag.
class interrupt_guard {
 public:
  interrupt_guard();
  ~interrupt_guard();
  interrupt_guard(interrupt_guard const&)            = delete;
  interrupt_guard& operator=(interrupt_guard const&) = delete;

  [[nodiscard]] bool requested() const;
};

}  // namespace bird::cli
