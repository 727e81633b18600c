import { type Command, defineCommand } from '../../arguments/command.ts'
import { listProfiles } from '../../mount/profiles.ts'

export const command: Command = defineCommand({
  summary: 'List the profiles of mounts',
  description:
    'Lists built-in profiles and yours in ~/.cairn/profiles. Profiles in ~/.drive9/profiles work, too.',
  arguments: {},
  options: {},
  examples: [{ command: 'cairn profile ls', does: 'then: cairn mount --profile NAME' }],
  async run({ cli }) {
    const profiles = listProfiles(cli)
    if (cli.isJson) {
      for (const profile of profiles) await cli.out.json(profile)
      return
    }
    const rows = profiles.map(({ name, local, scratch, durable }) =>
      [name, local.length, scratch.length, durable.length].map(String),
    )
    await cli.out.table([['NAME', 'LOCAL', 'SCRATCH', 'DURABLE'], ...rows], [1, 2, 3])
  },
})
