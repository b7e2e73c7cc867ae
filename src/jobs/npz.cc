#include "jobs/npz.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace hone::jobs {
namespace {

constexpr uint32_t kEndOfDirectory = 0x06054b50, kDirectoryEntry = 0x02014b50;
constexpr uint64_t kMostBytes = uint64_t{8} << 30;

tl::unexpected<Error> Bad(const std::string& what) {
  return MakeError(ErrorCode::kInvalidInput,
                   what + "; give a file as numpy.savez writes it, an array for each parameter");
}

// A little-endian number; the caller has seen to it that it is there.
template <class T>
T At(std::string_view data, size_t at) {
  T value;
  std::memcpy(&value, data.data() + at, sizeof(T));
  return value;
}

bool Inflate(std::string_view packed, std::string* out) {
  z_stream stream{};
  if (inflateInit2(&stream, -15) != Z_OK) return false;
  size_t read = 0, wrote = 0;
  int code = Z_OK;
  while (code == Z_OK) {
    constexpr size_t kMost = size_t{1} << 30;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + read));
    stream.avail_in = static_cast<uInt>(std::min(kMost, packed.size() - read));
    stream.next_out = reinterpret_cast<Bytef*>(out->data() + wrote);
    stream.avail_out = static_cast<uInt>(std::min(kMost, out->size() - wrote));
    const uInt in = stream.avail_in, room = stream.avail_out;
    code = inflate(&stream, Z_NO_FLUSH);
    read += in - stream.avail_in;
    wrote += room - stream.avail_out;
    if (in == stream.avail_in && room == stream.avail_out) break;
  }
  inflateEnd(&stream);
  return (code == Z_STREAM_END || code == Z_BUF_ERROR) && wrote == out->size();
}

struct Member {
  std::string name;
  std::string bytes;
};

// A zip archive's files, stored or deflated.
StatusOr<std::vector<Member>> Members(std::string_view file) {
  constexpr size_t kEndSize = 22, kEntrySize = 46, kHeaderSize = 30;
  size_t end = std::string_view::npos;
  for (size_t back = kEndSize; back <= std::min(file.size(), kEndSize + 65535); ++back) {
    if (At<uint32_t>(file, file.size() - back) != kEndOfDirectory) continue;
    end = file.size() - back;
    break;
  }
  if (end == std::string_view::npos) return Bad("it is no .npz file");
  const size_t count = At<uint16_t>(file, end + 10);
  size_t at = At<uint32_t>(file, end + 16);
  std::vector<Member> members;
  for (size_t k = 0; k < count; ++k) {
    if (at > file.size() || file.size() - at < kEntrySize ||
        At<uint32_t>(file, at) != kDirectoryEntry) {
      return Bad("its table of contents is damaged");
    }
    const int method = At<uint16_t>(file, at + 10);
    uint64_t packed = At<uint32_t>(file, at + 20), size = At<uint32_t>(file, at + 24);
    uint64_t header = At<uint32_t>(file, at + 42);
    const size_t name_size = At<uint16_t>(file, at + 28), extra_size = At<uint16_t>(file, at + 30);
    const size_t comment_size = At<uint16_t>(file, at + 32);
    if (file.size() - at - kEntrySize < name_size + extra_size + comment_size) {
      return Bad("its table of contents is damaged");
    }
    Member member{std::string(file.substr(at + kEntrySize, name_size)), {}};
    // Sizes beyond 4 GiB stand in an extra field, in this order, those that are needed.
    std::string_view extra = file.substr(at + kEntrySize + name_size, extra_size);
    while (extra.size() >= 4) {
      const size_t length = At<uint16_t>(extra, 2);
      if (extra.size() - 4 < length) break;
      std::string_view field = extra.substr(4, length);
      if (At<uint16_t>(extra, 0) == 1) {
        for (uint64_t* number : {&size, &packed, &header}) {
          if (*number != 0xFFFFFFFFu || field.size() < 8) continue;
          *number = At<uint64_t>(field, 0);
          field.remove_prefix(8);
        }
      }
      extra.remove_prefix(4 + length);
    }
    at += kEntrySize + name_size + extra_size + comment_size;
    if (header > file.size() || file.size() - header < kHeaderSize) {
      return Bad(fmt::format("{} is cut off", member.name));
    }
    const size_t begin =
        header + kHeaderSize + At<uint16_t>(file, header + 26) + At<uint16_t>(file, header + 28);
    if (begin > file.size() || file.size() - begin < packed || size > kMostBytes) {
      return Bad(fmt::format("{} is cut off", member.name));
    }
    const std::string_view data = file.substr(begin, packed);
    if (method == 0 && packed == size) {
      member.bytes = data;
    } else if (method == 8 && size / 1100 <= packed) {  // deflate makes nothing smaller than that
      member.bytes.resize(size);
      if (!Inflate(data, &member.bytes)) return Bad(fmt::format("{} is damaged", member.name));
    } else {
      return Bad(fmt::format("{} is packed in a way that numpy does not use", member.name));
    }
    members.push_back(std::move(member));
  }
  return members;
}

// The value behind 'key': in numpy's header, a Python dict of a fixed form.
std::string_view Value(std::string_view header, const std::string& key) {
  const size_t at = header.find("'" + key + "':");
  if (at == std::string_view::npos) return {};
  std::string_view rest = header.substr(at + key.size() + 3);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return rest;
}

std::optional<std::vector<int64_t>> ShapeOf(std::string_view text) {
  if (text.empty() || text.front() != '(') return std::nullopt;
  std::vector<int64_t> dimensions;
  const char* at = text.data() + 1;
  const char* const end = text.data() + text.size();
  while (at < end && *at != ')') {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    int64_t size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc() || size < 0) return std::nullopt;
    dimensions.push_back(size);
    at = next;
  }
  return dimensions;
}

struct Kind {
  const char* type;
  size_t bytes;
};

// By numpy's code, without the byte order: little-endian or one byte.
std::optional<Kind> KindOf(std::string_view code) {
  static const std::map<std::string_view, Kind> kinds = {
      {"b1", {"pred", 1}}, {"i1", {"s8", 1}},     {"i2", {"s16", 2}},  {"i4", {"s32", 4}},
      {"i8", {"s64", 8}},  {"u1", {"u8", 1}},     {"u2", {"u16", 2}},  {"u4", {"u32", 4}},
      {"u8", {"u64", 8}},  {"f2", {"f16", 2}},    {"f4", {"f32", 4}},  {"f8", {"f64", 8}},
      {"c8", {"c64", 8}},  {"c16", {"c128", 16}}, {"V1", {"raw8", 1}}, {"V2", {"raw16", 2}}};
  const auto known = kinds.find(code);
  if (known == kinds.end()) return std::nullopt;
  return known->second;
}

// Row-major bytes of a column-major array.
std::string Transposed(const std::string& bytes, const std::vector<int64_t>& dimensions,
                       size_t width) {
  std::string out(bytes.size(), 0);
  const size_t count = bytes.size() / std::max<size_t>(width, 1);
  for (size_t i = 0; i < count; ++i) {  // row-major number of an element
    size_t left = i, at = 0;
    for (size_t d = dimensions.size(); d-- > 0;) {
      size_t step = 1;
      for (size_t e = 0; e < d; ++e) step *= static_cast<size_t>(dimensions[e]);
      at += left % static_cast<size_t>(dimensions[d]) * step;
      left /= static_cast<size_t>(dimensions[d]);
    }
    std::memcpy(out.data() + i * width, bytes.data() + at * width, width);
  }
  return out;
}

// A file of numpy's own format (numpy.lib.format, versions 1 to 3).
StatusOr<NamedArray> Parse(Member member, std::string* code) {
  std::string& data = member.bytes;
  NamedArray array;
  array.name = member.name.substr(0, member.name.rfind(".npy"));
  if (data.size() < 12 || data.compare(0, 6, "\x93NUMPY") != 0) {
    return Bad(array.name + " is no array of numpy's");
  }
  const bool old = data[6] == 1;
  const size_t begin = old ? 10 : 12;
  const size_t length = old ? At<uint16_t>(data, 8) : At<uint32_t>(data, 8);
  if (data.size() - begin < length) return Bad(array.name + " is cut off");
  const std::string header = data.substr(begin, length);
  std::string_view type = Value(header, "descr");
  const auto dimensions = ShapeOf(Value(header, "shape"));
  if (type.size() < 2 || type.front() != '\'' || !dimensions) {
    return Bad(array.name + " has fields, or a header that is damaged");
  }
  type = type.substr(1, type.find('\'', 1) - 1);
  *code = std::string(type);
  array.dimensions = *dimensions;
  data.erase(0, begin + length);
  if (!type.empty() && type[0] == '<' && type.size() > 1 && type[1] == 'U') {
    array.type = "text";
    array.bytes = std::move(data);
    return array;
  }
  const auto kind = type.size() > 1 && type[0] != '>' ? KindOf(type.substr(1)) : std::nullopt;
  if (!kind) return Bad(fmt::format("{} is of dtype {}, which XLA lacks", array.name, type));
  array.type = kind->type;
  uint64_t bytes = kind->bytes;
  for (const int64_t size : array.dimensions) {
    if (size > 0 && bytes > kMostBytes / static_cast<uint64_t>(size)) {
      return Bad(array.name + " is too large");
    }
    bytes *= static_cast<uint64_t>(size);
  }
  if (data.size() != bytes) return Bad(array.name + " is cut off");
  array.bytes = Value(header, "fortran_order").substr(0, 4) == "True"
                    ? Transposed(data, array.dimensions, kind->bytes)
                    : std::move(data);
  return array;
}

// Texts of numpy's `<U…`: 32 bits a character, all of one length.
std::vector<std::string> Texts(const NamedArray& array) {
  const size_t count = array.dimensions.empty() ? 1 : static_cast<size_t>(array.dimensions[0]);
  const size_t width = count == 0 ? 0 : array.bytes.size() / count;
  std::vector<std::string> texts(count);
  for (size_t i = 0; i < count; ++i) {
    for (size_t at = 0; at + 4 <= width; at += 4) {
      const char character = array.bytes[i * width + at];
      if (character != 0) texts[i] += character;
    }
  }
  return texts;
}

}  // namespace

StatusOr<std::vector<NamedArray>> ReadNpz(std::string_view file) {
  StatusOr<std::vector<Member>> members = Members(file);
  if (!members) return tl::unexpected(members.error());
  std::vector<NamedArray> arrays;
  std::vector<std::string> kinds;
  for (Member& member : *members) {
    std::string code;
    StatusOr<NamedArray> array = Parse(std::move(member), &code);
    if (!array) return tl::unexpected(array.error());
    if (array->type == "text") {
      if (array->name != "kinds") {
        return Bad(fmt::format("{} is of dtype {}, which XLA lacks", array->name, code));
      }
      kinds = Texts(*array);
    } else {
      arrays.push_back(*std::move(array));
    }
  }
  for (NamedArray& array : arrays) {  // a0, a1, … of a recording
    size_t number = 0;
    const char* const end = array.name.data() + array.name.size();
    if (array.name.size() < 2 || array.name[0] != 'a' ||
        std::from_chars(array.name.data() + 1, end, number).ptr != end || number >= kinds.size()) {
      continue;
    }
    if (kinds[number] == "bfloat16") array.type = "bf16";
  }
  return arrays;
}

}  // namespace hone::jobs
