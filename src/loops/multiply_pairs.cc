// By vectors of pairs of bf16 (Intel's and AMD's AVX512_BF16): a lane of vdpbf16ps adds the
// products of two neighbouring terms to a sum in f32. Operands are packed as for tiles; of a block
// of 32 by 32 sums some rows at a time are in registers.
#include "loops/multiply_tile_packer.h"

namespace hone::loops {
namespace {

constexpr int64_t kRows = 8;  // with two vectors of columns 16 sums, and none waits for another

class PairWriter : public MultiplyTilePacker {
 public:
  using MultiplyTilePacker::MultiplyTilePacker;

 private:
  static constexpr const char* kPairs = "vector<32xbf16>";

  // A number that is in all lanes: a row's two neighbouring terms.
  std::string Left(const Operand& a, const std::string& at) {
    const std::string two = Let("vector.load {}[{}] : {}, vector<2xi16>", a.buffer, at, a.type);
    const std::string bits = Let("vector.bitcast {} : vector<2xi16> to vector<1xi32>", two);
    const std::string all = Let("vector.broadcast {} : vector<1xi32> to {}", bits, kUnits);
    return Let("vector.bitcast {} : {} to {}", all, kUnits, kPairs);
  }
  std::string Right(const Operand& b, const std::string& at) {
    const std::string bits =
        Let("vector.load {}[{}] : {}, vector<{}xi16>", b.buffer, at, b.type, kTerms);
    return Let("vector.bitcast {} : vector<{}xi16> to {}", bits, kTerms, kPairs);
  }

  void Multiply(const Operand& a, const Operand& b, const Lines& rows, const Lines& columns,
                const Terms& terms, const std::string& row, const std::string& column) override {
    const std::string zero = Index(0);
    const std::string panel_a = TileAt(a, row, zero, zero), panel_b = TileAt(b, column, zero, zero);
    const std::string tiles = TilesOf(terms);
    // Panels are packed whole: what is behind the last row may be computed, and is not written.
    const std::string here = For(zero, Least(Minus(rows.count, row), Index(a.lines)), Index(kRows));
    const std::string rows_at = Plus(panel_a, Times(here, kTerms));
    const std::string nothing = Let("{}", ConstantText(0, Element::kF32, kFloats));
    std::vector<std::string> sums(2 * kRows, nothing);
    const Carrying tile = For(zero, tiles, 1, sums, kFloats);
    const std::string in_a = Plus(rows_at, Times(tile.index, Pair(a)));
    const std::string in_b = Plus(panel_b, Times(tile.index, Pair(b)));
    const Carrying pair = For(zero, Index(kLines), 1, sums, kFloats);
    const std::string left = Plus(in_a, Times(pair.index, MultiplySizes::kPair));
    const std::string right = Plus(in_b, Times(pair.index, kTerms));
    const std::string halves[] = {Right(b, right), Right(b, Plus(right, kTile))};
    for (int64_t line = 0; line < kRows; ++line) {
      const std::string factor = Left(a, Plus(left, line * kTerms));
      for (const int64_t half : {0, 1}) {
        std::string& sum = sums[static_cast<size_t>(2 * line + half)];
        sum =
            Let("llvm.call_intrinsic \"llvm.x86.avx512bf16.dpbf16ps.512\"({}, {}, {}) : "
                "({}, {}, {}) -> {}",
                sum, factor, halves[half], kFloats, kPairs, kPairs, kFloats);
      }
    }
    End(pair, sums);
    End(tile, sums);
    std::vector<std::string> whole;
    for (size_t line = 0; line < sums.size(); line += 2) {
      whole.push_back(Joined(sums[line], sums[line + 1]));
    }
    ToResult(whole, a, b, rows, columns, terms, Plus(row, here), column);
    End();
  }
};

}  // namespace

std::string PairsText(const MultiplySizes& sizes, const Nest& nest,
                      const std::vector<std::string>& buffers) {
  return PairWriter(sizes, nest, buffers).Write();
}

}  // namespace hone::loops
