/** Whose files appear as whose: what belongs to root in the workspace is this user's in the mount, and back. */
export interface Owners {
  readonly uid: (uid: number) => number
  readonly gid: (gid: number) => number
}

/** Undefined leaves them as they are. */
export function swapOwners(uid: number | undefined, gid: number | undefined): Owners {
  return { uid: swap(uid), gid: swap(gid) }
}

/** Its own inverse, so no owner is lost: the user who had that id appears as root. */
function swap(own: number | undefined): (id: number) => number {
  if (own === undefined || own === 0) return (id) => id
  return (id) => (id === 0 ? own : id === own ? 0 : id)
}
