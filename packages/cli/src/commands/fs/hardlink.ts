import { type Command, defineCommand } from '../../arguments/command.ts'
import { fileOptions } from '../../context/credentials.ts'
import { openRemote, requireSameWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Make a hard link: another name for a file',
  description: 'Both names then mean the same file. Missing parent directories are created.',
  arguments: { target: { summary: 'The file' }, link: { summary: 'The new name' } },
  options: fileOptions,
  examples: [{ command: 'cairn fs hardlink :/data.bin :/backup/data.bin', does: 'like ln' }],
  async run({ args, options, cli }) {
    const target = await openRemote(cli, options, args.target)
    const link = await openRemote(cli, options, args.link)
    requireSameWorkspace(target, link, `link ${args.target} to ${args.link}`)
    const request = { parents: true, signal: cli.signal }
    const receipt = await target.files.link(target.path, link.path, request)
    if (cli.isJson) await cli.out.json({ path: link.path, target: target.path, ...receipt })
  },
})
