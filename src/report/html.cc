#include "report/html.h"

#include <zlib.h>

#include <cstdint>
#include <vector>

namespace hone::report {
namespace {

// Where the data go; the app's bundle has it once.
constexpr std::string_view kSlot = "HONE-REPORT-DATA";
constexpr std::string_view kTitleSlot = "HONE-REPORT-TITLE";

std::string Base64(const unsigned char* bytes, size_t count) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((count + 2) / 3 * 4);
  for (size_t i = 0; i < count; i += 3) {
    const uint32_t three = static_cast<uint32_t>(bytes[i]) << 16 |
                           (i + 1 < count ? static_cast<uint32_t>(bytes[i + 1]) << 8 : 0) |
                           (i + 2 < count ? static_cast<uint32_t>(bytes[i + 2]) : 0);
    text += kDigits[three >> 18];
    text += kDigits[three >> 12 & 63];
    text += i + 1 < count ? kDigits[three >> 6 & 63] : '=';
    text += i + 2 < count ? kDigits[three & 63] : '=';
  }
  return text;
}

std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else {
      escaped += static_cast<unsigned char>(c) < 32 ? ' ' : c;
    }
  }
  return escaped;
}

}  // namespace

Status HaveTemplate() {
  if (!Template().empty()) return {};
  return MakeError(ErrorCode::kUnsupported,
                   "this hone was built without reports, for npm could not fetch their libraries; "
                   "when it can, run setup/build again");
}

std::string Packed(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::vector<unsigned char> bytes(size);
  HONE_CHECK(compress2(bytes.data(), &size, reinterpret_cast<const Bytef*>(text.data()),
                       text.size(), Z_BEST_COMPRESSION) == Z_OK);
  return Base64(bytes.data(), size);
}

StatusOr<std::string> ToHtml(const Document& document) {
  if (Status have = HaveTemplate(); !have) return tl::unexpected(have.error());
  std::string html(Template());
  const auto put = [&html](std::string_view slot, const std::string& text) {
    const size_t at = html.find(slot);
    HONE_CHECK(at != html.npos);
    html.replace(at, slot.size(), text);
  };
  put(kTitleSlot, Escaped(document.title));
  put(kSlot, Packed(ToJson(document).dump(-1, ' ', false, Json::error_handler_t::replace)));
  return html;
}

}  // namespace hone::report
