"""Slow truths: every formula of the model written out again from its definition, with no thought for speed.

Nothing here imports `horseshoe`. Each function follows the paper's text: the scale mixture
beta_j ~ N(0, sigma2 tau2 lambda2_j), a density for lambda2_j, and Algorithm 1.
"""

# ruff: noqa: F403
from oracles.components import *
from oracles.conditional import *
from oracles.em import *
from oracles.rows import *
from oracles.scales import *
from oracles.shared import *
from oracles.survival import *
