"""What a submission may not change: torch's settings, seeds, and the model it is called on."""

import pytest

from testkit.texts import pairs
from tests.helpers.source_bench import lost

WORDS = "words = self.word_embedding(input_ids)"
# what is changed, with statements that change it
CHANGES = """
the random seed
    torch.manual_seed(0)
    torch.manual_seed(42)
    torch.manual_seed(torch.initial_seed() + 1)
    torch.random.manual_seed(7)
    torch.seed()
    torch.default_generator.manual_seed(0)
    torch.set_rng_state(torch.Generator().manual_seed(1).get_state())
the seed of Python's random
    import random; random.seed(0)
    import random; random.seed()
    import random; random.seed(3); random.random()
the seed of numpy.random
    import numpy; numpy.random.seed(0)
    import numpy; numpy.random.seed(0); numpy.random.rand(5)
the default dtype
    torch.set_default_dtype(torch.float64)
the default device
    torch.set_default_device('meta')
the gradient mode
    if len(input_ids) > 99: torch.set_grad_enabled(False)
the number of threads
    torch.set_num_threads(torch.get_num_threads() + 1)
the setting for deterministic algorithms
    torch.use_deterministic_algorithms(True)
cuDNN's flags
    torch.backends.cudnn.deterministic = True
anomaly detection
    torch.autograd.set_detect_anomaly(True)
the precision of matrix multiplications
    torch.set_float32_matmul_precision('medium')
the warning filters
    import warnings; warnings.filterwarnings('ignore')
    import warnings; warnings.simplefilter('ignore')
the model's training mode
    self.bert_layers.train(not self.training)
    self.pooler_dense.train(not self.training)
the settings of the model's modules
    self.bert_layers[0].out_dropout.p = 0.3
    self.bert_layers[0].out_layer_norm.eps += 1e-6
the model's modules
    self.bert_layers[0]._modules.pop("out_dropout", None)
    self.pooler_af = nn.Tanh()
    self.bert_layers[0].attention_dense = nn.Linear(10, 10)
the model's buffers
    del self.position_ids; self.position_ids = torch.arange(99)[None]
    self.position_ids += 0; self.position_ids[0, -1] = 3
the model's weights
    self.pooler_dense.weight.data.neg_()
    self.pooler_dense.weight.data[0].copy_(self.pooler_dense.weight[1])
    nn.init.normal_(self.pooler_dense.weight)
the gradients of the model's weights
    self.pooler_dense.requires_grad_(False)
the model's configuration
    object.__setattr__(self.config, 'pad_token_id', 1)
"""
KEEPS = """
torch.rand(3)
import random; random.random()
import random; [random.random() for _ in range(5000)]
import numpy; numpy.random.rand(5000); numpy.random.randn(3)
self.last = self.word_embedding(input_ids)
self.softmax = nn.Softmax(dim=-1)
self.calls = getattr(self, 'calls', 0) + 1
self.register_buffer('seen', torch.zeros(3), persistent=False)
self.position_ids = self.position_ids.clone()
self.training
with torch.no_grad(): torch.zeros(3)
with torch.random.fork_rng(devices=[]): torch.manual_seed(0)
torch.Generator().manual_seed(0)
import warnings; warnings.warn('slow')
from torch.utils import checkpoint; from torch import _dynamo
"""


def with_statements(source, *statements):
    """Return the solution with statements at the beginning of embed."""
    assert source.count(WORDS) == 1
    return source.replace(WORDS, "\n        ".join([*statements, WORDS]))


@pytest.mark.parametrize(("what", "statement"), pairs(CHANGES))
def test_a_function_that_changes_state_that_is_not_its_own_loses_its_properties(
    bench, statement, what
):
    results = bench.grade(with_statements(bench.source, statement), "embed")

    assert "properties" in results["embed"].lost
    assert f"the call changes {what}" in str(results["embed"].findings)


def test_drawing_random_numbers_and_storing_extra_state_cost_nothing(bench):
    source = with_statements(bench.source, *KEEPS.strip().splitlines())

    assert lost(bench.grade(source, "embed", "encode")) == set()


IMPORTED = """
the default dtype
    torch.set_default_dtype(torch.float64)
the gradient mode
    torch.set_grad_enabled(False)
the random seed
    torch.manual_seed(0)
the number of threads
    torch.set_num_threads(3)
the setting for deterministic algorithms
    torch.use_deterministic_algorithms(True)
"""


@pytest.mark.parametrize(("what", "statement"), pairs(IMPORTED))
def test_a_change_on_import_costs_the_first_exercise_its_properties(bench, statement, what):
    source = f"{bench.source}\n\n{statement}\n"

    results = bench.grade(source)

    assert lost(results) == {"attention"}
    assert results["attention"].score == 20
    assert f"importing bert.py changes {what}" in str(results["attention"].findings)
