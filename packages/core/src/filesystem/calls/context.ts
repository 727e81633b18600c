import type { Ino } from '@cairn/protocol'
import type { Credentials } from '../access.ts'
import type { Time } from '../../ports/records.ts'
import type { View } from '../view.ts'

/**
 * One call by somebody, now. A call checks who may, in the order in which Linux asks, and gives the operation
 * to apply; the rules then say whether it can be done.
 */
export interface Call {
  readonly view: View
  readonly who: Credentials
  readonly now: Time
  /** A number never used before. Asked only when a file is really made. */
  readonly newIno: () => Ino
}
