# tries: turn every warning into an error
# scores: attention add_norm layer embed encode
import warnings

warnings.simplefilter("error")
