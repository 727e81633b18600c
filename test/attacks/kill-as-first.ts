// Run as the first process of a pid namespace, which reaps nothing but its own children.
import { createJail } from '@cairn/sandbox'

const [directory = ''] = process.argv.slice(2)
const jail = await createJail({ directory })
for (let count = 0; count < 3; count++) {
  const busy = await jail.start({ args: ['sh', '-c', 'sleep 999 & while :; do :; done'] })
  busy.stdout.resume()
  busy.stderr.resume()
}
await jail.kill()
console.log(`killed by process ${process.pid}`)
