"""The platforms that a class may come from; a new one is a module here and a line below.

base.py       what a platform is; ../upload.py is what it says of a file
canvas.py, moodle.py, gradescope.py, blackboard.py, brightspace.py, github.py, plain_folder.py
"""

from tensormark.classroom.platforms.base import Platform
from tensormark.classroom.platforms.blackboard import Blackboard
from tensormark.classroom.platforms.brightspace import Brightspace
from tensormark.classroom.platforms.canvas import Canvas
from tensormark.classroom.platforms.github import GitHub
from tensormark.classroom.platforms.gradescope import Gradescope
from tensormark.classroom.platforms.moodle import Moodle
from tensormark.classroom.platforms.plain_folder import PlainFolder

FOLDER = PlainFolder()
# the first that has written a folder is taken
PLATFORMS: tuple[Platform, ...] = (
    Gradescope(),
    Blackboard(),
    Brightspace(),
    Moodle(),
    Canvas(),
    GitHub(),
    FOLDER,
)
BY_NAME = {platform.name: platform for platform in PLATFORMS}
