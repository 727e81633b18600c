import type { ErrorCode } from '@cairn/protocol'

/** How a user meets an error. In all words DIR is a directory of the test, SERVER its server, and WORKSPACE its workspace. */
export interface ErrorCase {
  /** Commands that succeed. PRINTED in `env` is the token that the last of them printed. */
  readonly steps?: readonly string[]
  /** Empty files in DIR. */
  readonly files?: readonly string[]
  readonly stdin?: string
  /** Other than the server of the test, its owner key and its workspace. */
  readonly env?: Readonly<Record<string, string>>
  readonly run: string
  /** Where the code leaves the exit code to the file system. */
  readonly errno?: string
  /** All of standard error. IDs and times are written as ID and TIME. */
  readonly says: string
}

const attempt = 'fs layer create :/ --name fix-auth'
const secret = 'vault set prod-db USER=app'
const journal = 'journal new --id run-42'

export const errorCases: Partial<Record<ErrorCode, ErrorCase>> = {
  unauthenticated: {
    env: { CAIRN_API_KEY: 'wrong' },
    run: 'ws ls',
    says: 'cannot list workspaces: the server does not know this key or token. Save a valid key with: cairn ctx add, or set CAIRN_API_KEY.',
  },
  host_refused: {
    env: { CAIRN_SERVER: 'http://0.0.0.0:PORT' },
    run: 'ws ls',
    says: "cannot list workspaces: the server answers to names of its own machine only, and the host is '0.0.0.0'. Use the address that the server printed, or start it with: cairn serve --allow-host NAME.",
  },
  forbidden: {
    steps: ['token issue reader --allow /:read,list --ttl 1h --token-only'],
    env: { CAIRN_API_KEY: 'PRINTED' },
    run: 'fs mkdir :/new',
    says: 'cannot make the directory /new: the token allows write or delete nowhere. Ask the owner for a token that allows it. See what this one allows with: cairn token show.',
  },
  access_ended: {
    steps: ['token issue reader --allow /:read,list --ttl 1h', 'token revoke reader'],
    env: { CAIRN_API_KEY: 'PRINTED' },
    run: 'fs ls :/',
    says: 'cannot list /: the token was revoked at TIME. Ask the owner for another one. A token that has expired, but was not revoked, can be refreshed: cairn token refresh.',
  },
  token_missing: {
    run: 'token revoke agent-17',
    says: "cannot revoke the token agent-17: no token has the name or id 'agent-17'. List the tokens of the workspace with: cairn token list.",
  },
  key_missing: {
    run: 'key rm alice',
    says: "cannot remove the key alice: there is no key 'alice'. List the owner keys with: cairn key ls.",
  },
  key_exists: {
    steps: ['key add alice'],
    run: 'key add alice',
    says: 'cannot add the key alice: the name is taken. Choose another name: a name is never used for a second key, so that the log stays clear. For a new secret under the same name, run: cairn key rotate NAME.',
  },
  last_key: {
    run: 'key rm default',
    says: 'cannot remove the key default: it is the only owner key. Add another key first: cairn key add NAME.',
  },
  unreachable: {
    env: { CAIRN_SERVER: 'http://127.0.0.1:9' },
    run: 'ws ls',
    says: 'cannot list workspaces: connect ECONNREFUSED 127.0.0.1:9. Check the address, and that the server is running: cairn status. Start one on this machine with: cairn up.',
  },
  bad_answer: {
    env: { CAIRN_SERVER: 'OTHER' },
    run: 'ws ls',
    says: 'cannot list workspaces: the answer is not JSON. Check the address: another program, or a proxy in between, answered in place of a Cairn server.',
  },
  usage: {
    run: 'fs ls --colour',
    says: 'cannot take the option --colour: the command has no such option. See cairn fs ls --help.',
  },
  not_configured: {
    env: { CAIRN_SERVER: '', CAIRN_API_KEY: '' },
    run: 'ws ls',
    says: 'cannot find a server: no context is saved, and you are not logged in. Start one with: cairn serve; or save one with: cairn ctx add --name NAME --server URL --api-key-file FILE.',
  },
  not_mounted: {
    run: 'umount DIR',
    says: 'cannot reach a mount at DIR: nothing is mounted there. Mount with: cairn mount :/ DIR; see all with: cairn mount ls.',
  },
  local_file: {
    errno: 'ENOENT',
    run: 'fs cp DIR/missing.txt :/a.txt',
    says: 'cannot find DIR/missing.txt: no such file or directory. Check the path on this machine. A remote path begins with a colon: :/PATH.',
  },
  branch_missing: {
    run: 'fs layer commit fix-auth',
    says: "cannot commit the layer fix-auth: no layer has the id, name or tag 'fix-auth', or a checkpoint of that name. List the layers with: cairn fs layer list.",
  },
  branch_exists: {
    steps: [attempt],
    run: attempt,
    says: "cannot make a layer of /: the name 'fix-auth' is taken. Choose another name.",
  },
  checkpoint_missing: {
    steps: [attempt],
    run: 'fs layer rollback fix-auth --to tests-pass',
    says: "cannot roll the layer fix-auth back: ID has no checkpoint with the id or label 'tests-pass'. List the checkpoints of a layer with: cairn fs layer checkpoints LAYER.",
  },
  checkpoint_outdated: {
    steps: [
      attempt,
      'fs layer checkpoint fix-auth --label tests-pass',
      'fs mkdir :/docs',
      'fs layer rebase fix-auth',
    ],
    run: 'fs layer rollback fix-auth --to tests-pass',
    says: 'cannot roll the layer fix-auth back: the layer was rebased, committed or rolled back since. Choose a checkpoint that was made since the last rebase or commit: cairn fs layer checkpoints LAYER.',
  },
  layer_closed: {
    steps: [attempt, 'fs layer commit fix-auth'],
    run: 'fs mkdir :/new --layer fix-auth',
    says: 'cannot make the directory /new: the layer is committed. Continue in a new layer from it: cairn fs layer fork. An abandoned layer can also be reopened: cairn fs layer reopen.',
  },
  nothing_to_undo: {
    steps: [attempt],
    run: 'fs layer undo fix-auth',
    says: 'cannot undo the rollback of the layer fix-auth: the newest change is not a rollback. Only a rollback that nothing has followed can be undone. See the log with: cairn fs log.',
  },
  reference_ambiguous: {
    steps: [`${attempt}-a --tag task=auth`, `${attempt}-b --tag task=auth`],
    run: 'fs layer diff task=auth',
    says: 'cannot compare the layer task=auth: several layers match: ID (fix-auth-a, open), ID (fix-auth-b, open). Give the id of one of them.',
  },
  outside_layer: {
    steps: ['fs layer create :/repo --name fix-auth'],
    run: 'fs mkdir :/docs --layer fix-auth',
    says: 'cannot make the directory /docs: the layer may only change /repo. Write below the path of the layer, or create a layer for a path that holds both.',
  },
  layer_in_use: {
    steps: ['fs layer create :/ --name plan', `${attempt} --parent plan`],
    run: 'fs layer delete plan',
    says: 'cannot delete the layer plan: other layers were made from it: fix-auth. Delete the layers that were made from it first, or all together with --cascade.',
  },
  conflict_missing: {
    steps: [attempt],
    run: 'fs layer resolve fix-auth /a.txt --ours',
    says: 'cannot resolve /a.txt in the layer fix-auth: this path is not in conflict. See the conflicts with: cairn fs layer status LAYER.',
  },
  layer_conflict: {
    files: ['a.txt'],
    steps: [attempt, 'fs cp DIR/a.txt :/a.txt --layer fix-auth', 'fs mkdir :/a.txt'],
    run: 'fs layer commit fix-auth',
    says: [
      'conflict: /a.txt: file/directory: it is a file for one and a directory for the other',
      '  base: not there',
      '  layer: cairn fs cat :/a.txt --layer fix-auth --side layer',
      '  target: cairn fs ls :/a.txt --layer fix-auth --side target',
      '  decide: cairn fs layer resolve fix-auth /a.txt --ours | --theirs | --with FILE',
      '--ours keeps the version of the layer, --theirs that of its parent. When all are decided:',
      '  cairn fs layer commit fix-auth',
      'To bring the layer up to date and test it first: cairn fs layer rebase fix-auth',
      'cannot commit the layer fix-auth: 1 path is in conflict: /a.txt (file/directory). See the conflicts with: cairn fs layer status LAYER; resolve each with: cairn fs layer resolve; then commit again.',
    ].join('\n'),
  },
  invalid_argument: {
    run: "ws create 'Bad Name!'",
    says: "cannot make the workspace Bad Name!: name must be 1 to 128 letters, digits, dots, underscores and hyphens, with a letter or digit first; got 'Bad Name!'. Correct the value, then try again. Nothing was changed.",
  },
  workspace_missing: {
    run: 'fs ls :/ -w nowhere',
    says: "cannot list /: there is no workspace 'nowhere'. List your workspaces with: cairn ws ls, or create it with: cairn ws create NAME.",
  },
  workspace_exists: {
    run: 'ws create WORKSPACE',
    says: 'cannot make the workspace website: the name is taken. Choose another name, or use the workspace that is there.',
  },
  read_only: {
    steps: [attempt, 'fs layer checkpoint fix-auth --label tests-pass'],
    run: 'fs mkdir :/new --layer tests-pass',
    says: 'cannot make the directory /new: a checkpoint does not change. Write to the branch or layer itself. A mount or session for writing is opened without --read-only and without a checkpoint.',
  },
  too_large: {
    steps: [journal],
    stdin: JSON.stringify({ type: 'note', summary: { text: 'x'.repeat(70_000) } }),
    run: 'journal append run-42',
    says: 'cannot append to the journal run-42: summary has more than 65536 bytes. Send less at once. docs/reference/http.md lists the limits.',
  },
  file_system: {
    errno: 'ENOENT',
    run: 'fs cat :/missing.txt',
    says: 'cannot read /missing.txt: no such file or directory. Check the path, or list the directory it should be in.',
  },
  idempotency_mismatch: {
    stdin: '{"type":"note"}',
    steps: [journal, 'journal append run-42 --idempotency-key ci-7'],
    run: 'journal append run-42 --idempotency-key ci-7 --source ci',
    says: 'cannot append to the journal run-42: the Idempotency-Key was used for other entries. Send the other request with an Idempotency-Key of its own.',
  },
  secret_missing: {
    run: 'vault get prod-db',
    says: 'cannot read the secret prod-db: no secret has this name. List the secrets that you can read with: cairn vault ls.',
  },
  vault_denied: {
    steps: [secret, 'vault grant prod-db --agent alice --ttl 1h --token-only'],
    env: { CAIRN_VAULT_TOKEN: 'PRINTED', CAIRN_API_KEY: 'PRINTED' },
    run: 'vault set prod-db USER=other',
    says: 'cannot write the secret prod-db: the grant does not allow it. Ask the owner for a grant that allows it: cairn vault grant.',
  },
  grant_missing: {
    run: 'vault revoke grant_1',
    says: "cannot revoke the grant grant_1: there is no grant 'grant_1'. List the grants with: cairn vault grants.",
  },
  precondition_failed: {
    run: `${secret} --if-version 3`,
    says: 'cannot write the secret prod-db: it is at version 0, not 3. Read it again, then decide again. Nothing was changed.',
  },
  journal_missing: {
    run: 'journal cat run-42',
    says: "cannot read the journal run-42: there is no journal 'run-42'. List the journals with: cairn journal ls, or begin one with: cairn journal new --id ID.",
  },
  journal_exists: {
    steps: [journal],
    run: `${journal} --title tests`,
    says: 'cannot begin the journal run-42: a journal with this id has another title, kind or meta. Append to the journal that is there, or choose another id.',
  },
  journal_sealed: {
    stdin: '{"type":"note"}',
    steps: [journal, 'journal seal run-42'],
    run: 'journal append run-42',
    says: 'cannot append to the journal run-42: the journal is sealed. A sealed journal takes no more entries. Begin another one with: cairn journal new.',
  },
  quota_exceeded: {
    steps: ['ws quota WORKSPACE --max-files 1', 'fs mkdir :/one'],
    run: 'fs mkdir :/two',
    says: 'cannot make the directory /two: the tree would hold 2 files, and its quota is 1. Delete something, or raise the quota: cairn ws quota, cairn fs layer quota. Nothing was changed.',
  },
  storage_misconfigured: {
    run: 'server check --meta mysql://db --objects s3://bucket',
    says: 'cannot read the address of the database: want mysql://user:password@host:port/database, percent-encoded, with ?tls=true for TLS. Correct what the message names, then start the server again.',
  },
  serve_failed: {
    run: 'serve --data DIR/data --listen 127.0.0.1:PORT',
    says: 'cannot listen on 127.0.0.1:PORT: another program uses this address. Stop it, or take a free port with: --listen 127.0.0.1:0.',
  },
  sandbox_failed: {
    env: { CAIRN_SINGLE_FILE: 'DIR/missing' },
    run: 'sandbox template --e2b --out DIR/image',
    says: 'cannot write the template: cairn as one file is missing. Make it with: npm run build; or set CAIRN_SINGLE_FILE to one.',
  },
  incomplete_copy: {
    files: ['a.txt', 'tree/a.txt/in-the-way'],
    steps: ['fs mkdir :/tree', 'fs cp DIR/a.txt :/tree/a.txt'],
    run: 'fs cp -r --resume :/tree DIR/tree',
    says: [
      'cairn fs cp: cannot replace DIR/tree/a.txt: is a directory. Name a file, or add -r where a command takes directories.',
      'cannot copy everything: 1 entry could not be copied. The lines above say why. Fix that, then run the same command again: the rest is there.',
    ].join('\n'),
  },
  mount_failed: {
    files: ['plan'],
    run: 'mount :/ DIR/plan',
    says: 'cannot mount on DIR/plan: it is not a directory. Choose another place, or move what is there.',
  },
}

/** Those that no command meets by itself alone: a test that does, and shows the code. */
export const provokedElsewhere: Partial<Record<ErrorCode, string>> = {
  too_many_attempts: 'packages/server/src/access/attempts.test.ts',
  too_many_requests: 'packages/server/src/http/limits.test.ts',
  timed_out: 'packages/sdk/src/client/connection.test.ts',
  file_changed: 'test/e2e/sdk.test.ts',
  mount_unhealthy: 'test/e2e/cli-mount.test.ts',
  umount_failed: 'test/e2e/cli-mount.test.ts',
  not_drained: 'test/e2e/cli-mount.test.ts',
  check_failed: 'packages/cli/src/describe-error.test.ts',
  malformed: 'packages/server/src/http/body.test.ts',
  unsupported_version: 'packages/server/src/storage/migrate.test.ts',
  not_found: 'packages/sdk/src/files/upload.test.ts',
  too_slow: 'packages/server/src/sql/sql-limits.test.ts',
  internal: 'packages/cli/src/describe-error.test.ts',
  storage_unavailable: 'packages/server/src/merging/cut.test.ts',
  storage_full: 'test/faults/disk.test.ts',
  sequence_conflict: 'packages/server/src/storage/mysql/outage.test.ts',
  stale_epoch: 'packages/core/src/history/branch.test.ts',
  batch_mismatch: 'packages/core/src/history/branch.test.ts',
  batch_passed_over: 'packages/core/src/history/branch.test.ts',
  damaged_store: 'test/e2e/server-stores.test.ts',
  corrupt: 'packages/core/src/content/blobs.test.ts',
  node_missing: 'packages/core/src/tree/nodes.test.ts',
  blob_missing: 'packages/server/src/storage/open.test.ts',
  chain_broken: 'packages/server/src/journal/tampering.test.ts',
}
