import type { Ino } from '@cairn/protocol'
import type { Credentials } from '../access.ts'
import type { Time } from '../../ports/records.ts'
import type { View } from '../view.ts'

/**
 * One call by one user at one time. A call checks permissions in the order that Linux does, and
 * returns the operation to apply; the rules then decide whether it can be done.
 */
export interface Call {
  readonly view: View
  readonly who: Credentials
  readonly now: Time
  /** A number never used before. Asked only when a file is really made. */
  readonly newIno: () => Ino
}
