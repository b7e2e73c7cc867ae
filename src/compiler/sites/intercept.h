// Where XLA's passes change programs: the calls by which they do, taken over by functions of the
// same mangled name in this executable, which go on to XLA's own (shared objects are searched in
// order, and XLA's library is not linked with -Bsymbolic).
#ifndef HONE_COMPILER_SITES_INTERCEPT_H_
#define HONE_COMPILER_SITES_INTERCEPT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/rewrite.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// A rewrite that a pass is about to make.
struct Offer {
  RewriteKind kind;
  xla::HloInstruction* original;     // that is replaced, removed, or (fuse) the producer
  xla::HloInstruction* replacement;  // null for removals; the consumer or sibling for fusions
  xla::HloInstruction* user = nullptr;  // whose operand is replaced, where it is one user's
  int64_t operand = -1;                 // and which
  absl::string_view reason = {};
};

enum class Answer {
  kMake,     // let it happen
  kDecline,  // the program stays, the pass goes on
  kEnd,      // the program stays; the pass is given an error, so that it ends
};

class RewriteObserver {
 public:
  virtual ~RewriteObserver() = default;
  virtual Answer Ask(const Offer& offer) = 0;
  // Whether an instruction was there before the pass: only those are sites of operands and removals.
  virtual bool IsOriginal(const xla::HloInstruction* instruction) const = 0;
  // Rewrites made so far.
  virtual int64_t made() const = 0;
};

// While it lives, the rewrites of passes that run on this thread are asked about.
class ScopedObserver {
 public:
  explicit ScopedObserver(RewriteObserver* observer);
  ~ScopedObserver();
  ScopedObserver(const ScopedObserver&) = delete;
  ScopedObserver& operator=(const ScopedObserver&) = delete;
};

// While it lives, nothing is asked about on this thread.
class Unobserved {
 public:
  Unobserved();
  ~Unobserved();
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;

 private:
  RewriteObserver* const observer_;
};

// For passes of our own that fuse: the answer about this pair; true where nobody is asked.
bool MayFuse(xla::HloInstruction* producer, xla::HloInstruction* consumer, int64_t operand);

// Rewrites made so far by the pass that is observed on this thread; -1 where none is.
int64_t RewritesMade();

// The status that Answer::kEnd gives to a pass.
bool IsEnded(const absl::Status& status);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_SITES_INTERCEPT_H_
