import { type Command, defineCommand } from '../../arguments/command.ts'
import { usageError } from '../../errors.ts'
import { loadSandboxes } from '../../sandbox/open.ts'

export const command: Command = defineCommand({
  summary: 'Print how to make a machine in which workspaces can be mounted',
  description:
    'From one list: Debian, FUSE, Node and cairn. Both expect cairn as one file beside them, which npm run build makes.',
  arguments: {},
  options: {
    docker: { kind: 'flag', summary: 'A Dockerfile' },
    e2b: { kind: 'flag', summary: 'A program that builds a template at E2B' },
    name: {
      kind: 'text',
      value: 'NAME',
      summary: 'What the template is called; cairn unless given',
    },
  },
  examples: [
    { command: 'cairn sandbox template --docker > Dockerfile', does: 'then docker build' },
    { command: 'cairn sandbox template --e2b > template.mjs', does: 'then node template.mjs' },
  ],
  async run({ options, cli }) {
    if (options.docker === options.e2b)
      throw usageError('print a template', 'want one kind', 'Give --docker or --e2b.')
    const { dockerfile, e2bProgram } = await loadSandboxes()
    const text = options.docker ? dockerfile() : e2bProgram(options.name ?? 'cairn')
    if (cli.isJson) await cli.out.json({ kind: options.docker ? 'docker' : 'e2b', text })
    else await cli.out.raw(text)
  },
})
