import { type Command, defineCommand } from '../arguments/command.ts'
import { forgetLogin } from '../context/login.ts'

export const command: Command = defineCommand({
  summary: 'Remove what cairn login saved',
  description:
    'The key stays valid; to end a token, run: cairn token revoke. Contexts and mounts do not change.',
  arguments: {},
  options: {},
  examples: [{ command: 'cairn logout', does: 'removes ~/.cairn/credentials.json' }],
  async run({ cli }) {
    const wasLoggedIn = await forgetLogin(cli)
    if (cli.isJson) await cli.out.json({ wasLoggedIn })
    else await cli.out.line(wasLoggedIn ? 'logged out' : 'you were not logged in')
  },
})
