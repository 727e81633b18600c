import { benchCore } from './core.ts'
import { benchLayers } from './layers.ts'
import { benchMount } from './mount.ts'
import { benchSandbox } from './sandbox.ts'
import { benchServer } from './server.ts'

const benches: Readonly<Record<string, () => Promise<void>>> = {
  core: benchCore,
  server: benchServer,
  mount: benchMount,
  layers: benchLayers,
  sandbox: benchSandbox,
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
