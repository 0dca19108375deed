/// The report's files: every field, nothing from outside, nothing half-written.
#include "report.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "report_text.hpp"

namespace bird::trainer {
namespace {

namespace fs = std::filesystem;

train_result sample_result()
{
  train_result result;
  result.method           = "bird";
  result.codec            = "tile";
  result.model            = "lenet5";
  result.sync             = "bsp";
  result.seed             = 7;
  result.workers          = 4;
  result.epochs           = 2;
  result.local_steps      = 1;
  result.parameters       = 61706;
  result.steps            = 20;
  result.rounds           = 20;
  result.test_accuracy    = 0.8819;
  result.loss             = 0.25;
  result.bytes_up         = 1000000;
  result.bytes_down       = 2000000;
  result.dense_bytes_up   = 19746000;
  result.dense_bytes_down = 19746000;
  result.seconds          = 12.5;
  result.learning_rate    = 0.03;
  result.curve            = {{0, 0, 0, 0.1, 0, 0, 0},
                             {1, 10, 0.5, 0.8, 500000, 1000000, 6},
                             {2, 20, 0.25, 0.8819, 1000000, 2000000, 12.5}};
  return result;
}

/// A folder that is gone afterwards.
class Report : public testing::Test {
 protected:
  Report()
  {
    std::string pattern = (fs::temp_directory_path() / "report-test-XXXXXX").string();
    folder_             = mkdtemp(pattern.data());
  }
  ~Report() override { fs::remove_all(folder_); }

  static std::string contents(fs::path const& file)
  {
    std::ostringstream text;
    text << std::ifstream{file, std::ios::binary}.rdbuf();
    return text.str();
  }

  fs::path folder_;
};

TEST_F(Report, JsonHasEveryFieldThatIsPromised)
{
  auto const json = nlohmann::json::parse(report_json({}, sample_result()));
  for (char const* field :
       {"method", "codec", "seed", "workers", "epochs", "test_accuracy", "bytes_up", "bytes_down",
        "dense_bytes_up", "dense_bytes_down", "seconds", "curve", "seconds_gradient", "seconds_codec",
        "seconds_link", "omega", "learning_rate", "options", "version"}) {
    EXPECT_TRUE(json.contains(field)) << field;
  }
}

TEST_F(Report, JsonHoldsTheNumbersOfTheRun)
{
  auto const json = nlohmann::json::parse(report_json({}, sample_result()));
  EXPECT_EQ(json["method"], "bird");
  EXPECT_EQ(json["seed"], 7);
  EXPECT_EQ(json["test_accuracy"], 0.8819);
  EXPECT_EQ(json["bytes_up"], 1000000);
  EXPECT_EQ(json["bytes_down"], 2000000);
  EXPECT_EQ(json["dense_bytes_up"], 19746000);
  EXPECT_EQ(json["seconds"], 12.5);
  ASSERT_EQ(json["curve"].size(), 3U);
  EXPECT_EQ(json["curve"][1]["test_accuracy"], 0.8);
  EXPECT_EQ(json["curve"][2]["bytes_down"], 2000000);
  EXPECT_EQ(json["options"]["codec"]["tile"], 8);
}

TEST_F(Report, JsonOfADivergedRunParses)
{
  auto result     = sample_result();
  result.diverged = true;
  result.loss     = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(nlohmann::json::parse(report_json({}, result))["loss"].is_null());
}

TEST_F(Report, PageRefersToNothingOutside)
{
  std::string const html = report_html({}, sample_result());
  EXPECT_FALSE(std::regex_search(html, std::regex{R"((src|href|xlink:href|action|data|poster)\s*=)"}));
  EXPECT_FALSE(
    std::regex_search(html, std::regex{R"((url\(|@import|<script|<link|<iframe|https?:|//[a-z]))"}));
}

TEST_F(Report, PageKnowsLightAndDarkAndNarrowScreens)
{
  std::string const html = report_html({}, sample_result());
  EXPECT_NE(html.find("prefers-color-scheme:dark"), std::string::npos);
  EXPECT_NE(html.find("width=device-width"), std::string::npos);
}

TEST_F(Report, PageOfAnUnlimitedLinkSaysThatCompressionGainedNoTime)
{
  EXPECT_NE(report_html({}, sample_result()).find("gained no time"), std::string::npos);
}

TEST_F(Report, PageStatesAccuracyAndShareOfBytesInItsHeadline)
{
  std::string const html = report_html({}, sample_result());
  EXPECT_NE(html.find("<h1>LeNet-5 reached 88.19 % test accuracy on 1/13 of the bytes of plain floats</h1>"),
            std::string::npos);
}

TEST_F(Report, HostileTextIsShownAndNotObeyed)
{
  train_options options;
  options.data           = "\"><script>alert(1)</script>\xFF&";
  auto result            = sample_result();
  result.codec           = "<img src=x onerror=alert(1)>";
  result.diverged        = true;
  result.advice          = "</p><script>";
  std::string const html = report_html(options, result);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_NE(html.find("&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;\xEF\xBF\xBD&amp;"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::accept(report_json(options, result)));
}

TEST_F(Report, WritesItsFilesAndLeavesNoOthers)
{
  train_options options;
  options.output             = folder_ / "new" / "report";
  auto const written         = write_report(options, sample_result());
  std::size_t const expected = written.note.empty() ? 4 : 3;  // curves.png needs gnuplot
  EXPECT_EQ(written.files.size(), expected);
  std::size_t found = 0;
  for (auto const& entry : fs::directory_iterator{options.output}) {
    EXPECT_GT(entry.file_size(), 0U) << entry.path();
    ++found;
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(contents(options.output / "curves.svg").substr(0, 5), "<svg ");
}

TEST_F(Report, WithoutGnuplotSaysWhyThereIsNoPngAndRemovesAnOldOne)
{
  train_options options;
  options.output = folder_;
  write_file(folder_ / "curves.png", "of another run");
  std::string const path = std::getenv("PATH");
  setenv("PATH", folder_.c_str(), 1);
  auto const written = write_report(options, sample_result());
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(written.note, "curves.png is not written: gnuplot is not installed (Debian: gnuplot-nox)");
  EXPECT_FALSE(fs::exists(folder_ / "curves.png"));
}

TEST_F(Report, AFolderThatIsAFileIsOneClearError)
{
  write_file(folder_ / "taken", "x");
  try {
    prepare_output(folder_ / "taken" / "report");
    FAIL() << "accepted";
  } catch (unwritable const& error) {
    std::string const message = error.what();
    EXPECT_NE(message.find((folder_ / "taken").string()), std::string::npos);
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

TEST_F(Report, AFailedWriteLeavesTheOldFile)
{
  write_file(folder_ / "report.json", "old");
  fs::create_directory(folder_ / "report.json.part");  // where the new one would be written
  EXPECT_THROW(write_file(folder_ / "report.json", "new"), unwritable);
  EXPECT_EQ(contents(folder_ / "report.json"), "old");
}

TEST(ReportText, NumbersReadWell)
{
  EXPECT_EQ(bytes_text(940584), "940,584 B");
  EXPECT_EQ(bytes_text(1614000), "1.61 MB");
  EXPECT_EQ(bytes_text(23.4e9), "23.4 GB");
  EXPECT_EQ(seconds_text(252), "4 min 12 s");
  EXPECT_EQ(fraction_text(1, 19), "1/19");
  EXPECT_EQ(fraction_text(10, 24), "1/2.4");
  EXPECT_EQ(fraction_text(100, 100), "as many");
  EXPECT_EQ(fraction_text(13, 10), "1.3 times");
}

TEST(ReportText, EscapingKeepsUtf8AndReplacesWhatIsNone)
{
  EXPECT_EQ(escaped("a<b & \"c\" 'd'"), "a&lt;b &amp; &quot;c&quot; &#39;d&#39;");
  EXPECT_EQ(escaped("\xC3\xA4"), "\xC3\xA4");
  EXPECT_EQ(
    escaped("\xC0\xAF|\xED\xA0\x80|\x01|\xE2\x82"),
    "\xEF\xBF\xBD\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD|\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD");
}

}  // namespace
}  // namespace bird::trainer
