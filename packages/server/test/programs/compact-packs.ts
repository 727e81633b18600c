// Rewrites sparse packs, and says so once it has. Argument: data directory.
import { openStorage } from '../../src/storage/open.ts'
import { acknowledgeOutcome } from './acknowledge.ts'

const [data = ''] = process.argv.slice(2)
const storage = await openStorage({ data })
await acknowledgeOutcome(1, storage.compactor.compact('pool'))
await storage.close()
