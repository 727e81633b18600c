/** Not among the commands: only scripts that `cairn completion` prints call it. */
export const completeWord = 'complete'
