#include "wire/code_files.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace hone::wire {
namespace {

namespace fs = std::filesystem;

Fingerprint Key(uint64_t number) { return {7, number}; }

// Of its key's number, in lengths of many kinds.
std::string Code(uint64_t number) {
  std::string code;
  for (uint64_t i = 0; i < 20 + number * 37 % 1500; ++i) {
    code += static_cast<char>(number * 131 + i * 7);
  }
  return code;
}

class CodeFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "hone-code-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::unique_ptr<CodeFiles> Open(int64_t most_bytes = kMostCodeFileBytes) const {
    return CodeFiles::Open(folder_, most_bytes);
  }
  fs::path Recent() const { return fs::path(folder_) / "recent"; }
  std::string Bytes() const {
    std::ifstream file(Recent(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Write(const std::string& bytes) const {
    std::ofstream(Recent(), std::ios::binary | std::ios::trunc) << bytes;
  }

  std::string folder_;
};

TEST_F(CodeFilesTest, WhatOneAddsOthersFind) {
  const auto early = Open();
  EXPECT_FALSE(early->Find(Key(1)));
  Open()->Add(Key(1), Code(1));
  EXPECT_EQ(early->Find(Key(1)), Code(1)) << "it was open before";
  EXPECT_EQ(Open()->Find(Key(1)), Code(1));
  EXPECT_FALSE(Open()->Find(Key(2)));
}

TEST_F(CodeFilesTest, NothingIsAddedTwice) {
  Open()->Add(Key(1), Code(1));
  const std::string once = Bytes();
  Open()->Add(Key(1), Code(1));
  EXPECT_EQ(Bytes(), once);
}

TEST_F(CodeFilesTest, WhatIsForbiddenIsNotFoundNorAdded) {
  const auto early = Open();
  early->Add(Key(1), Code(1));
  EXPECT_TRUE(early->Find(Key(1)));
  const auto other = Open();
  other->Forbid(Key(1));
  EXPECT_FALSE(other->Find(Key(1)));
  other->Add(Key(1), Code(1));
  const auto late = Open();
  EXPECT_FALSE(late->Find(Key(1)));
  late->Add(Key(1), Code(1));
  EXPECT_FALSE(late->Find(Key(1)));
}

// Cut anywhere: by a full disk, or by a process that is killed as it writes.
TEST_F(CodeFilesTest, WhatIsTornIsPassedOver) {
  Open()->Add(Key(1), Code(1));
  const size_t first = Bytes().size();
  Open()->Add(Key(2), Code(2));
  const std::string both = Bytes();
  for (size_t cut = first + 1; cut < both.size(); ++cut) {
    Write(both.substr(0, cut));
    const auto files = Open();
    EXPECT_FALSE(files->Find(Key(2))) << cut;
    for (uint64_t i = 3; i < 8; ++i) files->Add(Key(i), Code(i));
    files->Add(Key(2), Code(2));
    files->Add(Key(9), Code(9));
    const auto later = Open();
    EXPECT_EQ(later->Find(Key(1)), Code(1)) << cut;
    EXPECT_EQ(later->Find(Key(9)), Code(9)) << cut;
    for (uint64_t i = 2; i < 8; ++i) EXPECT_EQ(later->Find(Key(i)), Code(i)) << cut;
  }
}

TEST_F(CodeFilesTest, WhatIsChangedIsNotFound) {
  Open()->Add(Key(1), Code(1));
  Open()->Add(Key(2), Code(2));
  const std::string bytes = Bytes();
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x20);
    Write(changed);
    const auto files = Open();
    for (const uint64_t i : {1, 2}) {
      const auto found = files->Find(Key(i));
      if (found) {
        EXPECT_EQ(found, Code(i)) << at;
      }
    }
  }
}

TEST_F(CodeFilesTest, WhatIsUsedStaysAndOthersGo) {
  constexpr int64_t kMost = 20'000;
  Open(kMost)->Add(Key(0), Code(0));
  bool seldom_was_there = false;
  for (uint64_t round = 1; round < 200; ++round) {
    const auto files = Open(kMost);
    EXPECT_EQ(files->Find(Key(0)), Code(0)) << round;
    EXPECT_EQ(files->Find(Key(round - 1)), Code(round - 1)) << "room for it was made";
    seldom_was_there = seldom_was_there || files->Find(Key(1)).has_value();
    files->Add(Key(round), Code(round));
    EXPECT_LE(fs::file_size(Recent()), static_cast<uintmax_t>(kMost));
    if (round == 100) {
      EXPECT_TRUE(seldom_was_there);
    }
  }
  const auto files = Open(kMost);
  EXPECT_FALSE(files->Find(Key(60))) << "no one has asked for it since";
  EXPECT_TRUE(files->Find(Key(0)));
}

TEST_F(CodeFilesTest, ManyWriteAtOnce) {
  std::vector<std::thread> writers;
  for (uint64_t writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      const auto files = Open();
      for (uint64_t i = 0; i < 200; ++i) files->Add(Key(writer * 1000 + i), Code(i));
    });
  }
  for (std::thread& writer : writers) writer.join();
  const auto files = Open();
  for (uint64_t writer = 0; writer < 4; ++writer) {
    for (uint64_t i = 0; i < 200; ++i) {
      EXPECT_EQ(files->Find(Key(writer * 1000 + i)), Code(i));
    }
  }
}

TEST_F(CodeFilesTest, WritersMayBeKilled) {
  for (int round = 0; round < 10; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      const auto files = Open();
      for (uint64_t i = 0;; ++i) files->Add(Key(1000 * round + i % 1000), Code(i % 1000));
    }
    while (Bytes().size() < 20'000 * static_cast<size_t>(round + 1)) usleep(200);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  const auto files = Open();
  int found = 0;
  for (uint64_t i = 0; i < 10'000; ++i) {
    const auto code = files->Find(Key(i));
    if (code) {
      EXPECT_EQ(code, Code(i % 1000));
    }
    found += code.has_value();
  }
  EXPECT_GT(found, 0);
}

TEST_F(CodeFilesTest, CodeOfOthersIsNotRun) {
  Open()->Add(Key(1), Code(1));
  fs::permissions(Recent(), fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(Open(), nullptr);
  fs::remove(Recent());
  fs::create_symlink("/etc/passwd", Recent());
  EXPECT_EQ(Open(), nullptr);
}

TEST_F(CodeFilesTest, NoFolderNoFiles) {
  EXPECT_EQ(CodeFiles::Open("/proc/none/such"), nullptr);
  std::ofstream(Recent()) << "";
  EXPECT_EQ(CodeFiles::Open(Recent().string()), nullptr) << "it is a file";
}

TEST(MakersOfCode, DifferByFile) {
  EXPECT_EQ(MakersOfCode({"/proc/self/exe"}), MakersOfCode({"/proc/self/exe"}));
  EXPECT_NE(MakersOfCode({"/proc/self/exe"}), MakersOfCode({"/bin/sh"}));
}

}  // namespace
}  // namespace hone::wire
