import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { startMount } from '../../mount/start.ts'

export const command: Command = defineCommand({
  summary: 'Show a workspace as a directory',
  description:
    'Returns when the directory is usable; a process in the background answers the kernel and brings every change to the\n' +
    'server. The local directory and the remote one are made if they are missing. .cairn/status in it tells how it is.',
  arguments: {
    path: { summary: 'The directory of the workspace: :/repo' },
    directory: { summary: 'Where to mount it' },
  },
  options: {
    ...workspaceOptions,
    checkpoint: { kind: 'text', value: 'CHECKPOINT', summary: 'The same as --at' },
    'read-only': { kind: 'flag', summary: 'Nothing can be changed through it' },
    foreground: { kind: 'flag', summary: 'Stay until Ctrl-C, then unmount' },
    'allow-other': { kind: 'flag', summary: 'Other users may enter, as permissions allow' },
    'shared-locks': {
      kind: 'flag',
      summary:
        'flock and fcntl locks hold between all mounts with this; opening and closing is slower',
    },
    durability: {
      kind: 'choice',
      choices: ['auto', 'interactive', 'fsync', 'close-sync', 'write-sync'],
      summary: 'What waits for the server: auto is fsync, with at most 5 s or 64 MiB on the way',
    },
    profile: {
      kind: 'text',
      value: 'NAME',
      summary: 'Which directories travel later: none, portable, or a file; see cairn profile ls',
    },
    'local-only': {
      kind: 'list',
      value: 'PATTERN',
      summary: 'Changes below these directories stay here until cairn pack, umount or a pause',
    },
    'remote-only': {
      kind: 'list',
      value: 'PATTERN',
      summary: 'These travel at once, whatever the profile says',
    },
    scratch: {
      kind: 'list',
      value: 'PATTERN',
      summary: 'Changes below these are dropped at umount',
    },
    mode: {
      kind: 'choice',
      choices: ['fuse', 'auto'],
      summary:
        'How: fuse insists on FUSE, auto chooses; there is only FUSE today, so both are the same',
    },
    'cache-dir': { kind: 'text', value: 'DIR', summary: 'Where bytes are kept on the local disk' },
    'local-root': { kind: 'text', value: 'DIR', summary: 'The same as --cache-dir' },
    uid: {
      kind: 'count',
      value: 'UID',
      summary: "Show root's files as this user's, and back; yours unless you are root",
    },
    gid: { kind: 'count', value: 'GID', summary: 'The same for groups' },
    'cache-size': { kind: 'count', value: 'MIB', summary: 'How many; 4096 unless given' },
  },
  examples: [
    { command: 'cairn mount :/repo ./work', does: 'then work in ./work as in any directory' },
    { command: 'cairn mount --read-only :/ /mnt/all', does: 'the whole workspace, to look at' },
    { command: 'cairn mount --layer fix-auth-a :/repo ./a', does: 'one attempt of several' },
    {
      command: 'cairn mount --layer fix-auth-a --checkpoint tests-pass :/repo ./then',
      does: 'as it was then, read-only',
    },
    {
      command: 'cairn mount --profile portable :/repo ./work',
      does: 'node_modules and build output travel with cairn pack',
    },
    { command: 'cairn mount --durability close-sync :/ ./w', does: 'close waits for the server' },
  ],
  run: ({ args, options, cli }) => startMount(cli, args, options),
})
