# tries: look around in the file system
# loses: nothing
# control: leaks

PATHS = ["/", "/etc/passwd", "/etc/shadow", "/root", "/home", "/var/log", "/tmp", "/sys/class/net"]
