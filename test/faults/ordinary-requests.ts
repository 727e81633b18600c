export interface OrdinaryRequest {
  readonly method: string
  /** Below the workspace. */
  readonly path: string
  readonly query?: readonly string[]
  readonly header?: string
  readonly body?: object
}

/** One of each kind that the API has, about files that may or may not be there. */
export const ordinaryRequests: readonly OrdinaryRequest[] = [
  { method: 'GET', path: '/files/a' },
  { method: 'HEAD', path: '/files/a' },
  { method: 'GET', path: '/files/a', query: ['stat'] },
  { method: 'GET', path: '/files/', query: ['list', 'limit=3'] },
  { method: 'GET', path: '/files/', query: ['list', 'recursive', 'limit=3'] },
  { method: 'GET', path: '/files/a', query: ['history'] },
  { method: 'GET', path: '/log', query: ['limit=3'] },
  { method: 'PUT', path: '/files/a' },
  { method: 'PUT', path: '/files/d/b', query: ['mode=0600'] },
  { method: 'PUT', path: '/files/d', header: 'If-None-Match: *' },
  { method: 'PUT', path: '/files/a', header: 'If-Match: "x"' },
  { method: 'PATCH', path: '/files/a', header: 'Content-Range: bytes 3-4/*', body: {} },
  { method: 'POST', path: '/files/a', query: ['append'], body: { some: 'text' } },
  { method: 'POST', path: '/files/d/e', query: ['mkdir'], body: { parents: true } },
  { method: 'POST', path: '/files/a', query: ['move'], body: { to: '/d/moved' } },
  { method: 'POST', path: '/files/d/moved', query: ['move'], body: { to: '/a', noReplace: false } },
  { method: 'POST', path: '/files/a', query: ['copy'], body: { to: '/c/copy', parents: true } },
  { method: 'POST', path: '/files/a', query: ['chmod'], body: { mode: '0640' } },
  { method: 'POST', path: '/files/s', query: ['symlink'], body: { target: '/a' } },
  { method: 'POST', path: '/files/a', query: ['link'], body: { to: '/l', parents: true } },
  { method: 'POST', path: '/files/a', query: ['touch'], body: { mtimeNs: '1' } },
  { method: 'DELETE', path: '/files/s' },
  { method: 'DELETE', path: '/files/c', query: ['recursive'] },
  {
    method: 'POST',
    path: '/batch',
    body: { operations: [{ op: 'mkdir', path: '/m', parents: true }] },
  },
  {
    method: 'POST',
    path: '/batch',
    body: { operations: [{ op: 'write', path: '/t', text: 'x' }] },
  },
  { method: 'GET', path: '/events', query: ['after=0'] },
  { method: 'GET', path: '/events', header: 'Last-Event-ID: 1' },
  { method: 'POST', path: '/layers', body: { path: '/d', name: 'try', tags: { by: 'a' } } },
  { method: 'POST', path: '/layers', body: { path: '/d' } },
  { method: 'GET', path: '/layers', query: ['limit=3'] },
  { method: 'GET', path: '/layers/try' },
  { method: 'PATCH', path: '/layers/try', body: { message: 'about it' } },
  { method: 'GET', path: '/layers/try/diff', query: ['patch'] },
  { method: 'POST', path: '/layers/try/checkpoints', body: { label: 'half' } },
  { method: 'POST', path: '/layers/try/rollback', body: { to: 'half' } },
  { method: 'POST', path: '/layers/try/commit', body: { message: 'done', dryRun: true } },
  { method: 'POST', path: '/layers/try/resolve', body: { path: '/d/b', take: 'layer' } },
  { method: 'PUT', path: '/files/d/b', query: ['layer=try'] },
  { method: 'POST', path: '/uploads' },
  { method: 'GET', path: '/uploads/up_none' },
  { method: 'POST', path: '/uploads/up_none/complete', body: { path: '/u', size: 3 } },
]
