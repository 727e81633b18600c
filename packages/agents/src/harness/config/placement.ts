import type { SandboxWorkspace } from '@cairn/sandbox'
import type { ProviderConfig } from './provider-config.ts'

export interface HarnessWorkspace extends Omit<SandboxWorkspace, 'mountPath' | 'path'> {
  /** The name of its directory below `workspaceRoot`, and of its reservation. Default: the workspace's name, with its layer. */
  readonly namespace?: string
}

/** Where a workspace is in the machine, and by which key the machine is found again. */
export interface HarnessPlace {
  readonly workspace: SandboxWorkspace & { readonly mountPath: string }
  readonly namespace: string
}

/** Throws for a namespace that is no name of a directory. */
export function placeWorkspace(
  { namespace: given, ...workspace }: HarnessWorkspace,
  { options }: ProviderConfig,
): HarnessPlace {
  const { name, layer } = workspace
  const namespace = given ?? (layer === undefined ? name : `${name}@${layer}`)
  if (!/^[A-Za-z0-9@_-][A-Za-z0-9@._-]{0,127}$/.test(namespace))
    throw new Error(
      `cannot mount workspace ${name} as '${namespace}': a namespace has letters, digits, '.', '_', '-' and '@'. ` +
        'Give another one.',
    )
  const root = options.workspaceRoot === '/' ? '' : options.workspaceRoot
  return { namespace, workspace: { ...workspace, mountPath: `${root}/${namespace}` } }
}

/** Throws where a sandbox that stays could not be found again. */
export function reservationKeyOf(
  { persistent, options }: ProviderConfig,
  placement: HarnessPlace | undefined,
): string | undefined {
  if (!persistent) return undefined
  const key = options.reservationKey ?? placement?.namespace
  if (key !== undefined) return key
  throw new Error(
    'cannot keep a persistent sandbox: there is no key to find it by. Attach a workspace, or set options.reservationKey.',
  )
}
