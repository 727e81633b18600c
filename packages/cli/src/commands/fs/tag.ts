import { type Command, defineCommand } from '../../arguments/command.ts'
import { readerOptions } from '../../context/credentials.ts'
import { formatTags, parseTags } from '../../layers/format.ts'
import { openRemote } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Set, remove or list the tags of a file or directory',
  description:
    'Tags are part of the tree, so layers, checkpoints and commits have them. Without KEY=VALUE and --remove,\n' +
    'the command prints the tags. In a mount they are extended attributes: setfattr -n\n' +
    'user.cairn.tag.reviewed -v yes a.txt',
  arguments: {
    path: { summary: 'The file or directory' },
    tag: { summary: 'KEY=VALUE', optional: true, many: true },
  },
  options: {
    ...readerOptions,
    remove: { kind: 'list', value: 'KEY', summary: 'Remove this tag' },
  },
  examples: [
    { command: 'cairn fs tag :/repo/a.txt reviewed=yes by=agent-17', does: 'set two tags' },
    { command: 'cairn fs tag :/repo/a.txt', does: 'list the tags' },
    { command: 'cairn fs tag :/repo/a.txt --remove reviewed', does: 'remove a tag' },
  ],
  async run({ args: { path, tag }, options, cli }) {
    const { files, path: place } = await openRemote(cli, options, path)
    const { signal } = cli
    const removed = Object.fromEntries(options.remove.map((key) => [key, null]))
    const changes = { ...parseTags(tag), ...removed }
    const isChange = Object.keys(changes).length > 0
    const receipt = isChange ? await files.tag(place, changes, { signal }) : undefined
    const { path: found, tags = {} } = await files.stat(place, { signal })
    if (cli.isJson) return cli.out.json({ path: found, tags, ...(receipt && { seq: receipt.seq }) })
    if (isChange) await cli.out.line(`tags of ${path}: ${formatTags(tags) || 'none'}`)
    else for (const [name, value] of Object.entries(tags)) await cli.out.line(`${name}=${value}`)
  },
})
