// An ordinary user with a jail: runs what it is told there and prints what came of it, one line each.
import { text } from 'node:stream/consumers'
import { createJail } from '@cairn/sandbox'

const directory = process.argv[2]!
const limited = await createJail({ directory, limits: { memoryBytes: 1 << 28 } }).catch(String)
const jail = await createJail({ directory })
const say = async (script: string): Promise<string> => {
  const program = await jail.start({ args: ['/bin/bash', '-c', script] })
  return (await text(program.stdout)).trim()
}
try {
  const answers: Record<string, unknown> = {
    limited,
    who: await say('id -u; sudo id -u; pwd'),
    processes: await say('ls /proc | grep -c "^[0-9]"'),
    data: await say(`ls -A /root /opt; ls -d ${directory}`),
    owner: await say('touch /usr/local/mine && stat -c %u /usr/local/mine'),
  }
  const sleeper = await jail.start({ args: ['sleep', '1000'] })
  await jail.freeze()
  await jail.thaw()
  sleeper.signal('SIGTERM')
  answers['ended'] = await sleeper.exit
  await say('echo kept > ~/kept')
  await jail.snapshot(`${directory}/snapshot`)
  const second = await createJail({ directory, base: { snapshot: `${directory}/snapshot` } })
  const kept = await second.start({ args: ['cat', 'kept'] })
  answers['kept'] = await text(kept.stdout)
  await second.kill()
  console.log(JSON.stringify(answers))
} finally {
  await jail.kill()
}
