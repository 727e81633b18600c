import { it } from 'vitest'
import { simulate } from './simulate.ts'
import { writeFileSync } from 'node:fs'
it('tries', { timeout: 600_000 }, async () => {
  const from = Number(process.env['FROM'] ?? 1),
    to = Number(process.env['TO'] ?? 50)
  let bad = 0,
    events = 0
  const start = Date.now()
  const kinds = new Map<string, number[]>()
  for (let seed = from; seed <= to; seed++) {
    const story = await simulate(seed)
    events += story.events
    if (story.faults.length) {
      bad++
      const kind = story.faults[0]!.replaceAll(/\d+/g, 'N').slice(0, 100)
      kinds.set(kind, [...(kinds.get(kind) ?? []), seed])
    }
  }
  for (const [k, s] of [...kinds].sort((a, b) => b[1].length - a[1].length))
    console.log(s.length, k, s.slice(0, 6).join(','))
  console.log('bad', bad, 'of', to - from + 1, 'events', events, 'ms', Date.now() - start)
  if (process.env['SHOW']) {
    const a = await simulate(Number(process.env['SHOW']), true)
    const b = await simulate(Number(process.env['SHOW']), true)
    console.log('deterministic', a.trace.join('\n') === b.trace.join('\n'))
    writeFileSync('/tmp/trace-b.txt', b.trace.join('\n') + '\n')
    writeFileSync('/tmp/trace.txt', a.trace.join('\n') + '\n' + a.faults.join('\n') + '\n')
    console.log(a.faults.join('\n'))
  }
})
