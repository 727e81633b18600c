import { type Command, defineCommand } from '../arguments/command.ts'
import { fileOptions } from '../context/credentials.ts'
import { importForeignPack } from '../pack/foreign-pack.ts'
import { findPack } from '../pack/find-pack.ts'
import { restorePack } from '../pack/restore-pack.ts'
import { findProfile } from '../mount/profiles.ts'
import { openRemote } from '../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Restore the directories of a pack',
  description:
    'A pack is part of the workspace, so a new mount shows its directories without this command. Use it if\n' +
    'they were removed since: each local directory of the pack that is now missing or empty gets its content\n' +
    'back. Other directories do not change. With ARCHIVE, it imports a pack that drive9 made.',
  arguments: { archive: { summary: 'A pack of drive9: a .tar.gz file', optional: true } },
  options: {
    ...fileOptions,
    pack: { kind: 'text', value: 'LABEL', summary: 'Name of the pack (default: the newest)' },
    'remote-root': {
      kind: 'text',
      value: 'PATH',
      summary: 'Directory in the workspace (default: /)',
    },
    profile: {
      kind: 'text',
      value: 'NAME',
      summary: 'Profile that names the directories (default: portable)',
    },
    'local-root': {
      kind: 'text',
      value: 'DIR',
      summary: 'Accepted for compatibility with drive9; nothing is unpacked on this machine',
    },
  },
  examples: [
    {
      command: 'cairn unpack --remote-root /workspace --profile portable',
      does: 'the newest pack',
    },
    { command: 'cairn unpack --pack deps --remote-root /repo', does: 'a named pack' },
    {
      command: 'cairn unpack old-pack.tar.gz --remote-root /repo',
      does: 'a pack that drive9 made',
    },
  ],
  async run({ args, options, cli }) {
    const root = options['remote-root'] ?? '/'
    const remote = await openRemote(cli, options, `:${root}`)
    if (args.archive !== undefined) return importForeignPack(cli, remote, args.archive)
    const profile = findProfile(cli, options.profile ?? 'portable')
    const pack = await findPack(
      cli,
      remote,
      options.layer ?? options.branch ?? 'main',
      options.pack,
    )
    await restorePack(cli, remote, pack, profile)
  },
})
