export { may, type TokenRules } from './access-oracle.ts'
export { MemoryDisk } from './memory-disk.ts'
export { paxOf, tarOf } from './tar.ts'
export { MemoryDirectory } from './memory-directory.ts'
export { MemoryLayerStore } from './memory-layer-store.ts'
export { MemoryLeaseStore } from './memory-lease-store.ts'
export { MemoryLockStore } from './memory-lock-store.ts'
export { type Answer, type MemoryServer, memoryServers } from './memory-servers.ts'
export { MemoryTraceStore } from './memory-trace-store.ts'
export { MemorySessionNoteStore } from './memory-session-note-store.ts'
export { MemoryTokenStore } from './memory-token-store.ts'
export { MemoryUploadStore } from './memory-upload-store.ts'
export { appendFile, commit, createLayer, findLayer, rebase, rollBack } from './requests.ts'
export { CephServer, whyNoCeph } from './servers/ceph.ts'
export { type Fault, FaultProxy } from './servers/fault-proxy.ts'
export { FragileDisk, whyNoFragileDisk } from './servers/fragile-disk.ts'
export { MariadbServer, whyNoMariadb } from './servers/mariadb.ts'
export { type MysqlServer, startMysql, whyNoMysql } from './servers/mysql.ts'
export {
  createBucket,
  type S3Config,
  type S3Server,
  s3UrlOf,
  type SharedCeph,
  startCeph,
  startS3,
  whyNoS3,
} from './servers/s3.ts'
export { askShared } from './servers/shared.ts'
export { whyNoSmallDisk, withSmallDisk } from './servers/small-disk.ts'
export { makeTemporaryDirectory, removeDirectory } from '../conformance/temporary-directory.ts'
export { waitUntil } from './wait-until.ts'
