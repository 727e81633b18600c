const filesMax = 5
const unreadable =
  /\.(?:png|jpe?g|gif|webp|ico|pdf|zip|gz|xz|woff2?|ttf|mp[34]|so|node|wasm|lock)$|lock\.json$/i
/** What tells most about a repository, best first; the rest is taken by depth. */
const telling = [/(?:^|\/)readme[^/]*$/i, /(?:package\.json|pyproject\.toml|cargo\.toml|go\.mod)$/i]
const code = /\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|rb|c|h|cc|cpp|cs|swift|php|sh)$/i

/** The few files that a reader would open first. */
export function pickFiles(paths: readonly string[]): string[] {
  const rank = (path: string): number => {
    const found = telling.findIndex((pattern) => pattern.test(path))
    if (found >= 0 && depth(path) === 0) return found
    return telling.length + (code.test(path) ? 0 : 100) + depth(path)
  }
  return paths
    .filter((path) => !unreadable.test(path))
    .toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .slice(0, filesMax)
}

/** Below the repository's own directory. */
function depth(path: string): number {
  return path.split('/').length - 2
}
