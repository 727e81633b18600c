import { describe } from 'vitest'
import { runObjectStoreTests } from '../../testing/object-store-tests.ts'
import { makeTemporaryDirectory, removeDirectory } from '../../testing/temporary-directory.ts'
import { DiskObjectStore } from './disk-object-store.ts'

describe('disk object store', () => {
  runObjectStoreTests(async () => {
    const directory = await makeTemporaryDirectory()
    const store = await DiskObjectStore.open(directory)
    return { store, dispose: () => removeDirectory(directory) }
  })
})
