# tries: read the references, to answer with them
# loses: nothing
# control: leaks

PATHS = [
    "{ROOT}/reference_outputs",
    "{ROOT}/reference_outputs/embed.safetensors",
    "{ROOT}/reference_outputs/manifest.json",
    "{ROOT}/reference_outputs/private",
]
