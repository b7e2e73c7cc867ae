// Operands as units for bf16 take them, the tiles of a matrix unit above all: panels of 32 lines,
// in them pairs of tiles of 16 lines by 32 terms in bf16. The first operand's tiles are rows of
// lines, the second one's rows of pairs of terms. Of f32, a tile for each of the numbers of bf16
// that it is the sum of (multiply_tiles.cc).
#ifndef HONE_LOOPS_MULTIPLY_TILE_PACKER_H_
#define HONE_LOOPS_MULTIPLY_TILE_PACKER_H_

#include <string>
#include <vector>

#include "loops/multiply_writer.h"

namespace hone::loops {

class MultiplyTilePacker : public MultiplyWriter {
 public:
  using MultiplyWriter::MultiplyWriter;

 protected:
  static constexpr int64_t kLines = 16;  // of a tile
  static constexpr int64_t kTerms = 2 * kLines;
  static constexpr int64_t kTile = kLines * kTerms;
  static constexpr const char* kUnits = "vector<16xi32>";  // pairs of terms
  static constexpr const char* kFloats = "vector<16xf32>";

  void BeginPart() override;
  void Pack(const Operand& operand, const Lines& lines, const Terms& terms) override;

  size_t Pieces(size_t read) const { return static_cast<size_t>(InfoOf(ElementOf(read)).pieces); }
  // In a panel one pair of tiles after another: of the first terms each piece's, the next terms'.
  int64_t Pair(const Operand& operand) const {
    return 2 * kTile * InfoOf(ElementOf(operand.read)).pieces;
  }
  // Tiles, one behind the other, that a block of terms takes.
  std::string TilesOf(const Terms& terms);
  static int64_t Tiles(int64_t terms) { return RoundedUp(terms, kTerms) / kTerms; }
  // The first element of the tile with this line, a multiple of 16, and these terms, `inner` a
  // multiple of 32.
  std::string TileAt(const Operand& operand, const std::string& line, const std::string& outer,
                     const std::string& inner);

  std::string Units(const char* what, const std::string& a, const std::string& b);
  std::string Constant(int64_t value);
  // Sums of 16 columns and of the next 16 as those of a block's columns.
  std::string Joined(const std::string& left, const std::string& right);

 private:
  Element ElementOf(size_t read) const { return nest_.reads[read].element; }
  bool IsBF16(size_t read) const { return ElementOf(read) == Element::kBF16; }
  int64_t PanelElements(const Operand& operand) const {
    return Pair(operand) * Tiles(inner_at_once_) * outer_at_once_;
  }
  int64_t PackedElements(const Operand& operand) const override {
    return operand.panels * PanelElements(operand);
  }
  std::string PackedType() const override { return "i16"; }

  // What was loaded as numbers of bf16, each in the upper half of 32 bits.
  std::vector<std::string> Split(size_t read, const std::string& values);
  // Pairs of terms of the pieces of the first ones and of the second ones.
  std::vector<std::string> Paired(size_t read, const std::string& first, const std::string& second);
  // Bits of what is bf16, else in f32; zeros where they are not valid.
  std::string Lanes(const Operand& operand, const Located& from, const std::string& count,
                    int64_t lanes);
  void StoreRow(const Operand& operand, const std::string& units, const std::string& at);
  // Of each piece's tile: rows of lines for the first operand, of pairs of terms for the second.
  void StoreTiles(const Operand& operand, const std::vector<std::vector<std::string>>& rows,
                  bool transposed, const std::string& to);
  // Begins a loop over 16 lines each. Panels are packed whole, with zeros or other lines in place
  // of those that are missing: whatever were there might be no number.
  std::string ForLines(const Operand& operand, const Lines& lines);
  bool Ragged() const;
  // A term of 16 lines, at a place in its block; nothing from `end` on, where that is not empty.
  std::string LinesOfTerm(const Operand& operand, const Others& places, const Lines& inner,
                          const std::string& place, const std::string& end,
                          const std::string& lines_left);
  // 32 terms of a line, as pairs; so many of them where `left` is not empty.
  std::vector<std::string> TermsOfLine(const Operand& operand, const Others& places,
                                       const std::string& from, const std::string& left);

  // Of memory that runs along the lines, as it lies: two terms become a row of pairs.
  void PackLines(const Operand& operand, const Lines& lines, const Terms& terms,
                 const std::string& outer, const Others& of_outer);
  // Of memory that runs along the last loop of the sum. What is beyond the last line is another of
  // that line.
  void PackTerms(const Operand& operand, const Lines& lines, const Terms& terms,
                 const std::string& outer, const Others& of_outer);
  // Of memory that runs along all terms of the block: 16 lines' terms, one after another, and these
  // to the tiles.
  void PackRuns(const Operand& operand, const Lines& lines, const Terms& terms);
  // Of memory that runs along neither.
  void PackNumbers(const Operand& operand, const Lines& lines, const Terms& terms,
                   const std::string& outer, const Others& of_outer);

  std::string run_, run_type_;  // a buffer for 16 lines of a block's terms
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_MULTIPLY_TILE_PACKER_H_
