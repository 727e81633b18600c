import { shellQuote } from '@cairn/protocol'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { cliError } from '../../errors.ts'
import { asking, openSandboxes, sandboxOptions } from '../../sandbox/open.ts'

export const command: Command = defineCommand({
  summary: 'Run a command in a sandbox',
  description: 'One word is a line for its shell; several are a program and its arguments.',
  arguments: {
    id: { summary: 'The sandbox' },
    command: { summary: 'What to run; after -- if it has options', many: true },
  },
  options: {
    ...sandboxOptions,
    user: { kind: 'text', value: 'NAME', summary: 'As this user; user unless given' },
    cwd: { kind: 'text', value: 'DIR', summary: 'Where to start; the home unless given' },
  },
  examples: [
    { command: 'cairn sandbox exec i3f9k2m1q8 -- ls -l /tmp', does: 'a program' },
    { command: "cairn sandbox exec i3f9k2m1q8 'cd repo && npm test'", does: 'a line of shell' },
  ],
  async run({ args: { id, command: words }, options, cli }) {
    const { Sandbox } = await openSandboxes(cli, options.data)
    const what = `run it in the sandbox ${id}`
    const sandbox = await asking(what, () => Sandbox.connect(id))
    const line = words.length === 1 ? words[0]! : words.map(shellQuote).join(' ')
    const { user, cwd } = options
    const run = await asking(what, () =>
      sandbox.commands.run(line, {
        background: true,
        timeoutMs: 0,
        onStdout: (text) => cli.out.raw(text),
        onStderr: (text) => cli.err.raw(text),
        ...(user && { user }),
        ...(cwd && { cwd }),
      }),
    )
    cli.signal.addEventListener('abort', () => void run.kill().catch(() => false))
    // A command that failed is an error of the SDK, too; without an exit code something else went wrong.
    const ended = await run.wait().catch((error: unknown) => {
      if (typeof (error as { exitCode?: unknown }).exitCode === 'number')
        return error as { exitCode: number }
      return asking(what, () => Promise.reject(error))
    })
    if (ended.exitCode !== 0)
      throw cliError('sandbox_failed', what, `it ended with ${ended.exitCode}`, 'See above.')
  },
})
