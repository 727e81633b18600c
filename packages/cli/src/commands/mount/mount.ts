import { type Command, defineCommand } from '../../arguments/command.ts'
import { fileOptions } from '../../context/credentials.ts'
import { startMount } from '../../mount/start.ts'

export const command: Command = defineCommand({
  summary: 'Show a workspace as a directory',
  description:
    'Returns when the directory is ready. A background process then sends every change to the server. Missing\n' +
    'directories, local and remote, are created. The file .cairn/status in the mount shows its state.',
  arguments: {
    path: { summary: 'Directory of the workspace: :/repo' },
    directory: { summary: 'Where to mount it' },
  },
  options: {
    ...fileOptions,
    checkpoint: { kind: 'text', value: 'CHECKPOINT', summary: 'Same as --at' },
    'read-only': { kind: 'flag', summary: 'Mount read-only' },
    foreground: { kind: 'flag', summary: 'Run in the foreground until Ctrl-C, then unmount' },
    'allow-other': { kind: 'flag', summary: 'Let other users use the mount, as permissions allow' },
    'shared-locks': {
      kind: 'flag',
      summary:
        'Share flock and fcntl locks with other mounts that have this option; opening and closing files is slower',
    },
    'tool-calls': {
      kind: 'flag',
      summary: 'The log names the CAIRN_TOOL_CALL of the program that made a change',
    },
    durability: {
      kind: 'choice',
      choices: ['auto', 'interactive', 'fsync', 'close-sync', 'write-sync'],
      summary: 'What waits for the server. auto: fsync waits, and at most 5 s or 64 MiB are unsent',
    },
    profile: {
      kind: 'text',
      value: 'NAME',
      summary: 'Which directories are sent later: none, portable, or a file; see cairn profile ls',
    },
    'local-only': {
      kind: 'list',
      value: 'PATTERN',
      summary: 'Changes below these directories stay local until cairn pack, umount or a pause',
    },
    'remote-only': {
      kind: 'list',
      value: 'PATTERN',
      summary: 'Changes below these directories are sent at once, whatever the profile says',
    },
    scratch: {
      kind: 'list',
      value: 'PATTERN',
      summary: 'Changes below these directories are dropped at umount',
    },
    mode: {
      kind: 'choice',
      choices: ['fuse', 'auto'],
      summary: 'How to mount. Only FUSE exists, so auto and fuse are the same',
    },
    'cache-dir': { kind: 'text', value: 'DIR', summary: 'Where the local cache is kept' },
    'local-root': { kind: 'text', value: 'DIR', summary: 'Same as --cache-dir' },
    uid: {
      kind: 'count',
      value: 'UID',
      summary:
        "Show root's files as files of this user, and store them as root's (default: your user, unless you are root)",
    },
    gid: { kind: 'count', value: 'GID', summary: 'Same for groups' },
    'cache-size': {
      kind: 'count',
      value: 'MIB',
      summary: 'Size of the local cache in MiB (default: 4096)',
    },
    memory: {
      kind: 'count',
      value: 'MIB',
      summary:
        'Memory for what the mount knows of the tree, in MiB (default: an eighth of all memory, at most 128)',
    },
  },
  examples: [
    { command: 'cairn mount :/repo ./work', does: 'then work in ./work as in any directory' },
    { command: 'cairn mount --read-only :/ /mnt/all', does: 'the whole workspace, read-only' },
    { command: 'cairn mount --layer fix-auth-a :/repo ./a', does: 'one of several attempts' },
    {
      command: 'cairn mount --layer fix-auth-a --checkpoint tests-pass :/repo ./then',
      does: 'as it was then, read-only',
    },
    {
      command: 'cairn mount --profile portable :/repo ./work',
      does: 'node_modules and build output are sent by cairn pack',
    },
    { command: 'cairn mount --durability close-sync :/ ./w', does: 'close waits for the server' },
  ],
  run: ({ args, options, cli }) => startMount(cli, args, options),
})
