"""Functions of JAX as programs: a table of names and arguments, lowered forward and as gradients."""

import ast
import dataclasses
import importlib
from collections.abc import Callable, Iterator

from .lowering import from_jax

# What the letters of the tables stand for: shapes and types.
_ARGUMENTS = {
    "m": ((16, 12), "float32"),  # a matrix
    "s": ((12, 12), "float32"),  # a square one
    "v": ((24,), "float32"),
    "w": ((12,), "float32"),  # as long as a side of s
    "x": ((), "float32"),
    "t": ((4, 12, 10), "float32"),
    "h": ((2, 8, 4, 6), "float32"),  # batch, time, heads, features
    "g": ((20, 18, 3), "float32"),  # an image
    "i": ((24,), "int32"),
    "j": ((16, 12), "int32"),
    "u": ((24,), "uint8"),
    "b": ((16, 12), "bool"),
    "z": ((12, 12), "complex64"),
    "k": ((2,), "uint32"),  # a key of random numbers
}

# A line each: a name below the heading, its arguments (letters above, or Python's literals after
# `=` or `name=`), and `!` where there is no gradient. The heading names the family.
_TABLE = """
[jax.scipy.special]
betainc m m m !
betaln m m
digamma m
entr m
exp1 m
expi m
expn j m !
factorial m
gammainc m m
gammaincc m m
gammaln m
gammasgn m
hyp1f1 m m m
i0 m
i0e m
i1 m
i1e m
kl_div m m
log_ndtr m
logit m
logsumexp m
multigammaln m =3
ndtr m
ndtri m
poch m m
rel_entr m m
spence m
xlog1py m m
xlogy m m
zeta m m !
bernoulli =12 !
bessel_jn m v=3 n_iter=10 !
sph_harm i i v v n_max=4 !

[jax.scipy.stats]
bernoulli.logpmf j m !
bernoulli.cdf j m !
beta.logpdf m m m
beta.cdf m m m !
betabinom.logpmf m m m m
binom.logpmf m m m
cauchy.logpdf m m m
cauchy.cdf m m m
cauchy.ppf m m m
chi2.logpdf m m
chi2.cdf m m
dirichlet.logpdf w w
expon.logpdf m m m
gamma.logpdf m m
gamma.cdf m m
gennorm.logpdf m m
gennorm.cdf m m
geom.logpmf m m
laplace.logpdf m m m
laplace.cdf m m m
logistic.logpdf m m m
logistic.ppf m m m
logistic.sf m m m
mode m !
multinomial.logpmf j =9 m !
multivariate_normal.logpdf w w s
nbinom.logpmf m m m
norm.cdf m m m
norm.logcdf m m m
norm.logpdf m m m
norm.logsf m m m
norm.ppf m m m
pareto.logpdf m m
poisson.logpmf j m !
poisson.cdf j m !
rankdata m !
sem m
t.logpdf m m
truncnorm.logpdf m m m
truncnorm.cdf m m m
truncnorm.logcdf m m m
truncnorm.logsf m m m
uniform.logpdf m m m
vonmises.logpdf m m
wrapcauchy.logpdf m m

[jax.numpy.linalg]
cholesky s
cond s
det s
eigh s
eigvalsh s
inv s
lstsq m m !
matrix_power s =7
matrix_rank m !
norm m
outer v v
pinv m
qr m
slogdet s
solve s s
svdvals m
vector_norm m ord=3

[jax.scipy.linalg]
cho_factor s !
eigh s
expm s
expm_frechet s s !
lu s
polar s !
solve s s
solve_triangular s s
sqrtm s !
toeplitz w

[jax.numpy.fft]
fft m
fft2 m
fftfreq =16 !
fftshift m
hfft m
ifft m
irfft m
rfft m
rfftn t

[jax.random]
ball k =3 !
bernoulli k =0.3 =(16,12) !
beta k m m !
binomial k m =0.4 !
bits k =(16,12) !
categorical k m !
cauchy k =(16,12) !
chisquare k m !
choice k v =(7,) =False !
dirichlet k w !
double_sided_maxwell k x x =(16,12) !
exponential k =(16,12) !
f k m m !
gamma k m !
generalized_normal k x =(16,12) !
geometric k m !
gumbel k =(16,12) !
laplace k =(16,12) !
loggamma k m !
logistic k =(16,12) !
maxwell k =(16,12) !
multivariate_normal k w s !
normal k =(16,12) !
orthogonal k =12 !
pareto k m !
permutation k m !
poisson k m !
rademacher k =(16,12) !
randint k =(16,12) =0 =9 !
rayleigh k m !
split k =4 !
t k m =(16,12) !
triangular k =0.0 =0.5 =1.0 =(16,12) !
truncated_normal k =-2.0 =2.0 =(16,12) !
uniform k =(16,12) !
wald k m !
weibull_min k m m !

[jax.nn]
celu m
dot_product_attention h h h
dot_product_attention h h h is_causal=True
elu m
gelu m
gelu m =False
glu m
hard_silu m
hard_swish m
log_sigmoid m
log_softmax m
logsumexp m
mish m
one_hot j =9 !
relu6 m
selu m
silu m
soft_sign m
softmax m
softplus m
sparse_plus m
squareplus m
standardize m

[jax.numpy]
angle z !
argpartition m =3 !
argsort m !
array_equiv m m !
average m
bincount i length=16 !
blackman =24 !
cbrt m
convolve v v
corrcoef m
correlate v v
cov m
cumprod m
cumsum m
cumulative_sum v
deg2rad m
diff m =2
digitize v v !
divmod m m !
ediff1d v
exp2 m
fill_diagonal s x inplace=False !
float_power m m
fmod m m
frexp m !
gcd i i !
geomspace =1.0 =9.0 =24 !
gradient m !
heaviside m m !
histogram v !
histogram2d v v !
hypot m m
i0 m
insert v =4 x
interp v v v
isclose m m !
isin i i !
kaiser =24 =3.0 !
kron s s
lcm i i !
ldexp v i !
logaddexp m m
logaddexp2 m m
median m
modf m !
nan_to_num m
nanargmax m !
nancumprod m
nanmedian m
nanpercentile m =30
nanstd m
nanvar m
nextafter m m !
packbits u !
partition m =3 !
percentile m =30
poly w
polyadd w v
polydiv v w !
polyfit v v =3
polyint w
polymul w v
polyval w m
power m m
quantile m =0.3
remainder m m
roll m =3
roots w strip_zeros=False !
rot90 m
round m =2 !
searchsorted v v !
setdiff1d i i size=6 !
sinc m
sort m
std m
take m i !
take_along_axis m j =1 !
tensordot m m
tri =12 !
trapezoid m
tril s
triu s
union1d i i size=30 !
unique i size=20 !
unpackbits u !
unwrap v
vander w
var m

[jax.lax]
betainc m m m !
cummax m
cumlogsumexp m
erf_inv m
igamma m m
lgamma m
population_count i !
random_gamma_grad m m !
reduce_precision m =5 =7 !
sort_key_val v i !
top_k m =4 !

[jax.scipy.signal]
convolve v v
convolve2d m m
correlate v v
correlate2d m m
csd v v nperseg=8 !
detrend m
fftconvolve m m
istft z nperseg=22 !
stft v nperseg=8 !
welch v nperseg=8 !

[jax.scipy.fft]
dct m
dctn m
idct m
idctn m

[jax.image]
resize g =(31,11,3) =linear
resize g =(31,11,3) =cubic
resize g =(31,11,3) =lanczos3
resize g =(31,11,3) =nearest
resize g =(7,9,3) =lanczos5 =False

[jax.scipy.integrate]
trapezoid m

[jax.scipy.cluster.vq]
vq m m !

[jax.scipy.spatial.transform]
"""


@dataclasses.dataclass(frozen=True)
class Function:
    """A row of the table.

    Attributes:
      family: the module, such as `jax.scipy.special`.
      name: below that.
      arguments: letters, or (None or a keyword, value) for what is compiled in.
      differentiable: whether there is a gradient.
    """

    family: str
    name: str
    arguments: tuple
    differentiable: bool

    def make(self) -> Callable:
        """The function of its arguments that are no literals."""
        found = importlib.import_module(self.family)
        for part in self.name.split("."):
            found = getattr(found, part)
        positional = [a for a in self.arguments if isinstance(a, str) or a[0] is None]
        keywords = dict(a for a in self.arguments if not isinstance(a, str) and a[0])

        def call(*given):
            given = iter(given)
            return found(
                *(next(given) if isinstance(a, str) else a[1] for a in positional), **keywords
            )

        return call

    @property
    def ways(self) -> tuple:
        """Those of WAYS that it has."""
        if not self.shapes():
            return WAYS[:1]
        return WAYS if self.differentiable else WAYS[:2]

    def shapes(self) -> list:
        return [_ARGUMENTS[a] for a in self.arguments if isinstance(a, str)]


# Ways to make a program of a function: itself, over a batch, its gradient, value and gradient, the
# product of its Hessian with a vector.
WAYS = ("fwd", "vmap", "grad", "hvp")


def functions() -> Iterator[Function]:
    """The rows of the table."""
    family = ""
    for line in _TABLE.split("\n"):
        words = line.split()
        if not words:
            continue
        if words[0].startswith("["):
            family = words[0].strip("[]")
            continue
        differentiable = words[-1] != "!"
        arguments = tuple(map(_argument, words[1 : None if differentiable else -1]))
        yield Function(family, words[0], arguments, differentiable)


def lower(function: Function, way: str) -> str:
    """The HLO text of a function in one of WAYS."""
    return from_jax(transformed(function.make(), way), *_batched(function, way), name="f")


def transformed(call: Callable, way: str) -> Callable:
    """`call` as it is, over a batch, or as a gradient by its first argument."""
    import jax
    import jax.numpy as jnp

    def total(*arguments):
        leaves = jax.tree_util.tree_leaves(call(*arguments))
        return sum(
            jnp.sum(jnp.abs(leaf) if jnp.iscomplexobj(leaf) else leaf)
            for leaf in leaves
            if jnp.issubdtype(leaf.dtype, jnp.inexact)
        )

    if way == "vmap":
        return jax.vmap(call)
    if way == "grad":
        return jax.value_and_grad(total)
    if way == "hvp":
        return lambda first, *rest: jax.jvp(
            lambda x: jax.grad(total)(x, *rest), (first,), (jax.tree_util.tree_map(jnp.cos, first),)
        )
    return call


def _batched(function: Function, way: str) -> list:
    if way != "vmap":
        return function.shapes()
    return [((5, *shape), dtype) for shape, dtype in function.shapes()]


def _argument(word: str):
    if word in _ARGUMENTS:
        return word
    keyword, _, literal = word.partition("=")
    try:
        value = ast.literal_eval(literal)
    except (ValueError, SyntaxError):
        value = literal  # a name, such as a method of interpolation
    return (keyword or None, value)
