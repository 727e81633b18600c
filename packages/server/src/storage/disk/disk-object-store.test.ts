import { describe } from 'vitest'
import { runCases } from '@cairn/core/testing'
import { objectStoreCases } from '../../conformance/object-store.ts'
import { makeTemporaryDirectory, removeDirectory } from '../../conformance/temporary-directory.ts'
import { DiskObjectStore } from './disk-object-store.ts'

describe('disk object store', () => {
  runCases(objectStoreCases, async () => {
    const directory = await makeTemporaryDirectory()
    const store = await DiskObjectStore.open(directory)
    return { store, dispose: () => removeDirectory(directory) }
  })
})
