// Opens the storage, says so, and holds it until it is killed. Argument: data directory.
import { openStorage } from '../../src/storage/open.ts'
import { acknowledge } from './acknowledge.ts'

const storage = await openStorage({ data: process.argv[2] ?? '' })
acknowledge('open')
process.stdin.resume()
process.stdin.on('end', () => void storage.close())
