/** `npm run example:two-sandboxes`: two sandboxes at once on one workspace; what one closes, the other reads. */
import { type Example, startExample } from '../support/run-example.ts'

const written = 'written in sandbox A'

const twoSandboxes: Example = {
  title: 'Cairn: two sandboxes at once on one workspace',
  usage: 'npm run example:two-sandboxes -- [options]\n',
  tell: async ({ startSandbox }, steps) => {
    const [a, b] = await steps.run(
      'sandboxes',
      () => Promise.all([startSandbox(), startSandbox()]),
      () => 'A and B run, both with the workspace mounted',
    )
    await steps.run(
      'A writes',
      () => a.exec(`mkdir -p notes && echo '${written}' > notes/hello.txt`),
      () => 'notes/hello.txt',
    )
    const { stdout: read } = await steps.run(
      'B reads',
      () => b.exec('cat notes/hello.txt'),
      ({ stdout, stderr }) => stdout.trim() || stderr.trim(),
    )
    const tries = await steps.run(
      'both lock',
      () => Promise.all([a, b].map((sandbox) => sandbox.exec('set -C; echo mine > LOCK'))),
      (results) => `of two that make LOCK at once, ${results.filter(won).length} succeeded`,
    )
    await Promise.all([a.dispose(), b.dispose()])
    return read === `${written}\n` && tries.filter(won).length === 1
  },
}

function won({ code }: { readonly code: number }): boolean {
  return code === 0
}

await startExample(twoSandboxes)
