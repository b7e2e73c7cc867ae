// What a few lines of C++ take for the programs of kinds.py: the time that a compiler of such
// programs should come near. One thread; compiled by run.py with -O3 -march=native.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

template <class T>
void Compartments(const T* currents, int64_t steps, int64_t count, T* out) {
  std::vector<T> v(count, -65), m(count, T(0.3)), h(m), n(m), next(v);
  const auto rate = [](T x, T shift) { return 1 / (1 + std::exp(-(x - shift) / 9)); };
  for (int64_t s = 0; s < steps; ++s) {
    for (int64_t i = 0; i < count; ++i) {
      m[i] += T(0.02) * (rate(v[i], -40) - m[i]) * 12;
      h[i] += T(0.02) * (1 - rate(v[i], -62) - h[i]);
      n[i] += T(0.02) * (rate(v[i], -53) - n[i]) * 2;
      const T ionic = T(1.2) * m[i] * m[i] * m[i] * h[i] * (v[i] - 50) +
                      T(0.36) * n[i] * n[i] * n[i] * n[i] * (v[i] + 77) + T(0.003) * (v[i] + 54);
      const T axial = v[std::min(i + 1, count - 1)] + v[std::max<int64_t>(i - 1, 0)] - 2 * v[i];
      next[i] = v[i] + T(0.02) * (-ionic + T(0.5) * axial + currents[s]);
    }
    v.swap(next);
    out[s] = v[0];
  }
}

template <class T>
void QuadraticProgram(const T* matrix, const T* q, const T* low, const T* high, int64_t n,
                      int64_t steps, T* z) {
  std::vector<T> u(n, 0), r(n);
  std::fill(z, z + n, T(0));
  for (int64_t s = 0; s < steps; ++s) {
    for (int64_t i = 0; i < n; ++i) r[i] = z[i] - u[i] - q[i];
    for (int64_t i = 0; i < n; ++i) {
      T x = 0;
      for (int64_t j = 0; j < n; ++j) x += matrix[i * n + j] * r[j];
      z[i] = std::min(std::max(x + u[i], low[i]), high[i]);
      u[i] += x - z[i];
    }
  }
}

template <class T>
void SmallCarry(const T* matrices, int64_t steps, T* out) {
  T carry[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (int64_t s = 0; s < steps; ++s) {
    T product[9] = {}, square = 0;
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 3; ++k) {
        for (int j = 0; j < 3; ++j) product[3 * i + j] += carry[3 * i + k] * matrices[9 * s + 3 * k + j];
      }
    }
    for (T x : product) square += x * x;
    for (int i = 0; i < 9; ++i) carry[i] = product[i] / std::sqrt(square);
    out[s] = product[0];
  }
}

template <class T>
void ScalarLeaves(const T* start, int64_t leaves, int64_t steps, T* gradient) {
  std::vector<T> all((steps + 1) * leaves), slopes(steps * leaves);
  std::copy(start, start + leaves, all.begin());
  for (int64_t s = 0; s < steps; ++s) {
    const T* now = &all[s * leaves];
    for (int64_t i = 0; i < leaves; ++i) {
      const T t = std::tanh(now[(i + 1) % leaves]);
      slopes[s * leaves + i] = T(0.01) * (1 - t * t);
      all[(s + 1) * leaves + i] = T(0.99) * now[i] + T(0.01) * t;
    }
  }
  std::vector<T> back(leaves), next(leaves);
  for (int64_t i = 0; i < leaves; ++i) back[i] = 2 * all[steps * leaves + i];
  for (int64_t s = steps; s-- > 0;) {
    for (int64_t i = 0; i < leaves; ++i) {
      const int64_t before = (i + leaves - 1) % leaves;
      next[i] = T(0.99) * back[i] + slopes[s * leaves + before] * back[before];
    }
    back.swap(next);
  }
  std::copy(back.begin(), back.end(), gradient);
}

template <class T>
void DifferentialEquation(const T* start, int64_t steps, T* out) {
  struct Four { T v[4]; };
  const auto slope = [](const Four& y) {
    const T a = y.v[0], b = y.v[1], c = y.v[2], d = y.v[3];
    return Four{{T(0.7) * a - a * b, a * b - T(0.5) * b - b * c, b * c - T(0.3) * c, T(0.1) * (a - d)}};
  };
  const auto add = [](const Four& y, T h, const Four& k) {
    Four sum;
    for (int i = 0; i < 4; ++i) sum.v[i] = y.v[i] + h * k.v[i];
    return sum;
  };
  Four y{{start[0], start[1], start[2], start[3]}};
  for (int64_t s = 0; s < steps; ++s) {
    const Four k1 = slope(y), k2 = slope(add(y, T(0.005), k1)), k3 = slope(add(y, T(0.005), k2)),
               k4 = slope(add(y, T(0.01), k3));
    for (int i = 0; i < 4; ++i) {
      y.v[i] += T(0.01) / 6 * (k1.v[i] + 2 * k2.v[i] + 2 * k3.v[i] + k4.v[i]);
    }
  }
  std::copy(y.v, y.v + 4, out);
}

template <class T>
void Hamiltonian(const T* x, const T* y, int64_t rows, int64_t columns, const T* q0, const T* p0,
                 int64_t steps, T* out) {
  std::vector<T> q(q0, q0 + columns), p(p0, p0 + columns), g(columns);
  const auto gradient = [&] {
    g = q;
    for (int64_t r = 0; r < rows; ++r) {
      T z = 0;
      for (int64_t c = 0; c < columns; ++c) z += x[r * columns + c] * q[c];
      const T d = 1 / (1 + std::exp(-z)) - y[r];
      for (int64_t c = 0; c < columns; ++c) g[c] += d * x[r * columns + c];
    }
  };
  for (int64_t s = 0; s < steps; ++s) {
    gradient();
    for (int64_t c = 0; c < columns; ++c) q[c] += T(0.01) * (p[c] -= T(0.005) * g[c]);
    gradient();
    for (int64_t c = 0; c < columns; ++c) p[c] -= T(0.005) * g[c];
  }
  std::copy(q.begin(), q.end(), out);
}

template <class T>
void Orbits(const T* mass, const T* place0, const T* speed0, int64_t bodies, int64_t steps, T* out) {
  std::vector<T> place(place0, place0 + 3 * bodies), speed(speed0, speed0 + 3 * bodies);
  const auto pull = [&] {
    for (int64_t i = 0; i < bodies; ++i) {
      for (int64_t j = 0; j < bodies; ++j) {
        if (i == j) continue;
        T apart[3], square = 0;
        for (int d = 0; d < 3; ++d) {
          apart[d] = place[3 * i + d] - place[3 * j + d];
          square += apart[d] * apart[d];
        }
        const T by = T(0.005) * mass[j] / (square * std::sqrt(square));
        for (int d = 0; d < 3; ++d) speed[3 * i + d] -= by * apart[d];
      }
    }
  };
  for (int64_t s = 0; s < steps; ++s) {
    pull();
    for (int64_t i = 0; i < 3 * bodies; ++i) place[i] += T(0.01) * speed[i];
    pull();
    std::copy(&place[3], &place[6], &out[3 * s]);
  }
}

template <class T>
void UntilNear(const T* start, int64_t steps, T* x) {
  std::copy(start, start + 3, x);
  for (int64_t k = 0; k < steps; ++k) {
    if (std::max({std::abs(x[0]), std::abs(x[1]), std::abs(x[2])}) >= 10) break;
    const T x0 = x[0], x1 = x[1], x2 = x[2];
    x[0] = std::cos(x1) * T(0.9);
    x[1] = std::sin(x0 + x2);
    x[2] = T(0.5) * x0 - T(0.2) * x2;
  }
}

template <class T>
void SmallUpdates(const T* start, int64_t size, T* out) {
  std::copy(start, start + size, out);
  for (int64_t i = 1; i < size; ++i) out[i] = T(0.5) * out[i - 1] + T(0.5) * out[i];
}

template <class T>
void SlicedReduction(const T* x, int64_t size, T* out) {
  T sum = 0;
  for (int64_t i = 1; i < size; ++i) {
    T row = 0;
    const T *here = x + i * size, *above = here - size;
#pragma GCC ivdep
    for (int64_t j = 1; j < size; ++j) {
      const T a = here[j] - above[j], b = here[j] - here[j - 1];
      row += a * a + b * b;
    }
    sum += row;
  }
  *out = sum;
}

template <class T>
void OuterReduce(const T* a, const T* b, const T* w, int64_t size, T* out) {
  for (int64_t i = 0; i < size; ++i) {
    T sum = 0;
    for (int64_t j = 0; j < size; ++j) sum += std::exp(-(a[i] - b[j]) * (a[i] - b[j])) * w[j];
    out[i] = sum;
  }
}

template <class T>
void ThinDot(const T* x, const T* m, int64_t size, T* out) {
  for (int64_t i = 0; i < size; ++i) {
    for (int j = 0; j < 3; ++j) {
      out[3 * i + j] = x[3 * i] * m[j] + x[3 * i + 1] * m[3 + j] + x[3 * i + 2] * m[6 + j];
    }
  }
}

// NHWC by 3x3, SAME, each channel for itself.
template <class T>
void DepthwiseConvolution(const T* x, const T* k, int64_t batch, int64_t size, int64_t channels,
                          T* out) {
  std::fill(out, out + batch * size * size * channels, T(0));
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t i = 0; i < size; ++i) {
      for (int64_t j = 0; j < size; ++j) {
        T* at = out + ((b * size + i) * size + j) * channels;
        for (int64_t di = -1; di <= 1; ++di) {
          for (int64_t dj = -1; dj <= 1; ++dj) {
            if (i + di < 0 || i + di >= size || j + dj < 0 || j + dj >= size) continue;
            const T* from = x + ((b * size + i + di) * size + j + dj) * channels;
            const T* by = k + ((di + 1) * 3 + dj + 1) * channels;
            for (int64_t c = 0; c < channels; ++c) at[c] += from[c] * by[c];
          }
        }
      }
    }
  }
}

}  // namespace

#define HONE_BOUNDS(T, suffix)                                                                     \
  extern "C" {                                                                                     \
  void compartments_##suffix(const T* a, int64_t s, int64_t n, T* o) { Compartments(a, s, n, o); } \
  void quadratic_program_##suffix(const T* m, const T* q, const T* l, const T* h, int64_t n,       \
                                  int64_t s, T* o) {                                               \
    QuadraticProgram(m, q, l, h, n, s, o);                                                         \
  }                                                                                                \
  void small_carry_##suffix(const T* m, int64_t s, T* o) { SmallCarry(m, s, o); }                  \
  void scalar_leaves_##suffix(const T* a, int64_t n, int64_t s, T* o) { ScalarLeaves(a, n, s, o); } \
  void differential_equation_##suffix(const T* a, int64_t s, T* o) {                               \
    DifferentialEquation(a, s, o);                                                                 \
  }                                                                                                \
  void hamiltonian_##suffix(const T* x, const T* y, int64_t r, int64_t c, const T* q, const T* p,  \
                            int64_t s, T* o) {                                                     \
    Hamiltonian(x, y, r, c, q, p, s, o);                                                           \
  }                                                                                                \
  void orbits_##suffix(const T* m, const T* x, const T* v, int64_t n, int64_t s, T* o) {           \
    Orbits(m, x, v, n, s, o);                                                                      \
  }                                                                                                \
  void until_near_##suffix(const T* a, int64_t s, T* o) { UntilNear(a, s, o); }                    \
  void small_updates_##suffix(const T* a, int64_t n, T* o) { SmallUpdates(a, n, o); }              \
  void sliced_reduction_##suffix(const T* a, int64_t n, T* o) { SlicedReduction(a, n, o); }        \
  void outer_reduce_##suffix(const T* a, const T* b, const T* w, int64_t n, T* o) {                \
    OuterReduce(a, b, w, n, o);                                                                    \
  }                                                                                                \
  void thin_dot_##suffix(const T* x, const T* m, int64_t n, T* o) { ThinDot(x, m, n, o); }         \
  void depthwise_convolution_##suffix(const T* x, const T* k, int64_t b, int64_t n, int64_t c,     \
                                      T* o) {                                                      \
    DepthwiseConvolution(x, k, b, n, c, o);                                                        \
  }                                                                                                \
  }
HONE_BOUNDS(float, float32)
HONE_BOUNDS(double, float64)
