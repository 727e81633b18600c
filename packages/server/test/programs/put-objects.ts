// Puts objects on disk, saying each number once it is durable. Arguments: directory, first number, last number;
// without the last one it goes on until it is killed.
import { DiskObjectStore } from '../../src/storage/disk/disk-object-store.ts'
import { acknowledgeOutcome } from './acknowledge.ts'

const [directory = '', first = '', last = 'Infinity'] = process.argv.slice(2)
const store = await DiskObjectStore.open(directory)
for (let i = Number(first); i <= Number(last); i++) {
  // Two in a directory, so that some puts make one and others do not.
  await acknowledgeOutcome(i, store.put(`objects/${i >> 1}/${i}`, new Uint8Array(5000).fill(i)))
}
