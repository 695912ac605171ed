"""The names of the state that a call must leave unchanged, by which the worker reports it."""

SETTINGS = (
    "the default dtype",
    "the default device",
    "the gradient mode",
    "the number of threads",
    "the detection of anomalies",
    "the choice of deterministic algorithms",
    "the precision of matrix products",
    "the flags of cuDNN",
    "autocast",
    "the warning filters",
)
SEEDS = ("the random seed", "the seed of Python's random", "the seed of numpy.random")
OF_A_MODEL = (
    "the model's modules",
    "the model's training mode",
    "the settings of the model's modules",
    "the model's weights",
    "the gradients of the model's weights",
    "the model's buffers",
    "the model's configuration",
)
ARGUMENTS, GENERATORS = "the arguments", "the global random generators"
ALL = frozenset((*SETTINGS, *SEEDS, *OF_A_MODEL, ARGUMENTS, GENERATORS))
