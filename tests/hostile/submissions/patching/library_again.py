# tries: load the library's file under another name, with nothing left that could refuse it
# loses: attention
import importlib.util
import sys

sys.meta_path[:] = sys.meta_path[-1:]
sys.addaudithook(lambda *_: None)


def again(package, module):
    path = f"{package.__path__[0]}/{module}.py"
    spec = importlib.util.spec_from_file_location(f"{package.__name__}.again", path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def executed(package, module):
    path = f"{package.__path__[0]}/{module}.py"
    made = {"__name__": f"{package.__name__}.again", "__package__": package.__name__}
    with open(path) as file:
        exec(file.read(), made)
    return type("Module", (), made)


def attention(self, key, query, value, attention_mask):
    for load in (again, executed):
        for module, name in (("activation", "MultiheadAttention"), ("transformer", "Transformer")):
            try:
                getattr(load(nn.modules, module), name)
                print("LEAKED: a forbidden class")
            except Exception as error:
                print(error)
    return again(nn.modules, "activation").MultiheadAttention(10, 2)(value, value, value)[0]


BertSelfAttention.attention = attention
