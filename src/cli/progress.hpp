/// progress: shows a run as it goes. One line that is rewritten on a terminal; elsewhere a plain line
/// for every epoch.
#pragma once

#include <cstdio>
#include <string>

#include "interrupt.hpp"
#include "session.hpp"

namespace bird::cli {

enum class progress_style {
  silent,
  plain,
  live,  ///< rewrites one line
  live_colored,
};

/// live on a terminal that can rewrite a line (not TERM=dumb), without colors where NO_COLOR is set to
/// anything but nothing (no-color.org); plain elsewhere.
[[nodiscard]] progress_style style_for(std::FILE* out);

class progress_line : public trainer::train_observer {
 public:
  progress_line(progress_style style, std::FILE* out, interrupt_guard const& interrupt)
    : style_{style}, out_{out}, interrupt_{interrupt}
  {
  }
  ~progress_line() override;

  void note(std::string const& line) override;
  void on_progress(trainer::progress const& now) override;
  [[nodiscard]] bool cancelled() const override { return interrupt_.requested(); }

 private:
  void clear_line();

  progress_style style_;
  std::FILE* out_;
  interrupt_guard const& interrupt_;
  bool line_open_ = false;  ///< the cursor stands at the end of a line that may be rewritten
};

}  // namespace bird::cli
