import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { startVaultMount } from '../../mount/start-vault.ts'

export const command: Command = defineCommand({
  summary: 'Mount secrets as read-only files',
  description:
    'Each secret is a directory, and each field is a file that only you can read. With the token of a grant,\n' +
    'you see what it allows. Nothing is cached: each read asks the server and is audited, and a revoked grant\n' +
    'ends at once.',
  arguments: { directory: { summary: 'Where to mount it' } },
  options: {
    ...workspaceOptions,
    foreground: { kind: 'flag', summary: 'Run in the foreground until Ctrl-C, then unmount' },
    'allow-other': {
      kind: 'flag',
      summary: 'Let other users enter; files are still readable by their owner alone',
    },
  },
  examples: [
    { command: 'cairn mount vault /n/vault', does: 'then cat /n/vault/prod-db/DB_URL' },
    { command: 'cairn mount vault --foreground ./secrets', does: 'until Ctrl-C' },
  ],
  run: ({ args, options, cli }) => startVaultMount(cli, args.directory, options),
})
