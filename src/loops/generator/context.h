// The dialects that programs pass through here, and no others.
#ifndef HONE_LOOPS_GENERATOR_CONTEXT_H_
#define HONE_LOOPS_GENERATOR_CONTEXT_H_

#include <memory>
#include <string>

namespace mlir {
class MLIRContext;
}

namespace hone::loops {

// Of one thread.
std::unique_ptr<mlir::MLIRContext> MakeContext();

// While it lives, what MLIR has to say of errors is collected here instead of written to stderr.
class Complaints {
 public:
  explicit Complaints(mlir::MLIRContext& context);
  ~Complaints();
  Complaints(const Complaints&) = delete;
  Complaints& operator=(const Complaints&) = delete;

  // The first lines; something in any case.
  std::string Text() const;

 private:
  struct Handler;
  std::unique_ptr<Handler> handler_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_GENERATOR_CONTEXT_H_
