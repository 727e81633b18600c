import { shellQuote } from '@cairn/protocol'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { cliError } from '../../errors.ts'
import { asking, openSandboxes, sandboxOptions } from '../../sandbox/open.ts'

export const command: Command = defineCommand({
  summary: 'Run a command in a sandbox',
  description:
    'A single word is a shell command line; several words are a program and its arguments.',
  arguments: {
    id: { summary: 'The sandbox' },
    command: { summary: 'The command, after -- if it has options', many: true },
  },
  options: {
    ...sandboxOptions,
    user: { kind: 'text', value: 'NAME', summary: 'Run as this user (default: user)' },
    cwd: { kind: 'text', value: 'DIR', summary: 'Working directory (default: the home directory)' },
  },
  examples: [
    { command: 'cairn sandbox exec i3f9k2m1q8 -- ls -l /tmp', does: 'a program' },
    {
      command: "cairn sandbox exec i3f9k2m1q8 'cd repo && npm test'",
      does: 'a shell command line',
    },
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
