/** What `mergeValue` gives when each side made something else of a value. */
export const disagree: unique symbol = Symbol('disagree')

/** The rule that all merging comes down to. A value without a base was made by both sides. */
export function mergeValue<T>(
  base: T | undefined,
  layer: T,
  target: T,
  same: (a: T, b: T) => boolean = Object.is,
): T | typeof disagree {
  if (same(layer, target) || (base !== undefined && same(layer, base))) return target
  return base !== undefined && same(target, base) ? layer : disagree
}
