// By a matrix unit (Intel AMX: "Intel Architecture Instruction Set Extensions Programming
// Reference", chapter 3): a block of 32 by 32 sums in four of its tiles, and two tiles of each
// operand, 16 lines by 32 terms in bf16.
//
// What is f32 is the sum of three numbers of bf16, of 8 bits each, and a product the sum of those
// of their products that f32 has bits for (Henry, Tang and Heinecke, "Leveraging the bfloat16
// Artificial Intelligence Datatype For Higher-Precision Computations", 2019: x3, with 6 products).
#include <optional>

#include "loops/multiply_tile_packer.h"

namespace hone::loops {
namespace {

constexpr int64_t kAtOnce = 4;  // rows that go to the result
constexpr size_t kPieces = 3;   // of an f32: as many sizes of products count
constexpr size_t kMostProducts = 6;
// Products of tiles, of each pair of tiles of the second operand, that hide what is asked of memory
// beside them.
constexpr int64_t kLeastBeside = 24;

class TileWriter : public MultiplyTilePacker {
 public:
  using MultiplyTilePacker::MultiplyTilePacker;

 private:
  // No other text knows of tiles, so that they hold what they are given from one call to the next.
  template <class... Args>
  void Assembly(const std::string& text, const std::string& constraints, const Args&... operands) {
    const std::vector<std::string> list = {operands...};
    const std::vector<std::string> types(list.size(), "i64");
    Line("llvm.inline_asm has_side_effects asm_dialect = att \"{}\", \"{}\" {} : ({}) -> ()", text,
         constraints, fmt::join(list, ", "), fmt::join(types, ", "));
  }
  std::string Number(int64_t value) { return Let("arith.constant {} : i64", value); }
  // Of an element of what is packed.
  std::string Address(const std::string& base, const std::string& at) {
    const std::string offset = Let("arith.index_cast {} : index to i64", Times(at, 2));
    return Let("arith.addi {}, {} : i64", base, offset);
  }
  std::string Base(const std::string& buffer, const std::string& type) {
    const std::string index =
        Let("memref.extract_aligned_pointer_as_index {} : {} -> index", buffer, type);
    return Let("arith.index_cast {} : index to i64", index);
  }

  // Linux lends tiles to a process that asks for them (arch_prctl, ARCH_REQ_XCOMP_PERM).
  void BeforeParts() override {
    const std::string call = Number(158), ask = Number(0x1023), tiles = Number(18);
    Line(
        "{} = llvm.inline_asm has_side_effects asm_dialect = att \"syscall\", "
        "\"={{rax}},{{rax}},{{rdi}},{{rsi}},~{{rcx}},~{{r11}},~{{memory}}\" {}, {}, {} : "
        "(i64, i64, i64) -> i64",
        Name(), call, ask, tiles);
  }

  void BeginPart() override {
    block_type_ = fmt::format("memref<{}xf32>", 2 * kLines * 2 * kLines);
    block_ = Allocate(block_type_);
    MultiplyTilePacker::BeginPart();
    // Palette 1, 8 tiles of 16 rows of 64 bytes.
    std::vector<int> bytes(64, 0);
    bytes[0] = 1;
    for (size_t tile = 0; tile < 8; ++tile) {
      bytes[16 + 2 * tile] = 64;
      bytes[48 + tile] = 16;
    }
    const std::string type = "memref<64xi8>";
    const std::string how = Allocate(type);
    const std::string value =
        Let("arith.constant dense<[{}]> : vector<64xi8>", fmt::join(bytes, ", "));
    Line("vector.store {}, {}[{}] : {}, vector<64xi8>", value, how, Index(0), type);
    Assembly("ldtilecfg ($0)", "r,~{memory}", Base(how, type));
  }
  void EndPart() override { Assembly("tilerelease", "~{memory}"); }

  void Multiply(const Operand& a, const Operand& b, const Lines& rows, const Lines& columns,
                const Terms& terms, const std::string& row, const std::string& column) override {
    const std::string zero = Index(0);
    const std::string panel_a = TileAt(a, row, zero, zero), panel_b = TileAt(b, column, zero, zero);
    const std::string base_a = Base(a.buffer, a.type), base_b = Base(b.buffer, b.type);
    const std::string base = Base(block_, block_type_);
    const std::string row_bytes = Number(2 * kTerms), block_row = Number(4 * 2 * kLines);
    Assembly("tilezero %tmm0; tilezero %tmm1; tilezero %tmm2; tilezero %tmm3", "~{memory}");
    const std::string count = TilesOf(terms);
    const size_t pieces_a = Pieces(a.read), pieces_b = Pieces(b.read);
    std::optional<Ahead> ahead = AheadOf(a, b, rows, columns, terms, row);
    const size_t products = std::min(pieces_a * pieces_b, kMostProducts);
    if (ahead && ahead->turns * static_cast<int64_t>(products) < kLeastBeside) ahead.reset();
    const std::string pair = For(zero, count, Index(1));
    if (ahead) AskFor(*ahead, b, column, Times(pair, kTerms), kTerms);
    const std::string at_a = Address(base_a, Plus(panel_a, Times(pair, Pair(a))));
    const std::string at_b = Address(base_b, Plus(panel_b, Times(pair, Pair(b))));
    // In turns, so that what is loaded of one operand mostly stays for the next product.
    std::string text;
    size_t has_a = kPieces, has_b = kPieces;
    for (size_t i = pieces_a; i-- > 0;) {
      const size_t count = std::min(pieces_b, kPieces - i);
      for (size_t n = 0; n < count; ++n) {
        const size_t j = i % 2 == 0 ? count - 1 - n : n;
        const auto load = [&](size_t piece, size_t& has, int from, int tile) {
          if (has == piece) return;
          has = piece;
          for (const int half : {0, 1}) {
            text += fmt::format("tileloadd {}(${},$2,1), %tmm{}; ",
                                2 * kTile * (2 * static_cast<int64_t>(piece) + half), from,
                                tile + half);
          }
        };
        load(i, has_a, 0, 4);
        load(j, has_b, 1, 6);
        text +=
            "tdpbf16ps %tmm6, %tmm4, %tmm0; tdpbf16ps %tmm7, %tmm4, %tmm1; "
            "tdpbf16ps %tmm6, %tmm5, %tmm2; tdpbf16ps %tmm7, %tmm5, %tmm3; ";
      }
    }
    Assembly(text, "r,r,r,~{memory}", at_a, at_b, row_bytes);
    End();
    Assembly(
        "tilestored %tmm0, ($0,$1,1); tilestored %tmm1, 64($0,$1,1); "
        "tilestored %tmm2, 2048($0,$1,1); tilestored %tmm3, 2112($0,$1,1)",
        "r,r,~{memory}", base, block_row);
    if (pieces_a > 1 || pieces_b > 1) {
      Line("scf.if {} {{", HasNoNumber());
      Again(a, b, panel_a, panel_b, count);
      End();
    }
    const std::string next = For(zero, Index(2 * kLines), Index(kAtOnce));
    std::vector<std::string> sums;
    for (int64_t i = 0; i < kAtOnce; ++i) sums.push_back(LoadBlockRow(Plus(next, i)));
    ToResult(sums, a, b, rows, columns, terms, Plus(row, next), column);
    End();
  }

  std::string BlockRow(const std::string& row) {
    return fmt::format("{}[{}]", block_, Times(row, 2 * kLines));
  }
  std::string LoadBlockRow(const std::string& row) {
    return Let("vector.load {} : {}, {}", BlockRow(row), block_type_, vector_);
  }

  // Whether a sum in the block may be none: then all sums together are none.
  std::string HasNoNumber() {
    std::vector<std::string> all = {Vector(0)};
    const Carrying row = For(Index(0), Index(2 * kLines), 1, all);
    all[0] = Binary("arith.addf", all[0], LoadBlockRow(row.index));
    End(row, all);
    const std::string sum =
        Let("vector.reduction <add>, {} fastmath<reassoc> : {} into f32", all[0], vector_);
    return Let("arith.cmpf uno, {0}, {0} : f32", sum);
  }

  // The block once more, by multiplications of whole elements: where an element is infinite, its
  // products with the other one's pieces that are 0 are none, though the product is infinite.
  void Again(const Operand& a, const Operand& b, const std::string& panel_a,
             const std::string& panel_b, const std::string& pairs) {
    const std::string row = For(Index(0), Index(2 * kLines), Index(1));
    std::vector<std::string> sums = {Vector(0)};
    const Carrying pair = For(Index(0), pairs, 1, sums);
    const Carrying unit = For(Index(0), Index(kLines), 1, sums);
    const std::string in_a = Plus(Plus(panel_a, Times(pair.index, Pair(a))),
                                  Plus(Times(row, kTerms), Times(unit.index, 2)));
    const std::string in_b =
        Plus(Plus(panel_b, Times(pair.index, Pair(b))), Times(unit.index, kTerms));
    for (const int64_t second : {0, 1}) {
      const std::string factor = Spread(WholeNumber(a, Plus(in_a, second)));
      const std::string left = WholeVector(b, in_b, second);
      const std::string right = WholeVector(b, Plus(in_b, kTile), second);
      const std::string both = Joined(left, right);
      sums[0] = Let("vector.fma {}, {}, {} : {}", factor, both, sums[0], vector_);
    }
    End(unit, sums);
    End(pair, sums);
    Line("vector.store {}, {} : {}, {}", sums[0], BlockRow(row), block_type_, vector_);
    End();
  }

  // An element of what is packed, of its pieces.
  std::string WholeNumber(const Operand& operand, const std::string& at) {
    std::string whole;
    for (size_t piece = 0; piece < Pieces(operand.read); ++piece) {
      const std::string bits = Let("memref.load {}[{}] : {}", operand.buffer,
                                   Plus(at, static_cast<int64_t>(piece) * 2 * kTile), operand.type);
      const std::string value =
          WidenedText(bits, Element::kBF16, /*lanes=*/0,
                      [&](const std::string& text) { return Let("{}", text); });
      whole = piece == 0 ? value : Let("arith.addf {}, {} : f32", whole, value);
    }
    return whole;
  }
  // The first or the second elements of a row of pairs.
  std::string WholeVector(const Operand& operand, const std::string& at, int64_t second) {
    std::string whole;
    for (size_t piece = 0; piece < Pieces(operand.read); ++piece) {
      const std::string halves =
          Let("vector.load {}[{}] : {}, vector<{}xi16>", operand.buffer,
              Plus(at, static_cast<int64_t>(piece) * 2 * kTile), operand.type, kTerms);
      const std::string units =
          Let("vector.bitcast {} : vector<{}xi16> to {}", halves, kTerms, kUnits);
      const std::string bits =
          second == 0 ? Units("shli", units, Constant(16)) : Units("andi", units, Constant(-65536));
      const std::string value = Let("arith.bitcast {} : {} to {}", bits, kUnits, kFloats);
      whole = piece == 0 ? value : Let("arith.addf {}, {} : {}", whole, value, kFloats);
    }
    return whole;
  }

  std::string block_, block_type_;  // of sums
};

}  // namespace

std::string TilesText(const MultiplySizes& sizes, const Nest& nest,
                      const std::vector<std::string>& buffers) {
  return TileWriter(sizes, nest, buffers).Write();
}

}  // namespace hone::loops
