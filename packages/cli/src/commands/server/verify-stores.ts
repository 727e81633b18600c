import { type Command, defineCommand } from '../../arguments/command.ts'
import { cliError } from '../../errors.ts'
import { StatusLine } from '../../output/status-line.ts'
import { placesOf, storeOptions } from '../../server-stores.ts'
import { renderVerification } from './render-verification.ts'

export const command: Command = defineCommand({
  summary: 'Check that a database and a bucket are safe to use as stores',
  description:
    'Takes the options of `cairn serve` and runs the tests that every store must pass, in a schema and a\n' +
    'folder of the bucket that it creates and deletes. Existing data is not touched, and servers can run\n' +
    'meanwhile. It reports settings that lose data, clock differences, latency and throughput. It exits with\n' +
    '1 if something is wrong.',
  arguments: {},
  options: storeOptions,
  examples: [
    {
      command:
        "cairn server verify-stores --meta mysql://cairn:secret@db/cairn --objects 's3://bucket?endpoint=https://s3.example.com'",
      does: 'before the first start',
    },
    { command: 'cairn server verify-stores --data /srv/cairn', does: 'SQLite and files on a disk' },
    {
      command: 'cairn server verify-stores --meta mysql://cairn:secret@db/cairn --json',
      does: 'the report as one JSON value',
    },
  ],
  async run({ options, cli }) {
    const { verifyStores } = await import('@cairn/server/verify')
    const progress = new StatusLine(cli)
    const scratch: string[] = []
    cli.onHurry(async () => {
      await progress.clear()
      for (const removal of scratch) await cli.err.line(`left behind, remove it with: ${removal}`)
    })
    const report = await verifyStores({
      ...placesOf(cli, options),
      signal: cli.signal,
      onProgress: ({ done, total, what }) => progress.show(`${done} of ${total}  ${what}`),
      onScratch: (removal) => scratch.push(removal),
    })
    await progress.clear()
    if (cli.isJson) await cli.out.json(report)
    else for (const line of renderVerification(report)) await cli.out.line(line)
    if (report.isFit) return
    const failed = [
      ...report.checks.filter(({ state }) => state === 'fail'),
      ...report.suites.filter(({ failures }) => failures.length > 0),
    ]
    const names = failed.map(({ store, name }) => `${name} (${store})`).join(', ')
    const hint = 'Fix what is marked `fail`, then run this command again.'
    throw cliError('check_failed', 'rely on these stores', `these failed: ${names}`, hint)
  },
})
