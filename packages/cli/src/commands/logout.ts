import { type Command, defineCommand } from '../arguments/command.ts'
import { forgetLogin } from '../context/login.ts'

export const command: Command = defineCommand({
  summary: 'Forget what login has saved',
  description: 'The key stays valid: see cairn token revoke. Contexts and mounts stay as they are.',
  arguments: {},
  options: {},
  examples: [{ command: 'cairn logout', does: 'removes ~/.cairn/credentials.json' }],
  async run({ cli }) {
    const wasLoggedIn = await forgetLogin(cli)
    if (cli.isJson) await cli.out.json({ wasLoggedIn })
    else await cli.out.line(wasLoggedIn ? 'logged out' : 'you were not logged in')
  },
})
