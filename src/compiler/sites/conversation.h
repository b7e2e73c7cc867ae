// A pass that stops at every rewrite to be told.
#ifndef HONE_COMPILER_SITES_CONVERSATION_H_
#define HONE_COMPILER_SITES_CONVERSATION_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "compiler/passes/pass_table.h"
#include "core/rewrite.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

// The pass runs on a thread of its own, on a module of its own, for XLA calls for each rewrite from
// deep within it. Destroying the conversation ends the pass.
class Conversation {
 public:
  Conversation(const PassEntry& pass, std::unique_ptr<xla::HloModule> module,
               const RewritesOptions& options);
  ~Conversation();

  // The site at which the pass waits; nothing once it is over. Waits for the pass.
  std::optional<RewriteSite> Next();
  // The answer for the site that Next gave.
  void Answer(bool accept);

 private:
  void Run();

  const PassEntry& pass_;
  const std::unique_ptr<xla::HloModule> module_;
  const RewritesOptions options_;
  std::mutex mutex_;
  std::condition_variable turn_;
  std::optional<RewriteSite> question_;
  std::optional<bool> answer_;
  bool over_ = false;     // the pass has ended
  bool given_up_ = false; // nobody answers any more
  std::thread thread_;    // last: it uses all of the above
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_SITES_CONVERSATION_H_
