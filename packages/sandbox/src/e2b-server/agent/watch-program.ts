/** Runs inside the jail, one for each watched directory; tells of changes as lines of JSON until it is ended. */
export const watchProgram: string = String.raw`
import ctypes, errno, json, os, stat, struct, sys

top, is_recursive, allows_network = sys.argv[1], sys.argv[2] == '1', sys.argv[3] == '1'
NETWORK = ('nfs', 'cifs', 'smb', 'fuse')
MODIFY, ATTRIB, MOVED_FROM, MOVED_TO, CREATE, DELETE = 0x2, 0x4, 0x40, 0x80, 0x100, 0x200
OVERFLOW, IGNORED, IS_DIRECTORY = 0x4000, 0x8000, 0x40000000
KINDS = ((CREATE | MOVED_TO, 'CREATE'), (MODIFY, 'WRITE'), (DELETE, 'REMOVE'), (MOVED_FROM, 'RENAME'), (ATTRIB, 'CHMOD'))

def say(value):
    sys.stdout.write(json.dumps(value) + '\n')
    sys.stdout.flush()

def fail(code, message):
    say({'error': {'code': code, 'message': message, 'path': top}})
    sys.exit(0)

def is_network(path):
    device = os.stat(path).st_dev
    wanted = '%d:%d' % (os.major(device), os.minor(device))
    with open('/proc/self/mountinfo') as mounts:
        for line in mounts:
            fields = line.split(' ')
            if fields[2] == wanted:
                kind = fields[fields.index('-') + 1]
                if kind.startswith(NETWORK) and kind != 'fusectl':
                    return True
    return False

libc = ctypes.CDLL(None, use_errno=True)
try:
    if not stat.S_ISDIR(os.stat(top).st_mode):
        fail('ENOTDIR', 'not a directory')
except OSError as failure:
    fail(errno.errorcode.get(failure.errno, 'EIO'), str(failure.strerror))
if not allows_network and is_network(top):
    fail('EREMOTE', 'on a network file system, where changes made elsewhere are not seen')

handle = libc.inotify_init1(0o2000000)
places = {}

def watch(path, name, is_late):
    mask = MODIFY | ATTRIB | MOVED_FROM | MOVED_TO | CREATE | DELETE | 0x1000000
    number = libc.inotify_add_watch(handle, os.fsencode(path), mask)
    if number < 0:
        return
    places[number] = name
    if not is_recursive:
        return
    try:
        with os.scandir(path) as names:
            found = list(names)
    except OSError:
        return
    for each in found:
        below = os.path.join(name, each.name)
        if is_late:
            say({'name': below, 'type': 'CREATE'})
        if each.is_dir(follow_symlinks=False):
            watch(os.path.join(path, each.name), below, is_late)

watch(top, '', False)
say({'started': True})
while True:
    data = os.read(handle, 1 << 16)
    at = 0
    while at < len(data):
        number, mask, _, length = struct.unpack_from('iIII', data, at)
        raw = data[at + 16:at + 16 + length].rstrip(b'\0')
        at += 16 + length
        if mask & IGNORED:
            places.pop(number, None)
        if mask & (IGNORED | OVERFLOW) or number not in places or not raw:
            continue
        name = os.path.join(places[number], os.fsdecode(raw))
        for bits, kind in KINDS:
            if mask & bits:
                say({'name': name, 'type': kind})
        if is_recursive and mask & IS_DIRECTORY and mask & (CREATE | MOVED_TO):
            watch(os.path.join(top, name), name, True)
`
