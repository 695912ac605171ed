# tries: read what others have handed in
# loses: nothing
# control: leaks

PATHS = ["{OTHERS}", "{OTHERS}/other_student/bert.py"]
