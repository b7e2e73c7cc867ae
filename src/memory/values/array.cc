#include "memory/values/array.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

namespace hone::memory {

Array MakeArray(ElementType type, Box box) {
  Array array;
  array.type = type;
  array.box = std::move(box);
  const auto count = static_cast<size_t>(Elements(array.box));
  switch (KindOf(type)) {
    case ValueKind::kInteger:
      array.integers.resize(count);
      break;
    case ValueKind::kReal:
      array.reals.resize(count);
      break;
    case ValueKind::kComplex:
      array.complexes.resize(count);
      break;
    case ValueKind::kNone:
      break;
  }
  return array;
}

void CopyElement(const Array& source, int64_t from, Array& target, int64_t to) {
  const auto s = static_cast<size_t>(from), t = static_cast<size_t>(to);
  switch (KindOf(target.type)) {
    case ValueKind::kInteger:
      target.integers[t] = source.integers[s];
      break;
    case ValueKind::kReal:
      target.reals[t] = source.reals[s];
      break;
    case ValueKind::kComplex:
      target.complexes[t] = source.complexes[s];
      break;
    case ValueKind::kNone:
      break;
  }
}

void CopyRun(const Array& source, int64_t from, int64_t from_step, Array& target, int64_t to,
             int64_t to_step, int64_t count) {
  const auto copy = [&](const auto& values, auto& copies) {
    const auto* x = values.data() + from;
    auto* y = copies.data() + to;
    if (from_step == 1 && to_step == 1) {
      std::copy_n(x, count, y);
      return;
    }
    for (int64_t i = 0; i < count; ++i) y[i * to_step] = x[i * from_step];
  };
  switch (KindOf(target.type)) {
    case ValueKind::kInteger:
      return copy(source.integers, target.integers);
    case ValueKind::kReal:
      return copy(source.reals, target.reals);
    case ValueKind::kComplex:
      return copy(source.complexes, target.complexes);
    case ValueKind::kNone:
      break;
  }
}

void CopyBox(const Array& source, Array& target, const Box& box) {
  ForEachRow(box, [&](const std::vector<int64_t>& index, int64_t, int64_t count) {
    CopyRun(source, Position(source.box, index), 1, target, Position(target.box, index), 1, count);
  });
}

Array Cut(const Array& whole, const Box& box) {
  if (whole.box == box) return whole;
  Array part = MakeArray(whole.type, box);
  CopyBox(whole, part, box);
  return part;
}

void Fill(const Array& scalar, Array& result) {
  CopyRun(scalar, 0, 0, result, 0, 1, Elements(result.box));
}

void DecodeElement(const char* bytes, Array& array, int64_t at) {
  const auto k = static_cast<size_t>(at);
  switch (KindOf(array.type)) {
    case ValueKind::kInteger:
      array.integers[k] = DecodeInteger(bytes, array.type);
      break;
    case ValueKind::kReal:
      array.reals[k] = DecodeReal(bytes, array.type);
      break;
    case ValueKind::kComplex: {
      const ElementType part =
          array.type == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64;
      array.complexes[k] = {DecodeReal(bytes, part), DecodeReal(bytes + BytesOf(part), part)};
      break;
    }
    case ValueKind::kNone:
      break;
  }
}

void EncodeElement(const Array& array, int64_t at, char* bytes) {
  const auto k = static_cast<size_t>(at);
  switch (KindOf(array.type)) {
    case ValueKind::kInteger:
      return EncodeInteger(array.integers[k], array.type, bytes);
    case ValueKind::kReal:
      return EncodeReal(array.reals[k], array.type, bytes);
    case ValueKind::kComplex: {
      const ElementType part =
          array.type == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64;
      EncodeReal(array.complexes[k].real(), part, bytes);
      return EncodeReal(array.complexes[k].imag(), part, bytes + BytesOf(part));
    }
    case ValueKind::kNone:
      break;
  }
}

Array Decode(std::string_view bytes, ElementType type, const std::vector<int64_t>& dimensions) {
  Array array = MakeArray(type, WholeBox(dimensions));
  const int64_t size = BytesOf(type), count = Elements(dimensions);
  HONE_CHECK(static_cast<int64_t>(bytes.size()) == count * size);
  DecodeRun(bytes.data(), size, count, array, 0);
  return array;
}

namespace {

// Calls `run` with a number of the C++ type that an element is in memory; false where there is
// none.
template <class Run>
bool WithNumber(ElementType type, Run run) {
  switch (type) {
    case ElementType::kS8:
      return run(int8_t{});
    case ElementType::kS16:
      return run(int16_t{});
    case ElementType::kS32:
      return run(int32_t{});
    case ElementType::kS64:
    case ElementType::kU64:
      return run(int64_t{});
    case ElementType::kPred:
    case ElementType::kU8:
      return run(uint8_t{});
    case ElementType::kU16:
      return run(uint16_t{});
    case ElementType::kU32:
      return run(uint32_t{});
    case ElementType::kF32:
      return run(float{});
    case ElementType::kF64:
      return run(double{});
    default:
      return false;
  }
}

}  // namespace

void DecodeRun(const char* bytes, int64_t step, int64_t count, Array& array, int64_t at) {
  const bool done = WithNumber(array.type, [&](auto number) {
    using Number = decltype(number);
    const auto decode = [&](auto* to, int64_t between) {
      for (int64_t i = 0; i < count; ++i) {
        Number value;
        std::memcpy(&value, bytes + i * between, sizeof value);
        if constexpr (std::is_same_v<Number, uint8_t>) {
          if (array.type == ElementType::kPred) value = value != 0;
        }
        to[i] = static_cast<std::remove_reference_t<decltype(*to)>>(value);
      }
    };
    const auto run = [&](auto* to) {
      step == sizeof(Number) ? decode(to, sizeof(Number)) : decode(to, step);
    };
    if constexpr (std::is_integral_v<Number>) {
      run(array.integers.data() + at);
    } else {
      run(array.reals.data() + at);
    }
    return true;
  });
  for (int64_t i = 0; i < count && !done; ++i) DecodeElement(bytes + i * step, array, at + i);
}

void EncodeRun(const Array& array, int64_t at, int64_t count, char* bytes, int64_t step) {
  const bool done = WithNumber(array.type, [&](auto number) {
    using Number = decltype(number);
    const auto encode = [&](const auto* from, int64_t between) {
      for (int64_t i = 0; i < count; ++i) {
        const auto value = static_cast<Number>(from[i]);
        std::memcpy(bytes + i * between, &value, sizeof value);
      }
    };
    const auto run = [&](const auto* from) {
      step == sizeof(Number) ? encode(from, sizeof(Number)) : encode(from, step);
    };
    if constexpr (std::is_integral_v<Number>) {
      run(array.integers.data() + at);
    } else {
      run(array.reals.data() + at);
    }
    return true;
  });
  for (int64_t i = 0; i < count && !done; ++i) EncodeElement(array, at + i, bytes + i * step);
}

namespace {

// The first thing in a literal that may be a number: behind braces, blanks, and comments, which XLA
// writes from rank 3 on, as in "{ { /*i0=0*/ {".
const char* NextNumber(const char* at) {
  while (*at != 0) {
    if (std::string_view("{}, \n()").find(*at) != std::string_view::npos) {
      ++at;
    } else if (at[0] == '/' && at[1] == '*') {
      const char* end = std::strstr(at + 2, "*/");
      if (end == nullptr) return at;
      at = end + 2;
    } else {
      return at;
    }
  }
  return at;
}

}  // namespace

StatusOr<Array> ParseLiteral(std::string_view text, ElementType type,
                             const std::vector<int64_t>& dimensions) {
  Array array = MakeArray(type, WholeBox(dimensions));
  const std::string copy(text);
  const char* at = copy.c_str();
  const auto number = [&at](auto parse) {
    char* end = nullptr;
    const auto value = parse(at, &end);
    const bool moved = end != at;
    at = end;
    return std::pair(value, moved);
  };
  const auto real = [](const char* from, char** end) { return std::strtod(from, end); };
  const int64_t count = Elements(dimensions);
  for (int64_t i = 0; i < count; ++i) {
    at = NextNumber(at);
    const char* const before = at;
    bool moved = true;
    const auto k = static_cast<size_t>(i);
    if (std::string_view(at).substr(0, 4) == "true") {
      array.integers[k] = 1;
      at += 4;
    } else if (std::string_view(at).substr(0, 5) == "false") {
      at += 5;
    } else if (KindOf(type) == ValueKind::kInteger) {
      if (IsSigned(type)) {
        std::tie(array.integers[k], moved) = number(
            [](const char* from, char** end) { return int64_t{std::strtoll(from, end, 10)}; });
      } else {
        std::tie(array.integers[k], moved) = number([](const char* from, char** end) {
          return static_cast<int64_t>(std::strtoull(from, end, 10));
        });
      }
    } else if (KindOf(type) == ValueKind::kReal) {
      std::tie(array.reals[k], moved) = number(real);
      array.reals[k] = Round(array.reals[k], type);
    } else if (KindOf(type) == ValueKind::kComplex) {
      const double first = number(real).first;
      while (*at == ',' || *at == ' ') ++at;
      array.complexes[k] = {first, number(real).first};
    } else {
      moved = false;
    }
    if (!moved) {
      constexpr size_t kMostShown = 40;
      std::string shown(std::string_view(before).substr(0, kMostShown));
      if (std::strlen(before) > kMostShown) shown += "…";
      return MakeError(ErrorCode::kUnsupported, "cannot read element " + std::to_string(i) +
                                                    " of a constant of type " + NameOf(type) +
                                                    ", at '" + shown + "'");
    }
  }
  return array;
}

double AsReal(const Array& array, int64_t at) {
  const auto k = static_cast<size_t>(at);
  switch (KindOf(array.type)) {
    case ValueKind::kInteger:
      return array.type == ElementType::kU64
                 ? static_cast<double>(static_cast<uint64_t>(array.integers[k]))
                 : static_cast<double>(array.integers[k]);
    case ValueKind::kReal:
      return array.reals[k];
    case ValueKind::kComplex:
      return array.complexes[k].real();
    case ValueKind::kNone:
      break;
  }
  return 0;
}

}  // namespace hone::memory
