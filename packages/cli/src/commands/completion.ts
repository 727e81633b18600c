import { defineCommand, type Command } from '../arguments/command.ts'
import { loadCommands } from '../commands.ts'
import { usageError } from '../errors.ts'
import { renderBash } from '../help/completion/bash.ts'
import { renderFish } from '../help/completion/fish.ts'
import { renderZsh } from '../help/completion/zsh.ts'

const shells = { bash: renderBash, zsh: renderZsh, fish: renderFish }

export const command: Command = defineCommand({
  summary: 'Print a script that completes cairn in a shell',
  description:
    'Commands and options are in the script. For workspaces, layers, contexts and remote paths it asks\n' +
    'cairn, which asks the server and gives up after 1.5 s.',
  arguments: { shell: { summary: 'bash, zsh or fish' } },
  options: {},
  examples: [
    { command: 'source <(cairn completion bash)', does: 'for this shell; zsh alike' },
    { command: 'cairn completion fish | source', does: 'for fish' },
  ],
  async run({ args: { shell }, cli }) {
    if (!Object.hasOwn(shells, shell)) {
      const hint = `Give one of ${Object.keys(shells).join(', ')}.`
      throw usageError(`complete in ${shell}`, 'that shell is not known', hint)
    }
    const script = shells[shell as keyof typeof shells](await loadCommands())
    if (cli.isJson) await cli.out.json({ shell, script })
    else await cli.out.raw(script)
  },
})
