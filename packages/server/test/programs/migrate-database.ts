// Brings the schema of a database up to date. Says that it is ready, waits for its input to end so that several can
// start together, and says when it is done. Argument: URL.
import { once } from 'node:events'
import { migrate } from '../../src/storage/migrate.ts'
import { parseMysqlUrl } from '../../src/storage/mysql/config.ts'
import { MysqlDatabase } from '../../src/storage/mysql/mysql-database.ts'
import { acknowledge } from './acknowledge.ts'

const database = await MysqlDatabase.open(parseMysqlUrl(process.argv[2] ?? ''))
acknowledge('ready')
process.stdin.resume()
await once(process.stdin, 'end')
await migrate(database)
acknowledge('done')
await database.close()
