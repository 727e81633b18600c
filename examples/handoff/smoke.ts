/** `npm run example:smoke`: a mount, and bytes there and back. No language model, no repository. */
import { randomBytes } from 'node:crypto'
import { type Example, startExample } from '../support/run-example.ts'

const smoke: Example = {
  title: 'Cairn: mount, write in a sandbox, read outside, and the other way round',
  usage: 'npm run example:smoke -- [options]\n',
  tell: async ({ workspace, startSandbox }, steps) => {
    const sandbox = await steps.run(
      'sandbox',
      () => startSandbox(),
      ({ workDir }) => `the workspace at ${workDir}`,
    )
    const [out, back] = [randomBytes(64).toString('hex'), randomBytes(64).toString('hex')]
    const isOut = await steps.run(
      'out',
      async () => {
        await sandbox.fs.write('out.txt', out)
        await sandbox.exec('sync .')
        return (await workspace.files.readText('/out.txt')) === out
      },
      (isSame) => `written inside, ${isSame ? 'the same' : 'NOT THE SAME'} at the server`,
    )
    const isBack = await steps.run(
      'back',
      async () => {
        await workspace.files.write('/back.txt', back)
        return (await sandbox.fs.read('back.txt')) === back
      },
      (isSame) => `written at the server, ${isSame ? 'the same' : 'NOT THE SAME'} inside`,
    )
    return isOut && isBack
  },
}

await startExample(smoke)
