// What a pod is going to do: by annotations, which a template can have, or by the options of the simulation.
import type { Pod } from '../api/objects.js'
import { durationOf } from '../durations.js'
import type { WorkloadOptions } from '../workload-options.js'

/** Annotations of pods, below `binnacle.dev/`. Times are texts such as `30s`; `never` is one too. */
export const ANNOTATIONS = {
  startAfter: 'binnacle.dev/start-after',
  readyAfter: 'binnacle.dev/ready-after',
  completeAfter: 'binnacle.dev/complete-after',
  failAfter: 'binnacle.dev/fail-after',
  terminateAfter: 'binnacle.dev/terminate-after',
  exitCode: 'binnacle.dev/exit-code',
  failReason: 'binnacle.dev/fail-reason',
  failMessage: 'binnacle.dev/fail-message',
  ready: 'binnacle.dev/ready',
  imagePullError: 'binnacle.dev/image-pull-error',
} as const

export interface Failure {
  readonly exitCode: number
  readonly reason: string
  readonly message?: string | undefined
}

export interface Plan {
  /** Infinity: never. */
  readonly startAfterMs: number
  readonly readyAfterMs: number
  readonly completeAfterMs: number
  readonly failAfterMs: number
  readonly terminateAfterMs: number
  readonly failure: Failure
  readonly imagePullError: string | undefined
}

export function planOf(pod: Pod, options: WorkloadOptions): Plan {
  const annotations = pod.metadata.annotations ?? {}
  /** A text that is no duration counts as absent: a pod must not stop the simulation. */
  const time = (name: string, otherwise: number): number => {
    const text = annotations[name]
    return text === undefined ? otherwise : (durationOf(text) ?? otherwise)
  }
  const never = Number.POSITIVE_INFINITY
  const endsByItself = pod.spec.restartPolicy !== 'Always'
  const ready = annotations[ANNOTATIONS.ready]
  const exitCode = Number(annotations[ANNOTATIONS.exitCode] ?? 1)
  const failAfterMs = time(ANNOTATIONS.failAfter, never)
  return {
    startAfterMs: time(ANNOTATIONS.startAfter, options.startAfterMs),
    readyAfterMs: ready === 'false' ? never : ready === 'true' ? 0 : time(ANNOTATIONS.readyAfter, options.readyAfterMs),
    completeAfterMs: time(
      ANNOTATIONS.completeAfter,
      endsByItself && failAfterMs === never ? (options.completeAfterMs ?? never) : never,
    ),
    failAfterMs,
    terminateAfterMs: time(ANNOTATIONS.terminateAfter, options.terminateAfterMs),
    failure: {
      exitCode: Number.isInteger(exitCode) && exitCode >= 0 && exitCode <= 255 ? exitCode : 1,
      reason: annotations[ANNOTATIONS.failReason] ?? 'Error',
      message: annotations[ANNOTATIONS.failMessage],
    },
    imagePullError: annotations[ANNOTATIONS.imagePullError],
  }
}
