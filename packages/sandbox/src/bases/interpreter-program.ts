/** Where it is in the template `code-interpreter-v1`. */
export const interpreterPath = 'usr/local/lib/cairn/code-interpreter.py'
const interpreterPort = 49_999
/** What starts it in a sandbox, and succeeds when it answers. */
export const interpreterCommands: { readonly startCommand: string; readonly readyCommand: string } =
  {
    startCommand: `cd && exec python3 /${interpreterPath}`,
    readyCommand: `curl -sf http://127.0.0.1:${interpreterPort}/health`,
  }

/**
 * What `runCode` of `@e2b/code-interpreter` talks to: contexts, each with a Jupyter kernel of its own. Answers to
 * `/execute` are lines of JSON, sent while the code runs. Python, because that is where kernels are.
 */
export const interpreterProgram: string = String.raw`
import json, queue, select, socket, threading, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from jupyter_client.manager import KernelManager

HOME = '/home/user'
FIELDS = {
    'text/plain': 'text', 'text/html': 'html', 'text/markdown': 'markdown', 'image/svg+xml': 'svg',
    'image/png': 'png', 'image/jpeg': 'jpeg', 'application/pdf': 'pdf', 'text/latex': 'latex',
    'application/json': 'json', 'application/javascript': 'javascript',
}
PYTHON = (None, '', 'python', 'python3')

def setting(names):
    return 'import os as _os\n_os.environ.update(' + repr(names) + ')\ndel _os\n'

def restoring(names):
    return ('import os as _os\nfor _n in ' + repr(list(names)) + ': _os.environ.pop(_n, None)\n'
            '_os.environ.update({k: v for k, v in globals().pop("_cairn_env").items() if k in ' + repr(list(names)) + '})\ndel _os, _n\n')

def result_of(data, is_main):
    result = {'type': 'result', 'is_main_result': is_main}
    for kind, value in data.items():
        result[FIELDS.get(kind, kind)] = ''.join(value) if isinstance(value, list) else value
    text = result.get('text')
    # A string is shown as its text, not as Python writes it.
    if text and len(text) > 1 and text[0] == text[-1] and text[0] in '"\'':
        result['text'] = text[1:-1]
    return result

class Context:
    def __init__(self, cwd):
        self.id, self.cwd, self.lock = str(uuid.uuid4()), cwd or HOME, threading.Lock()
        self.manager = KernelManager(kernel_name='python3')
        self.manager.start_kernel(cwd=self.cwd)
        self.connect()

    def connect(self):
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def show(self):
        return {'id': self.id, 'language': 'python', 'cwd': self.cwd}

    def restart(self):
        # Whatever runs ends with its kernel, and then gives the lock back.
        self.manager.interrupt_kernel()
        with self.lock:
            self.renew()

    def renew(self):
        self.client.stop_channels()
        self.manager.restart_kernel(now=True)
        self.connect()

    def end(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def execute(self, code, names, send, is_gone):
        with self.lock:
            if names:
                self.quietly('import os as _o\n_cairn_env = dict(_o.environ)\ndel _o\n' + setting(names))
            try:
                self.run(code, send, is_gone)
            finally:
                if names and self.manager.is_alive():
                    self.quietly(restoring(names))

    def quietly(self, code):
        self.follow(self.client.execute(code, silent=True, store_history=False), lambda line: None, lambda: False)

    def run(self, code, send, is_gone):
        self.follow(self.client.execute(code, store_history=True, allow_stdin=False), send, is_gone)

    def follow(self, request, send, is_gone):
        while True:
            try:
                message = self.client.get_iopub_msg(timeout=0.5)
            except queue.Empty:
                if not self.manager.is_alive():
                    send({'type': 'error', 'name': 'KernelDied', 'value': 'the kernel ended while it ran this; it was started again', 'traceback': ''})
                    self.renew()
                    return
                if is_gone():
                    self.manager.interrupt_kernel()
                    is_gone = lambda: False
                continue
            if message['parent_header'].get('msg_id') != request:
                continue
            kind, content = message['msg_type'], message['content']
            if kind == 'stream':
                send({'type': content['name'], 'text': content['text']})
            elif kind in ('execute_result', 'display_data'):
                send(result_of(content['data'], kind == 'execute_result'))
            elif kind == 'error':
                send({'type': 'error', 'name': content['ename'], 'value': content['evalue'], 'traceback': '\n'.join(content['traceback'])})
            elif kind == 'execute_input':
                send({'type': 'number_of_executions', 'execution_count': content['execution_count']})
            elif kind == 'status' and content['execution_state'] == 'idle':
                return

contexts = {}
first = Context(HOME)
contexts[first.id] = first

class Handler(BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def body(self):
        size = int(self.headers.get('Content-Length') or 0)
        if self.headers.get('Transfer-Encoding') == 'chunked':
            parts = []
            while True:
                size = int(self.rfile.readline().split(b';')[0], 16)
                parts.append(self.rfile.read(size))
                self.rfile.readline()
                if size == 0:
                    return json.loads(b''.join(parts) or b'{}')
        return json.loads(self.rfile.read(size) or b'{}')

    def answer(self, status, value=None):
        data = b'' if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def is_gone(self):
        ready, _, _ = select.select([self.connection], [], [], 0)
        return bool(ready) and self.connection.recv(1, socket.MSG_PEEK) == b''

    def send_line(self, value):
        try:
            self.wfile.write(json.dumps(value).encode() + b'\n')
            self.wfile.flush()
        except OSError:
            pass

    def context(self, name):
        found = contexts.get(name)
        if found is None:
            self.answer(404, {'message': 'there is no context ' + str(name)})
        return found

    def language_error(self, language):
        return {'type': 'error', 'name': 'LanguageError', 'traceback': '',
                'value': 'this server has a kernel for python, and none for ' + str(language)}

    def do_GET(self):
        path = self.path.split('?')[0]
        if path == '/health':
            self.answer(200, 'OK')
        elif path == '/contexts':
            self.answer(200, [each.show() for each in contexts.values()])
        else:
            self.answer(404, {'message': 'there is nothing at ' + path})

    def do_POST(self):
        parts = self.path.split('?')[0].strip('/').split('/')
        body = self.body()
        if parts == ['execute']:
            self.execute(body)
        elif parts == ['contexts']:
            if body.get('language') not in PYTHON:
                return self.answer(400, {'message': self.language_error(body['language'])['value']})
            made = Context(body.get('cwd'))
            contexts[made.id] = made
            self.answer(201, made.show())
        elif len(parts) == 3 and parts[0] == 'contexts' and parts[2] == 'restart':
            found = self.context(parts[1])
            if found is not None:
                found.restart()
                self.answer(204)
        else:
            self.answer(404, {'message': 'there is nothing at ' + self.path})

    def do_DELETE(self):
        parts = self.path.split('?')[0].strip('/').split('/')
        found = self.context(parts[1]) if len(parts) == 2 and parts[0] == 'contexts' else self.answer(404)
        if found is not None:
            del contexts[found.id]
            found.end()
            self.answer(204)

    def execute(self, body):
        context = self.context(body['context_id']) if body.get('context_id') else first
        if context is None:
            return
        self.send_response(200)
        self.send_header('Content-Type', 'application/x-ndjson')
        self.end_headers()
        if body.get('language') not in PYTHON:
            self.send_line(self.language_error(body['language']))
        else:
            context.execute(body.get('code', ''), body.get('env_vars') or {}, self.send_line, self.is_gone)
        self.send_line({'type': 'end_of_execution'})

server = ThreadingHTTPServer(('127.0.0.1', ${interpreterPort}), Handler)
server.daemon_threads = True
server.serve_forever()
`
