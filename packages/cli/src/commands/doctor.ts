import { type Command, defineCommand } from '../arguments/command.ts'
import { connectionOptions } from '../context/credentials.ts'
import { checkMachine } from '../doctor/machine.ts'
import { checkServer } from '../doctor/server.ts'
import { cliError } from '../errors.ts'
import type { Check } from '../doctor/check.ts'
import { summarise } from '../doctor/summary.ts'
import type { Colour } from '../output/colour.ts'
import { formatTable } from '../output/table.ts'

export const command: Command = defineCommand({
  summary: 'Check what works on this machine, what does not, and what fixes it',
  description:
    'Each line is ok, warn or fail, with the command that fixes the problem. The command mounts a directory\n' +
    'of its own for a moment to see what the kernel can do. It exits with 1 if a check fails.',
  arguments: {},
  options: connectionOptions,
  examples: [
    { command: 'cairn doctor', does: 'why can I not mount?' },
    { command: 'cairn doctor --json', does: 'one JSON value for each check' },
  ],
  async run({ options, cli }) {
    const checks = [...(await checkMachine(cli)), ...(await checkServer(cli, options))]
    if (cli.isJson) for (const check of checks) await cli.out.json(check)
    else {
      const rows = checks.map(({ state, name, says, fix }) => [
        state,
        name,
        fix === undefined ? says : `${says}. Fix: ${fix}`,
      ])
      // A command must stay whole, however narrow the terminal is.
      for (const [at, line] of formatTable(rows).entries()) {
        const { state } = checks[at]!
        await cli.out.line(cli.out.paint(state, colours[state]) + line.slice(state.length))
      }
      for (const line of summarise(checks)) await cli.out.line(line)
    }
    const failed = checks.filter(({ state }) => state === 'fail')
    if (failed.length === 0) return
    const names = failed.map(({ name }) => name).join(', ')
    throw cliError(
      'check_failed',
      'rely on this machine',
      `these failed: ${names}`,
      'Run the commands above, then cairn doctor again.',
    )
  },
})

const colours: Readonly<Record<Check['state'], Colour>> = {
  ok: 'green',
  warn: 'yellow',
  fail: 'red',
}
