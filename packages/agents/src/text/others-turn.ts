/**
 * Lets other work of this program go on. The tools run in the server, too, beside requests of other clients. Anywhere a
 * timer is what there is.
 */
export function othersTurn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve)
  })
}
