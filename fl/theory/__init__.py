"""What the paper proves, as numbers to compare with an experiment.

[1] H. Yang, P. Qiu, J. Liu and A. Yener, "Over-the-Air Federated Learning with Joint Adaptive
Computation and Power Control": Theorem 1, Example 1, Theorem 2 and Corollary 1.

=============  ==================================================
paper          here
=============  ==================================================
L              ``smoothness``
sigma^2        ``gradient_variance``
sigma_c^2      ``channel_variance``
eta            ``rate``
alpha_i        ``weights``
tau_t^i        ``steps``
beta_t         ``gains``
F(x_0)-F(x*)   ``gap``
=============  ==================================================

**The dimension.** Both theorems write sigma_c^2 where noise N(0, sigma_c^2 I_d) has the expected
square d sigma_c^2. With ``dimension=1``, the default, each formula is as printed; with
``dimension=d`` it is corrected. In Theorem 1 sigma^2 is the variance of a coordinate, so d
multiplies both noises; in Theorem 2 it is that of the whole vector (Assumption 2), and d multiplies
sigma_c^2 alone. For example, on F = 1/2 ||x||^2 in 100 dimensions with eta = 0.1 and
sigma_c^2 = 0.01 alone, the printed floor of E||x_t||^2 is 0.053; runs settle at 5.3:

>>> print(f"{theorem1_floor(0.1, 1.0, 0.0, 0.01):.3f}")
0.053
>>> print(f"{theorem1_floor(0.1, 1.0, 0.0, 0.01, dimension=100):.1f}")
5.3
"""

from fl.theory.bound import Constants, Theorem2, corollary1, theorem2, theorem2_of
from fl.theory.limits import example1_limit, theorem1_floor, theorem1_recursion

# fmt: off
__all__ = [
    "Constants", "Theorem2", "corollary1", "example1_limit", "theorem1_floor",
    "theorem1_recursion", "theorem2", "theorem2_of",
]
# fmt: on
