# tries: replace torch and numpy in sys.modules
# loses: encode
import sys
import types

for name in ("torch", "numpy", "safetensors.numpy", "tensormark.worker.calls"):
    sys.modules[name] = types.ModuleType(name)
