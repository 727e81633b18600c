import { accessErrors } from './error-rows-access.ts'
import { clientErrors } from './error-rows-client.ts'
import { layerErrors } from './error-rows-layers.ts'
import { requestErrors } from './error-rows-requests.ts'
import { storageErrors } from './error-rows-storage.ts'

type Rows = typeof accessErrors &
  typeof requestErrors &
  typeof storageErrors &
  typeof layerErrors &
  typeof clientErrors

/** Every failure Cairn can report. docs/reference/errors.md lists the same codes; a test compares them. */
export const errorTable: Rows = {
  ...accessErrors,
  ...requestErrors,
  ...storageErrors,
  ...layerErrors,
  ...clientErrors,
}

export type ErrorCode = keyof typeof errorTable
