# tries: turn every warning into an error
# loses: nothing
import warnings

warnings.simplefilter("error")
