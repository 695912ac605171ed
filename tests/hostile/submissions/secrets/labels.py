# tries: read the labels of dev and test
# loses: nothing
# control: leaks

PATHS = ["{ROOT}/data", "{ROOT}/data/dev.txt", "{ROOT}/data/test.txt"]
