#include "compiler/sites/conversation.h"

#include <utility>

#include "compiler/sites/decider.h"
#include "compiler/sites/dry_run.h"
#include "compiler/sites/intercept.h"

namespace hone::compiler {

Conversation::Conversation(const PassEntry& pass, std::unique_ptr<xla::HloModule> module,
                           const RewritesOptions& options)
    : pass_(pass), module_(std::move(module)), options_(options), thread_([this] { Run(); }) {}

Conversation::~Conversation() {
  {
    std::lock_guard lock(mutex_);
    given_up_ = true;
  }
  turn_.notify_all();
  thread_.join();
}

std::optional<RewriteSite> Conversation::Next() {
  std::unique_lock lock(mutex_);
  turn_.wait(lock, [&] { return question_.has_value() || over_; });
  return question_;
}

void Conversation::Answer(bool accept) {
  {
    std::lock_guard lock(mutex_);
    question_.reset();
    answer_ = accept;
  }
  turn_.notify_all();
}

void Conversation::Run() {
  RunObserved(pass_, module_.get(), /*places=*/true,
              [&](Decider& decider, const Decider::Site& found) {
                RewriteSite site = DescribeSite(decider, found, options_);
                std::unique_lock lock(mutex_);
                if (given_up_) return false;
                question_ = std::move(site);
                turn_.notify_all();
                turn_.wait(lock, [&] { return answer_.has_value() || given_up_; });
                return std::exchange(answer_, std::nullopt).value_or(false);
              });
  {
    std::lock_guard lock(mutex_);
    over_ = true;
  }
  turn_.notify_all();
}

}  // namespace hone::compiler
