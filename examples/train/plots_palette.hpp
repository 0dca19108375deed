/// plots_palette: the colours of charts and pages, on white and on black.
#pragma once

namespace bird::trainer {

struct palette {
  char const *page, *surface, *ink, *quiet, *grid, *axis, *ours, *peer, *neutral;
};

inline constexpr palette light_palette{"#f6f5f2", "#ffffff", "#1b1b19", "#5c5b56", "#e6e5e0",
                                       "#a8a7a0", "#2467c9", "#c2560f", "#6b6a64"};
inline constexpr palette dark_palette{"#111110", "#1c1c1a", "#f2f1ec", "#b3b2aa", "#363532",
                                      "#6c6b65", "#6ba5f5", "#f0935a", "#a9a8a0"};

}  // namespace bird::trainer
