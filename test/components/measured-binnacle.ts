// The executable as a child process that measures itself: for how long its event loop was held, its CPU time, its memory.
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type BinnacleProcess, startBinnacleWith } from './binnacle.js'

export interface Measured {
  /** The longest time for which the event loop was held: CPU time, or elapsed time where that is shorter. */
  readonly heldMs: number
  readonly cpuMs: number
  /** Bytes: now, and the most since the last reset. */
  readonly rss: number
  readonly peakRss: number
  /** Bytes in use, those outside the heap included. */
  readonly heap: number
  readonly slowness?: number
}

export interface MeasuredBinnacle extends BinnacleProcess {
  /** Begins to measure anew. */
  reset(): Promise<void>
  /** Since the last reset. */
  measure(): Promise<Measured>
  /** The same after a garbage collection. */
  collect(): Promise<Measured>
  /** How much longer CPU time is now than on an idle machine: 1 or more. Begins to measure anew. */
  slowness(): Promise<number>
}

const probe = fileURLToPath(new URL('loop-probe.mjs', import.meta.url))

export async function startMeasuredBinnacle(...flags: string[]): Promise<MeasuredBinnacle> {
  const { server, child } = await startBinnacleWith(['--expose-gc', '--import', probe], flags)
  const ask = async (question: 'reset' | 'measure' | 'collect' | 'slowness'): Promise<Measured> => {
    child.send(question)
    return ((await once(child, 'message')) as [Measured])[0]
  }
  return {
    ...server,
    reset: async () => void (await ask('reset')),
    measure: () => ask('measure'),
    collect: () => ask('collect'),
    slowness: async () => (await ask('slowness')).slowness!,
  }
}
