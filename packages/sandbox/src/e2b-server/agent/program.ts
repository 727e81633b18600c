/**
 * Runs inside the jail, as its root: paths are looked up by the jail's own kernel view, so that no link, mount or race
 * in there can lead to a file of the host. Python, because every base has it and it starts in some 15 ms.
 *
 * Frames both ways: four bytes of length, then JSON or bytes; bytes end with an empty frame. One request at a time.
 */
export const agentProgram: string = String.raw`
import errno, grp, json, os, pwd, shutil, stat, sys

source = sys.stdin.buffer
sink = sys.stdout.buffer

def take():
    head = source.read(4)
    if len(head) < 4:
        sys.exit(0)
    return source.read(int.from_bytes(head, 'big'))

def give(data):
    sink.write(len(data).to_bytes(4, 'big'))
    sink.write(data)

def answer(value):
    give(json.dumps(value).encode())
    sink.flush()

def name_of(table, number):
    try:
        return table(number)[0]
    except KeyError:
        return str(number)

def type_of(mode):
    if stat.S_ISDIR(mode):
        return 'directory'
    if stat.S_ISREG(mode):
        return 'file'
    return 'other'

PREFIX = 'user.e2b.'

def metadata_of(path):
    found = {}
    try:
        for key in os.listxattr(path):
            if key.startswith(PREFIX):
                found[key[len(PREFIX):]] = os.getxattr(path, key).decode('utf-8', 'replace')
    except OSError:
        pass
    return found

def entry_of(path):
    link = os.lstat(path)
    info, kind, target = link, type_of(link.st_mode), None
    if stat.S_ISLNK(link.st_mode):
        target = os.path.realpath(path)
        try:
            info = os.stat(path)
            kind = type_of(info.st_mode)
        except OSError:
            kind = 'other'
    letters = stat.filemode(link.st_mode)
    entry = {
        'name': os.path.basename(path.rstrip('/')) or '/',
        'path': path,
        'type': kind,
        'size': link.st_size,
        'mode': stat.S_IMODE(info.st_mode),
        'permissions': ('L' if letters[0] == 'l' else letters[0]) + letters[1:],
        'owner': name_of(pwd.getpwuid, link.st_uid),
        'group': name_of(grp.getgrgid, link.st_gid),
        'mtimeNs': str(link.st_mtime_ns),
    }
    if target is not None:
        entry['target'] = target
    if kind == 'file':
        entry['metadata'] = metadata_of(path)
    return entry

def find_user(request):
    name = request['name']
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        raise OSError(errno.ESRCH, 'there is no user ' + name)
    return {'uid': found.pw_uid, 'gid': found.pw_gid, 'home': found.pw_dir, 'shell': found.pw_shell}

def list_directory(request):
    top = request['path']
    found = []
    def walk(path, depth):
        with os.scandir(path) as names:
            ordered = sorted(names, key=lambda each: each.name)
        for each in ordered:
            below = os.path.join(path, each.name)
            try:
                found.append(entry_of(below))
            except FileNotFoundError:
                continue
            if depth > 1 and each.is_dir(follow_symlinks=False):
                walk(below, depth - 1)
    if not stat.S_ISDIR(os.stat(top).st_mode):
        raise OSError(errno.ENOTDIR, 'not a directory', top)
    walk(top, request['depth'])
    return {'entries': found}

def make_parents(path, uid, gid):
    missing = []
    while True:
        try:
            info = os.stat(path)
        except FileNotFoundError:
            missing.append(path)
            path = os.path.dirname(path)
            continue
        if not stat.S_ISDIR(info.st_mode):
            raise OSError(errno.ENOTDIR, 'not a directory', path)
        break
    for each in reversed(missing):
        try:
            os.mkdir(each, 0o755)
        except FileExistsError:
            continue
        os.chmod(each, 0o755)
        os.chown(each, uid, gid, follow_symlinks=False)
    return bool(missing)

def make_directory(request):
    path = request['path']
    return {'made': make_parents(path, request['uid'], request['gid']), 'entry': entry_of(path)}

def move(request):
    source_path, path = request['source'], request['destination']
    os.lstat(source_path)
    make_parents(os.path.dirname(path), request['uid'], request['gid'])
    os.rename(source_path, path)
    return {'entry': entry_of(path)}

def remove(request):
    path = request['path']
    try:
        if stat.S_ISDIR(os.lstat(path).st_mode):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    except FileNotFoundError:
        pass
    return {}

def read(request):
    # Not blocking: opening a pipe without a writer would wait for ever.
    handle = os.open(request['path'], os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        info = os.fstat(handle)
        if stat.S_ISDIR(info.st_mode):
            raise OSError(errno.EISDIR, 'is a directory', request['path'])
        if not stat.S_ISREG(info.st_mode):
            raise OSError(errno.EINVAL, 'not a regular file', request['path'])
        answer({'size': info.st_size, 'mtimeNs': str(info.st_mtime_ns)})
        part = json.loads(take())
        os.lseek(handle, part['start'], os.SEEK_SET)
        left = part['length']
        while left > 0:
            data = os.read(handle, min(left, 1 << 18))
            if not data:
                break
            give(data)
            left -= len(data)
    finally:
        os.close(handle)
    give(b'')
    sink.flush()

def set_metadata(handle, metadata):
    try:
        for key in os.listxattr(handle):
            if key.startswith(PREFIX) and key[len(PREFIX):] not in metadata:
                os.removexattr(handle, key)
        for key, value in metadata.items():
            os.setxattr(handle, PREFIX + key, value.encode())
    except OSError as failure:
        if failure.errno not in (errno.EOPNOTSUPP, errno.ENOSYS):
            raise

def open_target(path, uid, gid):
    make_parents(os.path.dirname(path), uid, gid)
    if os.path.isdir(path):
        raise OSError(errno.EISDIR, 'is a directory', path)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, 'not a regular file', path)
        os.fchown(handle, uid, gid)
        os.ftruncate(handle, 0)
    except BaseException:
        os.close(handle)
        raise
    return handle

def store(handle, data):
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view):]

def write(request):
    handle, failure = None, None
    try:
        handle = open_target(request['path'], request['uid'], request['gid'])
    except OSError as refused:
        failure = refused
    while True:
        data = take()
        if not data:
            break
        # Read the rest of the input, or the client would never read the answer.
        if failure is None:
            try:
                store(handle, data)
            except OSError as refused:
                failure = refused
    try:
        if failure is None:
            set_metadata(handle, request['metadata'])
    except OSError as refused:
        failure = refused
    finally:
        if handle is not None:
            os.close(handle)
    if failure is not None:
        raise failure
    return {'entry': entry_of(request['path'])}

def compose(request):
    handle = open_target(request['path'], request['uid'], request['gid'])
    try:
        for each in request['sources']:
            with open(each, 'rb') as part:
                while data := part.read(1 << 18):
                    store(handle, data)
        for each in request['sources']:
            if os.path.realpath(each) != os.path.realpath(request['path']):
                os.unlink(each)
    finally:
        os.close(handle)
    return {'entry': entry_of(request['path'])}

def disk(request):
    info = os.statvfs('/')
    return {'total': info.f_blocks * info.f_frsize, 'used': (info.f_blocks - info.f_bfree) * info.f_frsize}

OPERATIONS = {
    'user': find_user,
    'stat': lambda request: {'entry': entry_of(request['path'])},
    'list': list_directory,
    'mkdir': make_directory,
    'move': move,
    'remove': remove,
    'read': read,
    'write': write,
    'compose': compose,
    'disk': disk,
}

os.umask(0o022)
while True:
    request = json.loads(take())
    try:
        result = OPERATIONS[request['op']](request)
        if result is not None:
            answer(result)
    except OSError as failure:
        code = errno.errorcode.get(failure.errno, 'EIO')
        answer({'error': {'code': code, 'message': str(failure.strerror), 'path': str(failure.filename or '')}})
    except (ValueError, UnicodeError) as failure:
        answer({'error': {'code': 'EINVAL', 'message': str(failure), 'path': ''}})
`
