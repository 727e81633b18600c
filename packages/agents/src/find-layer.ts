import { isCairnError, type LayerInfo, type Workspace } from '@cairn/sdk'

/** Undefined: there is none of that name. */
export async function findLayer(
  layers: Workspace['layers'],
  name: string,
): Promise<LayerInfo | undefined> {
  try {
    return await layers.status(name)
  } catch (error) {
    if (isCairnError(error) && error.code === 'branch_missing') return undefined
    throw error
  }
}
