/// report_page: the pieces of a self-contained page. What they are given as text they escape.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bird/span.hpp"
#include "plots.hpp"

namespace bird::trainer {

/// A key number: what it is, the number, and what to hold it against.
struct page_tile {
  std::string name, value, note;
};

struct page_table {
  std::vector<std::string> head;  ///< empty: rows of a name and a value
  std::vector<std::vector<std::string>> rows;
};

[[nodiscard]] std::string page_headline(std::string const& sentence, std::string const& below);
[[nodiscard]] std::string page_tiles(std::vector<page_tile> const& tiles);
[[nodiscard]] std::string page_charts(span<plot const> charts);
/// Columns after the first are aligned as numbers where there is a head.
[[nodiscard]] std::string page_table_of(std::string const& heading, page_table const& table);
/// The same behind a line that opens it.
[[nodiscard]] std::string page_folded_table(std::string const& summary, page_table const& table);
[[nodiscard]] std::string page_text(std::string const& heading, std::vector<std::string> const& paragraphs);
[[nodiscard]] std::string page_warning(std::string const& sentence);

/// The document: no script, no font, no picture and no style sheet from anywhere else.
[[nodiscard]] std::string page(std::string const& title, std::string const& body);

}  // namespace bird::trainer
