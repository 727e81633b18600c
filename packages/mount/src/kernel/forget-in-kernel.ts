import type { KernelNodes } from './nodes.ts'
import type { Image } from '../image/image.ts'
import type { Caches } from './caches.ts'

/** Everything is looked at anew: names, names that were not there, attributes and bytes. */
export function forgetInKernel(image: Image, nodes: KernelNodes, caches: Caches): void {
  for (const parent of image.toldDirectories())
    for (const { name } of image.toldNames(parent)) caches.entry(parent, name)
  nodes.forgetAll(caches)
}
