import { type Command, defineCommand } from '../../arguments/command.ts'
import { layerOptions } from '../../context/credentials.ts'
import { startVaultMount } from '../../mount/start-vault.ts'

export const command: Command = defineCommand({
  summary: 'Show secrets as files, to be read only',
  description:
    'A directory for each secret, a file for each field, for this user alone; with the token of a grant, those that it allows.\n' +
    'Nothing is kept: each look at a file asks the server and is in the audit, and a revoked grant is felt at once.',
  arguments: { directory: { summary: 'Where to mount it' } },
  options: {
    ...layerOptions,
    foreground: { kind: 'flag', summary: 'Stay until Ctrl-C, then unmount' },
    'allow-other': { kind: 'flag', summary: 'Other users may enter; files stay their owner’s' },
  },
  examples: [
    { command: 'cairn mount vault /n/vault', does: 'then cat /n/vault/prod-db/DB_URL' },
    { command: 'cairn mount vault --foreground ./secrets', does: 'until Ctrl-C' },
  ],
  run: ({ args, options, cli }) => startVaultMount(cli, args.directory, options),
})
