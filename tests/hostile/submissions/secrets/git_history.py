# tries: read the history of the repository
# loses: nothing
# control: leaks

PATHS = ["{ROOT}/.git", "{ROOT}/.git/HEAD", "{ROOT}/.git/packed-refs"]
