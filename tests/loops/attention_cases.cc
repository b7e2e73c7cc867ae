// Programs with attention: with masks, biases, and dimensions in other places.
#include "program_cases.h"

namespace hone::loops {
namespace {

// Attention over [2,3,40,16] by keys [2,3,56,16] and values [2,3,56,8], as JAX writes it. `between`
// makes u of the scores s; `parameters` come after three.
std::string Attention(const std::string& between, const std::string& end = "ROOT r") {
  const std::string all = "f32[2,3,40,56]", rows = "f32[2,3,40]";
  return Program(
      "f32",
      "  q = f32[2,3,40,16] parameter(0)\n  k = f32[2,3,56,16] parameter(1)\n"
      "  v = f32[2,3,56,8] parameter(2)\n  s = " +
          all +
          " dot(q, k), lhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_batch_dims={0,1}, "
          "rhs_contracting_dims={3}\n" +
          between + "  m = " + rows +
          " reduce(u, least), dimensions={3}, to_apply=maximum_of\n  l = " + rows +
          " broadcast(least), dimensions={}\n  n = " + rows + " maximum(l, m)\n  nb = " + all +
          " broadcast(n), dimensions={0,1,2}\n  d = " + all + " subtract(u, nb)\n  e = " + all +
          " exponential(d)\n  t = " + rows +
          " reduce(e, zero), dimensions={3}, to_apply=add_of\n  tb = " + all +
          " broadcast(t), dimensions={0,1,2}\n  p = " + all + " divide(e, tb)\n  " + end +
          " = f32[2,3,40,8] dot(p, v), lhs_batch_dims={0,1}, lhs_contracting_dims={3}, "
          "rhs_batch_dims={0,1}, rhs_contracting_dims={2}\n");
}

// A program of Program with another end.
std::string WithRoot(std::string text, const std::string& root) {
  return text.insert(text.rfind('}'), root);
}

// Between: the scores times a quarter, as w.
constexpr char kScaled[] =
    "  c = f32[] constant(0.25)\n  cb = f32[2,3,40,56] broadcast(c), dimensions={}\n"
    "  w = f32[2,3,40,56] multiply(s, cb)\n";
// A mask of counters, with `against` for what is compared, and what is hidden behind it.
std::string Causal(const std::string& compare, const std::string& choose,
                   const std::string& hidden) {
  return std::string(kScaled) +
         "  ir = s32[40,56] iota(), iota_dimension=0\n  o = s32[] constant(16)\n"
         "  ob = s32[40,56] broadcast(o), dimensions={}\n  io = s32[40,56] add(ir, ob)\n"
         "  ic = s32[40,56] iota(), iota_dimension=1\n  g = pred[40,56] compare(" +
         compare +
         "\n  gb = pred[2,3,40,56] broadcast(g), dimensions={2,3}\n  h = f32[] constant(" + hidden +
         ")\n  hb = f32[2,3,40,56] broadcast(h), dimensions={}\n  u = f32[2,3,40,56] select(gb, " +
         choose + ")\n";
}

// Queries, keys and values as [batch, position, head, element], as jax.nn.dot_product_attention has
// them; the scores with a size of 1 in other places before and after.
std::string PositionsFirst() {
  return Program(
      "f32",
      "  q = f32[2,40,3,16] parameter(0)\n  k = f32[2,56,3,16] parameter(1)\n"
      "  v = f32[2,56,3,8] parameter(2)\n  qr = f32[2,40,3,1,16] reshape(q)\n"
      "  s = f32[2,3,40,1,56] dot(qr, k), lhs_batch_dims={0,2}, lhs_contracting_dims={4}, "
      "rhs_batch_dims={0,2}, rhs_contracting_dims={3}\n  u = f32[1,2,3,40,56] reshape(s)\n"
      "  m = f32[2,3,40,1] reduce(s, least), dimensions={4}, to_apply=maximum_of\n"
      "  mr = f32[1,2,3,40] reshape(m)\n"
      "  mb = f32[1,2,3,40,56] broadcast(mr), dimensions={0,1,2,3}\n"
      "  d = f32[1,2,3,40,56] subtract(u, mb)\n  e = f32[1,2,3,40,56] exponential(d)\n"
      "  t = f32[1,2,3,40] reduce(e, zero), dimensions={4}, to_apply=add_of\n"
      "  tb = f32[1,2,3,40,56] broadcast(t), dimensions={0,1,2,3}\n"
      "  p = f32[1,2,3,40,56] divide(e, tb)\n"
      "  y = f32[2,3,8,1,40] dot(v, p), lhs_batch_dims={0,2}, lhs_contracting_dims={1}, "
      "rhs_batch_dims={1,2}, rhs_contracting_dims={4}\n"
      "  z = f32[2,40,3,1,8] transpose(y), dimensions={0,4,1,3,2}\n"
      "  ROOT r = f32[2,40,3,8] reshape(z)\n");
}

// Two queries' heads for each of the keys'.
std::string GroupedQueries() {
  return Program(
      "f64",
      "  q = f64[2,3,2,24,16] parameter(0)\n  k = f64[2,3,56,16] parameter(1)\n"
      "  v = f64[2,3,56,8] parameter(2)\n"
      "  u = f64[2,3,2,24,56] dot(q, k), lhs_batch_dims={0,1}, lhs_contracting_dims={4}, "
      "rhs_batch_dims={0,1}, rhs_contracting_dims={3}\n"
      "  m = f64[2,3,2,24] reduce(u, least), dimensions={4}, to_apply=maximum_of\n"
      "  mb = f64[2,3,2,24,56] broadcast(m), dimensions={0,1,2,3}\n"
      "  d = f64[2,3,2,24,56] subtract(u, mb)\n  e = f64[2,3,2,24,56] exponential(d)\n"
      "  t = f64[2,3,2,24] reduce(e, zero), dimensions={4}, to_apply=add_of\n"
      "  tb = f64[2,3,2,24,56] broadcast(t), dimensions={0,1,2,3}\n"
      "  p = f64[2,3,2,24,56] divide(e, tb)\n"
      "  ROOT y = f64[2,3,2,24,8] dot(p, v), lhs_batch_dims={0,1}, lhs_contracting_dims={4}, "
      "rhs_batch_dims={0,1}, rhs_contracting_dims={2}\n");
}

}  // namespace

std::vector<Case> Attentions() {
  return {
      {"attention_of_bf16",
       Program("f32",
               "  q = bf16[40,32] parameter(0)\n  k = bf16[56,32] parameter(1)\n"
               "  v = bf16[56,16] parameter(2)\n"
               "  u = bf16[40,56] dot(q, k), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
               "  w = f32[40,56] convert(u)\n"
               "  m = f32[40] reduce(w, least), dimensions={1}, to_apply=maximum_of\n"
               "  mb = f32[40,56] broadcast(m), dimensions={0}\n"
               "  d = f32[40,56] subtract(w, mb)\n  e = f32[40,56] exponential(d)\n"
               "  t = f32[40] reduce(e, zero), dimensions={1}, to_apply=add_of\n"
               "  tb = f32[40,56] broadcast(t), dimensions={0}\n  p = f32[40,56] divide(e, tb)\n"
               "  n = bf16[40,56] convert(p)\n  ROOT y = bf16[40,16] dot(n, v), "
               "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"),
       1, "input i0 bf16[40,32];input i1 bf16[56,32];"},
      {"attention", Attention(std::string(kScaled) + "  u = f32[2,3,40,56] negate(w)\n"), 1,
       "attend v"},
      {"attention_causal", Attention(Causal("io, ic), direction=GE", "w, hb", "-1e10")), 1,
       "until=16;"},
      {"attention_causal_the_other_way_round",
       Attention(Causal("ic, io), direction=GE", "hb, w", "-inf")), 1, "until=15;"},
      {"attention_of_what_comes_later",  // no query sees what it should not
       Attention(Causal("ic, io), direction=GE", "w, hb", "-1e10")), 1, "select", "until"},
      // The mask's zeros are small, but another mask might be as large.
      {"attention_causal_with_a_bias",
       Attention("  b = f32[40,56] parameter(3)\n  w = f32[2,3,40,56] broadcast(b), "
                 "dimensions={2,3}\n" +
                 std::string(Causal("io, ic), direction=GE", "x, hb", "-1e10"))
                     .replace(0, std::string(kScaled).size(), "  x = f32[2,3,40,56] add(s, w)\n")),
       1, "select", "until"},
      {"attention_hiding_little", Attention(Causal("io, ic), direction=GE", "w, hb", "-3")), 1,
       "select", "until"},
      {"attention_masked",
       Attention(
           "  g = pred[2,56] parameter(3)\n  h = pred[40,56] parameter(4)\n"
           "  gb = pred[2,3,40,56] broadcast(g), dimensions={0,3}\n"
           "  hb = pred[2,3,40,56] broadcast(h), dimensions={2,3}\n"
           "  both = pred[2,3,40,56] and(gb, hb)\n"
           "  ff = f32[] constant(-2.38e38)\n  few = f32[2,3,40,56] broadcast(ff), dimensions={}\n"
           "  u = f32[2,3,40,56] select(both, s, few)\n"),
       1, "select v"},
      {"attention_with_a_bias_of_what_is_small",
       Attention("  b = f32[2,1,1,56] parameter(3)\n  br = f32[2,56] reshape(b)\n"
                 "  w = f32[2,3,40,56] broadcast(br), dimensions={0,3}\n"
                 "  h = f32[3] parameter(4)\n"
                 "  hb = f32[2,3,40,56] broadcast(h), dimensions={1}\n"
                 "  x = f32[2,3,40,56] multiply(w, hb)\n  u = f32[2,3,40,56] add(s, x)\n"),
       1, "attend"},
      {"attention_positions_first", PositionsFirst(), 1, "attend v"},
      {"attention_grouped_queries", GroupedQueries(), 1, "attend v"},
      // A gradient needs what is between: the softmax alone is a kernel.
      {"attention_whose_weights_are_needed",
       WithRoot(Attention("  u = f32[2,3,40,56] negate(s)\n", "y"),
                "  ROOT r = (f32[2,3,40,8], f32[2,3,40,56]) tuple(y, p)\n"),
       1, "reduce_max", "attend"},
  };
}

}  // namespace hone::loops
