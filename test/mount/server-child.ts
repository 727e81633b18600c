import { serve, type ServeOptions } from '@cairn/server'

/** A server that is less patient than others: `server-child.ts DATA HOST:PORT OPTIONS`. Tells its address as `cairn serve --json` does. */
const [data, listen, options] = process.argv.slice(2)
const given = JSON.parse(options!) as Partial<ServeOptions>
const { url, close } = await serve({ data: data!, listen: listen!, ...given })
process.on('SIGTERM', () => void close())
console.log(JSON.stringify({ url }))
