"""The platforms that a class may come from: each module here has the class of one.

base.py says what a platform is; folder.py is for a folder that none of the others has written.
"""

import importlib
import pkgutil

from tensormark.classroom.platforms.base import Platform
from tensormark.classroom.platforms.folder import Folder

for _info in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_info.name}")
FOLDER = Folder()
# the first that has written a folder is taken
PLATFORMS: tuple[Platform, ...] = (
    *(kind() for kind in Platform.__subclasses__() if kind is not Folder),
    FOLDER,
)
BY_NAME = {platform.name: platform for platform in PLATFORMS}
