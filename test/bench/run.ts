import { Site } from '../mount/fixture.ts'
import { benchAgents } from './agents.ts'
import { benchCore } from './core.ts'
import { benchData } from './data.ts'
import { benchCrowd } from './crowd.ts'
import { benchFairness } from './fairness.ts'
import { benchGit } from './git.ts'
import { benchLayers } from './layers.ts'
import { benchMount } from './mount.ts'
import { benchPeers } from './peers.ts'
import { benchSandbox } from './sandbox.ts'
import { benchSearch } from './search.ts'
import { benchServer } from './server.ts'
import { benchSharing } from './sharing.ts'
import { benchStart } from './start.ts'

// Mounts are processes that no Ctrl-C reaches.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void Site.closeAll().finally(() => process.kill(process.pid, signal)))

const benches: Readonly<Record<string, () => Promise<void>>> = {
  core: benchCore,
  server: benchServer,
  mount: benchMount,
  git: benchGit,
  layers: benchLayers,
  sandbox: benchSandbox,
  data: benchData,
  fairness: benchFairness,
  sharing: benchSharing,
  crowd: benchCrowd,
  search: benchSearch,
  agents: benchAgents,
  start: benchStart,
  peers: benchPeers,
}

const asked = process.argv.slice(2)
const names = asked.length > 0 ? asked : Object.keys(benches)
for (const name of names) {
  const bench = benches[name]
  if (bench) await bench()
  else {
    console.error(`bench: there is no '${name}'. There are: ${Object.keys(benches).join(', ')}`)
    process.exitCode = 2
  }
}
