// Tests resolve packages to their sources, by a condition that eventsource and eventsource-parser have as well. Node runs no
// TypeScript below node_modules, so these two come as they were published.
import { registerHooks } from 'node:module'

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    const [, place, name] =
      /^(.*\/node_modules\/eventsource(?:-parser)?)\/src\/(.*)\.ts$/.exec(found.url) ?? []
    return place === undefined
      ? found
      : { ...found, url: `${place}/dist/${name}.js`, format: 'module' }
  },
})
