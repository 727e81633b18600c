/** `?list` and `?list=true` mean yes. */
export function isOn(flag: string | undefined): boolean {
  return flag === '' || flag === 'true'
}
