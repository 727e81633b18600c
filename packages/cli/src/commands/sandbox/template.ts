import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Command, defineCommand } from '../../arguments/command.ts'
import type { Cli } from '../../cli.ts'
import { cliError, usageError } from '../../errors.ts'

export const command: Command = defineCommand({
  summary: 'Print a template for machines that mount workspaces',
  description:
    'A machine with Debian, FUSE, Node and cairn. The template expects cairn as one file beside it; --out\n' +
    'puts it there.',
  arguments: {},
  options: {
    docker: { kind: 'flag', summary: 'Print a Dockerfile' },
    e2b: { kind: 'flag', summary: 'Print a program that builds a template at E2B' },
    name: {
      kind: 'text',
      value: 'NAME',
      summary: 'Name of the template (default: cairn)',
    },
    out: {
      kind: 'text',
      value: 'DIR',
      summary: 'Write the template and cairn into this directory instead of printing it',
    },
  },
  examples: [
    { command: 'cairn sandbox template --docker --out image', does: 'then docker build image' },
    { command: 'cairn sandbox template --e2b --out image', does: 'then node image/template.mjs' },
  ],
  async run({ options: { docker, e2b, name, out }, cli }) {
    if (docker === e2b)
      throw usageError('print a template', 'want one kind', 'Give --docker or --e2b.')
    const { dockerfile, e2bProgram } = await import('@cairn/sandbox')
    const [file, text] = docker
      ? ['Dockerfile', dockerfile()]
      : ['template.mjs', e2bProgram(name ?? 'cairn')]
    if (out !== undefined) await save(cli, out, file, text)
    if (cli.isJson) await cli.out.json({ file: out === undefined ? file : join(out, file), text })
    else if (out === undefined) await cli.out.raw(text)
    else await cli.out.line(`${join(out, file)} and cairn are written`)
  },
})

async function save(cli: Cli, directory: string, file: string, text: string): Promise<void> {
  const { findSingleFile } = await import('@cairn/sandbox')
  const single = await findSingleFile(cli.env).catch((error: unknown) => {
    const hint = 'Make it with: npm run build; or set CAIRN_SINGLE_FILE to one.'
    const reason = 'cairn as one file is missing'
    throw cliError('sandbox_failed', 'write the template', reason, hint, error)
  })
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, file), text)
  await copyFile(single, join(directory, 'cairn'))
  await chmod(join(directory, 'cairn'), 0o755)
}
