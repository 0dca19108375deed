#include "idx.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "dataset.hpp"

namespace bird::trainer {
namespace {

namespace fs = std::filesystem;

/// Two images of 2 x 3 pixels.
std::string const sound = std::string{"\x00\x00\x08\x03", 4} + std::string{"\x00\x00\x00\x02", 4} +
                          std::string{"\x00\x00\x00\x02", 4} + std::string{"\x00\x00\x00\x03", 4} +
                          "abcdefghijkl";

class Idx : public testing::Test {
 protected:
  void SetUp() override
  {
    file_ = fs::path{testing::TempDir()} /
            (std::string{"idx_"} + testing::UnitTest::GetInstance()->current_test_info()->name() + ".gz");
  }
  void TearDown() override { fs::remove(file_); }

  void write_compressed(std::string const& contents)
  {
    gzFile const out = gzopen(file_.c_str(), "wb");
    ASSERT_EQ(gzwrite(out, contents.data(), static_cast<unsigned>(contents.size())),
              static_cast<int>(contents.size()));
    ASSERT_EQ(gzclose(out), Z_OK);
  }
  std::string raw() const
  {
    std::ifstream in{file_, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  void write_raw(std::string const& contents)
  {
    std::ofstream{file_, std::ios::binary}.write(contents.data(),
                                                 static_cast<std::streamsize>(contents.size()));
  }

  /// What reading the file complains about, after the file's name; empty when it does not.
  std::string complaint() const
  {
    try {
      (void)read_idx(file_, 3);
      return "";
    } catch (bad_dataset const& error) {
      std::string const text = error.what();
      EXPECT_EQ(text.find(file_.string()), 0U) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
      return text.substr(file_.string().size());
    }
  }

  void expect_complaint(std::string const& part) const
  {
    EXPECT_NE(complaint().find(part), std::string::npos) << "got: " << complaint();
  }

  fs::path file_;
};

TEST_F(Idx, ReadsASoundFile)
{
  write_compressed(sound);
  idx_array const array = read_idx(file_, 3);
  EXPECT_EQ(array.extents, (std::vector<std::uint32_t>{2, 2, 3}));
  EXPECT_EQ(std::string(array.bytes.begin(), array.bytes.end()), "abcdefghijkl");
}

TEST_F(Idx, NamesAMissingFileAndTheCure)
{
  expect_complaint("no such file");
  expect_complaint("apt-get install dataset-fashion-mnist");
}

TEST_F(Idx, RefusesAFolder)
{
  fs::create_directory(file_);
  expect_complaint("cannot be opened");
}

TEST_F(Idx, RefusesAFileThatIsNotGzip)
{
  write_raw(sound);
  expect_complaint("not a gzip file");
}

TEST_F(Idx, RefusesAnEmptyFile)
{
  write_raw("");
  EXPECT_NE(complaint(), "");
}

TEST_F(Idx, RefusesAGzipStreamThatIsCutOff)
{
  write_compressed(sound);
  std::string const whole = raw();
  for (std::size_t keep = 1; keep < whole.size(); ++keep) {
    write_raw(whole.substr(0, keep));
    EXPECT_NE(complaint(), "") << "kept " << keep << " of " << whole.size();
  }
}

TEST_F(Idx, RefusesAGzipStreamWithAWrongChecksum)
{
  write_compressed(sound);
  std::string damaged = raw();
  damaged[damaged.size() - 8] ^= 1;  // gzip ends with checksum and length, four bytes each
  write_raw(damaged);
  expect_complaint("damaged");
}

TEST_F(Idx, RefusesAnotherMagicNumber)
{
  std::string wrong = sound;
  wrong[0]          = 1;
  write_compressed(wrong);
  expect_complaint("not an IDX file");
}

TEST_F(Idx, RefusesAnotherElementType)
{
  std::string wrong = sound;
  wrong[2]          = 0x0D;
  write_compressed(wrong);
  expect_complaint("element type 0x0D");
}

TEST_F(Idx, RefusesAnotherNumberOfDimensions)
{
  std::string wrong = sound;
  wrong[3]          = 1;
  write_compressed(wrong);
  expect_complaint("1 dimensions, expected 3");
}

TEST_F(Idx, RefusesAHeaderThatIsCutOff)
{
  write_compressed(sound.substr(0, 10));
  expect_complaint("ends inside its header");
}

TEST_F(Idx, RefusesAnExtentOfZero)
{
  std::string wrong = sound;
  wrong[7]          = 0;
  write_compressed(wrong);
  expect_complaint("extent of 0");
}

TEST_F(Idx, RefusesExtentsThatNoFileHas)
{
  std::string wrong = sound;
  wrong[4] = wrong[8] = wrong[12] = '\x7F';
  write_compressed(wrong);
  expect_complaint("which cannot be");
}

TEST_F(Idx, RefusesTooFewBytes)
{
  write_compressed(sound.substr(0, sound.size() - 1));
  expect_complaint("holds 11 bytes of data, its header says 12");
}

TEST_F(Idx, RefusesTooManyBytes)
{
  write_compressed(sound + "m");
  expect_complaint("more data than the 12 bytes");
}

TEST(Dataset, RefusesALabelThatIsNoClass)
{
  fs::path const folder = fs::path{testing::TempDir()} / "dataset_wrong_label";
  fs::create_directories(folder);
  auto const write = [&](char const* name, std::string const& contents) {
    gzFile const out = gzopen((folder / name).c_str(), "wb");
    gzwrite(out, contents.data(), static_cast<unsigned>(contents.size()));
    gzclose(out);
  };
  write("train-images-idx3-ubyte.gz",
        std::string{"\x00\x00\x08\x03\x00\x00\x00\x01\x00\x00\x00\x1C\x00\x00\x00\x1C", 16} +
          std::string(784, 'x'));
  write("train-labels-idx1-ubyte.gz", std::string{"\x00\x00\x08\x01\x00\x00\x00\x01\x0A", 9});
  try {
    (void)load_dataset(folder);
    FAIL() << "label 10 was taken";
  } catch (bad_dataset const& error) {
    EXPECT_NE(std::string{error.what()}.find("label 0 is 10"), std::string::npos) << error.what();
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace bird::trainer
