import { describe, expect, it } from 'vitest'
import { InFlight } from './in-flight.ts'

describe('work in flight', () => {
  it('goes on beside its caller up to its number, and is waited for at the end', async () => {
    const flights = new InFlight(2)
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await flights.add(first.promise)
    let hasRoom = false
    const adding = flights.add(second.promise).then(() => (hasRoom = true))
    await turn()
    expect(hasRoom).toBe(false)
    first.resolve()
    await adding
    let isDrained = false
    const draining = flights.drain().then(() => (isDrained = true))
    await turn()
    expect(isDrained).toBe(false)
    second.resolve()
    await draining
  })

  it('a failure without a waiter rejects the next caller, and every one after it', async () => {
    const flights = new InFlight(8)
    await flights.add(Promise.reject(new Error('no room')))
    await turn()
    await expect(flights.add(Promise.resolve())).rejects.toThrow('no room')
    await expect(flights.drain()).rejects.toThrow('no room')
  })
})

function turn(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve))
}
