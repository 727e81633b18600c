export const isCode = (path: string): boolean => /\.(?:[cm]?[jt]s|tsx|c|h|css)$/.test(path)

/** Files that users get, as opposed to tests and their helpers. */
export const isShipped = (path: string): boolean =>
  isCode(path) && /^packages\/[^/]+\/src\//.test(path) && !/\.test(?:-d)?\.tsx?$/.test(path)

/** `core` for `packages/core/src/workspace.ts`; undefined for what is outside of the packages. */
export const packageOf = (path: string): string | undefined =>
  /^packages\/([^/]+)\//.exec(path)?.[1]
