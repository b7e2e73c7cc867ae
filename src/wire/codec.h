// Between the wire's structs and the core's, both ways. Readers take what they are given and leave
// judging it to whoever uses it.
#ifndef HONE_WIRE_CODEC_H_
#define HONE_WIRE_CODEC_H_

#include "core/comparison.h"
#include "core/compile_plan.h"
#include "core/evaluation.h"
#include "core/pass.h"
#include "core/program.h"
#include "core/program_arrays.h"
#include "core/program_graph.h"
#include "core/program_task.h"
#include "core/race.h"
#include "core/result.h"
#include "core/rewrite.h"
#include "core/run_time.h"
#include "core/state.h"
#include "wire/hone.capnp.h"

namespace hone::wire {

void ToWire(const Error& error, Failure::Builder out);
// True and the error where there is one.
bool FromWire(Failure::Reader in, Error& error);

void ToWire(const hone::Fingerprint& fingerprint, Fingerprint::Builder out);
hone::Fingerprint FromWire(Fingerprint::Reader in);

void ToWire(const hone::Metrics& metrics, Metrics::Builder out);
hone::Metrics FromWire(Metrics::Reader in);

void ToWire(const hone::PassInfo& pass, PassInfo::Builder out);
hone::PassInfo FromWire(PassInfo::Reader in);

void ToWire(const hone::ProgramInfo& program, ProgramInfo::Builder out);
hone::ProgramInfo FromWire(ProgramInfo::Reader in);

void ToWire(const hone::StockPass& pass, StockPass::Builder out);
hone::StockPass FromWire(StockPass::Reader in);

void ToWire(const hone::ApplyOptions& options, ApplyOptions::Builder out);
hone::ApplyOptions FromWire(ApplyOptions::Reader in);

void ToWire(const hone::KnownFailure& known, KnownFailure::Builder out);
hone::KnownFailure FromWire(KnownFailure::Reader in);

void ToWire(const hone::Decisions& decisions, Decisions::Builder out);
hone::Decisions FromWire(Decisions::Reader in);

void ToWire(const hone::RewriteSite& site, RewriteSite::Builder out);
hone::RewriteSite FromWire(RewriteSite::Reader in);

void ToWire(const hone::RewritesOptions& options, RewritesOptions::Builder out);
hone::RewritesOptions FromWire(RewritesOptions::Reader in);

void ToWire(const hone::Rewrites& rewrites, Rewrites::Builder out);
hone::Rewrites FromWire(Rewrites::Reader in);

void ToWire(const hone::RaceOptions& options, RaceOptions::Builder out);
hone::RaceOptions FromWire(RaceOptions::Reader in);

void ToWire(const hone::RaceReport& report, RaceReport::Builder out);
hone::RaceReport FromWire(RaceReport::Reader in);

void ToWire(const hone::CompilePlan& plan, CompilePlan::Builder out);
hone::CompilePlan FromWire(CompilePlan::Reader in);

void ToWire(const hone::CompileOptions& options, CompileOptions::Builder out);
hone::CompileOptions FromWire(CompileOptions::Reader in);

void ToWire(const hone::Compiled& compiled, Compiled::Builder out);
hone::Compiled FromWire(Compiled::Reader in);
std::vector<hone::ProgramTask> TasksFromWire(Worker::ExtractResults::Reader in);

void ToWire(const hone::StateName& state, StateName::Builder out);
hone::StateName FromWire(StateName::Reader in);

void ToWire(const hone::Step& step, Step::Builder out);
hone::Step FromWire(Step::Reader in);

void ToWire(const hone::ProgramGraph& graph, ProgramGraph::Builder out);
hone::ProgramGraph FromWire(ProgramGraph::Reader in);

void ToWire(const hone::ProgramArrays& arrays, ProgramArrays::Builder out);
hone::ProgramArrays FromWire(ProgramArrays::Reader in);

void ToWire(const hone::EvaluationOptions& options, EvaluationOptions::Builder out);
hone::EvaluationOptions FromWire(EvaluationOptions::Reader in);
void ToWire(const hone::Evaluation& evaluation, Evaluation::Builder out);
hone::Evaluation FromWire(Evaluation::Reader in);
void ToWire(const hone::RunTimeOptions& options, RunTimeOptions::Builder out);
hone::RunTimeOptions FromWire(RunTimeOptions::Reader in);

void ToWire(const hone::CompareOptions& options, CompareOptions::Builder out);
hone::CompareOptions FromWire(CompareOptions::Reader in);

void ToWire(const hone::ComparisonReport& report, ComparisonReport::Builder out);
hone::ComparisonReport FromWire(ComparisonReport::Reader in);

}  // namespace hone::wire

#endif  // HONE_WIRE_CODEC_H_
