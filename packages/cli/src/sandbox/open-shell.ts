import type { Sandbox } from '@cairn/sandbox'
import { usageError } from '../errors.ts'

interface Mounted {
  readonly name: string | undefined
  readonly layer: string | undefined
  readonly server: string
  readonly token: string
}

/** A sandbox with the workspace in it. It is made for its first command. */
export async function openShell(
  kind: 'local' | 'e2b' | undefined,
  { name, layer, ...where }: Mounted,
): Promise<Sandbox | undefined> {
  if (kind === undefined) return undefined
  if (name === undefined)
    throw usageError('offer commands', 'no workspace is named', 'Give -w NAME.')
  const { LocalSandbox, E2BSandbox } = await import('@cairn/sandbox')
  const workspace = {
    name,
    ...where,
    ...(layer === undefined || layer === 'main' ? {} : { layer }),
  }
  return kind === 'local' ? new LocalSandbox({ workspace }) : new E2BSandbox({ workspace })
}
