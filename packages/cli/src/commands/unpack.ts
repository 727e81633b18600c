import { type Command, defineCommand } from '../arguments/command.ts'
import { workspaceOptions } from '../context/credentials.ts'
import { importForeignPack } from '../pack/foreign-pack.ts'
import { findPack } from '../pack/find-pack.ts'
import { restorePack } from '../pack/restore-pack.ts'
import { findProfile } from '../mount/profiles.ts'
import { openRemote } from '../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Bring the directories of a pack back',
  description:
    'A pack is part of the workspace, so a new mount shows its directories at once, without this command. Use it when they\n' +
    'were removed since: each local directory of the pack that is missing or empty now gets its content back. Others stay as\n' +
    'they are. With ARCHIVE, a pack that drive9 made is imported instead.',
  arguments: { archive: { summary: 'A pack of drive9: a .tar.gz file', optional: true } },
  options: {
    ...workspaceOptions,
    pack: { kind: 'text', value: 'LABEL', summary: 'Which pack; the newest unless given' },
    'remote-root': {
      kind: 'text',
      value: 'PATH',
      summary: 'The directory in the workspace; / unless given',
    },
    profile: {
      kind: 'text',
      value: 'NAME',
      summary: 'Says which directories; portable unless given',
    },
    'local-root': {
      kind: 'text',
      value: 'DIR',
      summary: 'Taken for the sake of habit; nothing is unpacked on this machine',
    },
  },
  examples: [
    {
      command: 'cairn unpack --remote-root /workspace --profile portable',
      does: 'the newest pack',
    },
    { command: 'cairn unpack --pack deps --remote-root /repo', does: 'one with a name' },
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
