import { extname } from 'node:path'

const imageTypes: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
}

/** Knows the images that models can look at. */
export function imageTypeOf(path: string): string | undefined {
  return imageTypes[extname(path).toLowerCase()]
}
