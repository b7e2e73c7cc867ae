#include "compiler/kernels/object_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace hone::compiler {
namespace {

// Of one.c, same_otherwise_called.c and other.c, by the order in CMakeLists.txt.
std::string ReadObject(size_t index) {
  std::istringstream paths(HONE_OBJECTS);
  std::string path;
  for (size_t i = 0; i <= index; ++i) std::getline(paths, path, ':');
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

TEST(ObjectFile, TellsItsFunction) {
  EXPECT_EQ(DefinedFunction(ReadObject(0)), "one_kernel");
  EXPECT_EQ(DefinedFunction(ReadObject(1)), "a_kernel_with_a_longer_name");
}

TEST(ObjectFile, RenamesItsFunction) {
  const std::string one = ReadObject(0);
  for (const std::string name : {"x", "one_kernel", "a_kernel_with_a_longer_name", "fusion.12"}) {
    const auto renamed = RenameFunction(one, name);
    ASSERT_TRUE(renamed) << name;
    EXPECT_EQ(DefinedFunction(*renamed), name);
    EXPECT_TRUE(SameCode(one, *renamed)) << name;
    // And back.
    EXPECT_EQ(DefinedFunction(RenameFunction(*renamed, "one_kernel").value()), "one_kernel");
  }
}

TEST(ObjectFile, CodeIsTheSameWhateverItsFunctionIsCalled) {
  EXPECT_TRUE(SameCode(ReadObject(0), ReadObject(1)));
  EXPECT_FALSE(SameCode(ReadObject(0), ReadObject(2)));
}

TEST(ObjectFile, WhatIsNoObjectIsRefused) {
  const std::string one = ReadObject(0);
  EXPECT_FALSE(DefinedFunction(""));
  EXPECT_FALSE(
      RenameFunction("\x7f"
                     "ELF",
                     "x"));
  // Cut off or overwritten anywhere: an answer or none, never a read beyond the end.
  for (size_t at = 0; at < one.size(); at += 7) {
    (void)RenameFunction(one.substr(0, at), "x");
    std::string broken = one;
    broken[at] = static_cast<char>(broken[at] ^ 0xff);
    (void)RenameFunction(broken, "x");
    (void)SameCode(broken, one);
  }
}

}  // namespace
}  // namespace hone::compiler
