// A clock that a test moves. It runs like the system's clock until it is advanced, frozen or scaled; timers of the server
// that are due at the new time run at once, in the order of their times.
import type { TimerClock } from '../base/clock.js'
import { UsageError } from '../base/usage-error.js'

export interface TestClock extends TimerClock {
  /** Moves the time forward, by milliseconds or a text such as `90s`, `15m`, `1h30m`, `2d`. */
  advance(by: number | string): void
  /** Moves the time to a later date. */
  moveTo(date: Date): void
  /** Stops the time; `advance` still moves it. */
  freeze(): void
  /** Lets the time run, `scale` times as fast as the system's clock. */
  run(scale?: number): void
  /** Another clock with the same time and speed, and without timers. */
  copy(): TestClock
}

interface Timer {
  readonly at: number
  readonly run: () => void
}

export function createTestClock(begin = Date.now(), speed = 1): TestClock {
  /** The time was `since` when the system's clock was `systemSince`; it passes at `scale` times the speed. */
  let since = begin
  let systemSince = performance.now()
  let scale = speed
  /** In the order of their times, and of their making. */
  const timers: Timer[] = []
  const moveListeners = new Set<() => void>()
  let wake: NodeJS.Timeout | undefined

  const now = (): number => Math.min(MAX_TIME, Math.floor(since + (performance.now() - systemSince) * scale))

  /** From here on the time passes at another speed. */
  function restart(from: number, nextScale: number): void {
    since = from
    systemSince = performance.now()
    scale = nextScale
    runDue()
  }

  function runDue(): void {
    while (timers.length > 0 && timers[0]!.at <= now()) timers.shift()!.run()
    wakeForFirst()
  }

  function wakeForFirst(): void {
    clearTimeout(wake)
    wake = undefined
    const [next] = timers
    if (!next) return
    const left = next.at - now()
    // A timer that is due waits for the next turn: a caller expects it to run after `after` has returned.
    if (left <= 0) wake = setTimeout(runDue, 0).unref()
    else if (scale > 0) wake = setTimeout(runDue, Math.min(Math.ceil(left / scale), MAX_WAIT_MS)).unref()
  }

  function moveTo(time: number): void {
    for (const run of moveListeners) run()
    restart(time, scale)
  }

  /** The place of the first timer that is later than the time. */
  function placeAfter(at: number): number {
    let [low, high] = [0, timers.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (timers[middle]!.at <= at) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    now,
    // A test moves it forward only.
    elapsed: now,
    after(milliseconds, run) {
      const timer = { at: now() + Math.max(milliseconds, 0), run }
      timers.splice(placeAfter(timer.at), 0, timer)
      if (timers[0] === timer) wakeForFirst()
      return () => {
        const place = timers.lastIndexOf(timer, placeAfter(timer.at) - 1)
        if (place !== -1) timers.splice(place, 1)
      }
    },
    beforeMove(run) {
      moveListeners.add(run)
      return () => void moveListeners.delete(run)
    },
    advance(by) {
      const milliseconds = typeof by === 'number' ? by : parseDuration(by)
      if (!(milliseconds >= 0)) throw new UsageError(`clock.advance: ${by}: the time only moves forward`)
      if (now() + milliseconds > MAX_TIME) throw new UsageError(`clock.advance: ${by}: the year 9999 is the last`)
      moveTo(now() + milliseconds)
    },
    moveTo(date) {
      if (!(date.getTime() >= now())) throw new UsageError('clock.moveTo: the time only moves forward')
      if (date.getTime() > MAX_TIME) throw new UsageError('clock.moveTo: the year 9999 is the last')
      moveTo(date.getTime())
    },
    freeze: () => restart(now(), 0),
    run(times = 1) {
      if (!(times > 0 && times <= MAX_SCALE)) {
        throw new UsageError(`clock.run: ${times}: the scale must be greater than 0 and at most ${MAX_SCALE}`)
      }
      restart(now(), times)
    },
    copy: () => createTestClock(now(), scale),
  }
}

const MAX_WAIT_MS = 60_000
/** The last time that timestamps of the API can express. */
const MAX_TIME = Date.UTC(10_000, 0) - 1
const MAX_SCALE = 1_000_000
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of a text such as `1h30m`. */
export function parseDuration(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)]
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) {
    throw new UsageError(`${JSON.stringify(text)} is not a duration: write it as 500ms, 90s, 15m, 1h30m or 2d`)
  }
  return parts.reduce((sum, [, number, unit]) => sum + Number(number) * UNITS[unit!]!, 0)
}
