import { closeSync, openSync, writeSync } from 'node:fs'

/** Where Linux lets root say how long a wake-up may take, for as long as the file is open: /dev/cpu_dma_latency. */
const latencyDevice = '/dev/cpu_dma_latency'
const noLatency = new Int32Array([0])
const tickMs = 10
/** A program that waits for one answer after the other, and for little else. */
const busyRequests = 30
const calmTicks = 10

/**
 * Keeps idle CPUs awake while a program asks one thing after the other. Kernel and daemon hand each request from one
 * CPU to another; a virtual CPU that was halted in between takes 30 µs to come back, several times what an answer
 * takes (`tar x` 4.2 s, and 1.6 s with this). Only in a burst, because an idle CPU that stays awake is not free; only
 * where we may.
 */
export class Wakefulness {
  readonly #device: string
  #requests = 0
  #calm = 0
  #timer: NodeJS.Timeout | undefined
  #held: number | undefined
  #mayHold = true

  constructor(device: string = latencyDevice) {
    this.#device = device
  }

  /** So many requests were answered. */
  note(requests: number): void {
    this.#requests += requests
    if (this.#mayHold) this.#timer ??= setInterval(() => this.#tick(), tickMs).unref()
  }

  end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#release()
  }

  #tick(): void {
    const isBusy = this.#requests >= busyRequests
    this.#requests = 0
    this.#calm = isBusy ? 0 : this.#calm + 1
    if (isBusy) this.#hold()
    else if (this.#calm >= calmTicks) this.end()
  }

  #hold(): void {
    if (this.#held !== undefined) return
    try {
      this.#held = openSync(this.#device, 'r+')
      writeSync(this.#held, noLatency)
    } catch {
      this.#mayHold = false
      this.end()
    }
  }

  #release(): void {
    if (this.#held !== undefined) closeSync(this.#held)
    this.#held = undefined
  }
}
