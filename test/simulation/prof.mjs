import { simulate } from './simulate.ts'
const from = Number(process.argv[2]),
  to = Number(process.argv[3])
const counts = new Map()
let events = 0
const t = Date.now()
for (let seed = from; seed <= to; seed++) {
  const story = await simulate(seed, process.argv[4] === 'trace')
  events += story.events
  if (story.faults.length) console.log(seed, story.faults.slice(0, 3))
  for (const line of story.trace) {
    for (const [k, re] of Object.entries({
      committed: /answer.*|root$/,
      rescueRows: /log .*rescue-/,
      epochs: / epoch$/,
      passed: /passed_over/,
      stale: /code=stale/,
      goodbye: /goodbye/,
      recall: /< recall/,
      released: /> released/,
      oneoffs: /one-off #\d+: written/,
      seal: /epoch \d+ #0$/,
      commits: / root$/,
      state: / state$/,
      rescuedAck: /rescued/,
    }))
      if (re.test(line)) counts.set(k, (counts.get(k) ?? 0) + 1)
  }
}
console.log('ms', Date.now() - t, 'events', events, Object.fromEntries(counts))
