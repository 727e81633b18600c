import { accessOperations, shellQuote } from '@cairn/protocol'
import { z } from 'zod'
import { answerCharsMax } from '../text/bounds.ts'
import { ToolError } from '../tool-error.ts'
import { defineTool, type Tool } from '../tool.ts'

/** Half of an answer for each stream. */
const outputCharsMax = answerCharsMax / 2

export const bash: Tool = defineTool({
  name: 'bash',
  title: 'Run a command',
  description:
    'Runs a command with bash in the sandbox, in the directory where the workspace is mounted. Each call is a shell of its ' +
    'own. Of a long output you get the beginning and the end: write it to a file to read it in parts.',
  needs: accessOperations,
  needsShell: true,
  effect: 'removes',
  input: z.object({
    command: z
      .string()
      .min(1)
      .max(100_000)
      .regex(/^[^\0]*$/, 'it has a byte of 0'),
    timeout: z
      .number()
      .int()
      .min(1)
      .max(600_000)
      .default(120_000)
      .describe('Milliseconds; 10 minutes at most'),
  }),
  output: z.object({ exit_code: z.number(), stdout: z.string(), stderr: z.string() }),
  async run({ command, timeout }, { shell, toolCall }) {
    if (shell === undefined)
      throw new ToolError('run a command: there is no sandbox here', 'Use the tools for files.')
    const done = await shell.exec(lineOf(command, toolCall), { timeoutMs: timeout })
    const [stdout, stderr] = [cutMiddle(done.stdout), cutMiddle(done.stderr)]
    const status = done.code === 0 ? '' : `[exit code ${done.code}]`
    const text = [stdout, stderr, status].filter((part) => part !== '').join('\n')
    const data = { exit_code: done.code, stdout, stderr }
    return { text: text === '' ? 'The command succeeded without output.' : text, data }
  },
})

/**
 * The environment of the shell says which call it is: a mount reads it there. At the end all that it wrote is brought to
 * the server, where the other tools look.
 */
function lineOf(command: string, toolCall: string | undefined): string {
  const call = toolCall === undefined ? '' : `CAIRN_TOOL_CALL=${shellQuote(toolCall)} `
  return `${call}bash -c ${shellQuote(command)}; code=$?; sync .; exit $code`
}

/** The end of an output mostly says what went wrong, its beginning what was done. */
function cutMiddle(text: string): string {
  const more = text.length - outputCharsMax
  if (more <= 0) return text
  const half = outputCharsMax / 2
  return `${text.slice(0, half)}\n[${more} more characters. Write the output to a file and read that.]\n${text.slice(-half)}`
}
