import type { Workspace } from '@cairn/sdk'
import { ToolError } from './tool-error.ts'
import type { ToolSite } from './tool.ts'

export interface PointArguments {
  readonly workspace?: string | undefined
  readonly layer?: string | undefined
  readonly at?: string | undefined
}

/** What a call names, or what its site has for calls that name nothing. */
export function openPlace(site: ToolSite, { workspace, layer, at }: PointArguments): Workspace {
  const name = workspace ?? site.workspace
  if (name === undefined)
    throw new ToolError(
      'open the workspace: none is named, and there is no default',
      'Give its name as "workspace".',
    )
  return site.cairn.workspace(name, { layer: layerOf(site, { layer }), at })
}

/** Undefined for `main`, or for the only layer that a token has. */
export function layerOf(site: ToolSite, { layer }: PointArguments): string | undefined {
  const named = layer ?? site.layer
  return named === 'main' ? undefined : named
}

/** As people and models write it: `src/a.ts` and `/src/a.ts` are one path. */
export function absolute(path: string): string {
  return `/${path.replace(/^(?:\.?\/)+/, '')}`
}
