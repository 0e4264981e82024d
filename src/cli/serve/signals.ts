// SIGINT and SIGTERM: the first ends the server in order, at any moment of its start or life; the second ends the process.

export interface Signals {
  /** Aborted by the first signal. */
  readonly abort: AbortSignal
  /** Resolves with the first signal. */
  readonly first: Promise<void>
  /** The exit code of a process that a signal ended: 128 and the number of the signal. */
  readonly exitCode: number
}

const EXIT_CODES: Readonly<Record<string, number>> = { SIGINT: 130, SIGTERM: 143 }

export function listenForSignals(): Signals {
  const controller = new AbortController()
  let exitCode = 0
  for (const [signal, code] of Object.entries(EXIT_CODES)) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(code)
      exitCode = code
      controller.abort()
    })
  }
  return {
    abort: controller.signal,
    first: new Promise(resolve => {
      controller.signal.addEventListener('abort', () => resolve(), { once: true })
    }),
    get exitCode() {
      return exitCode
    },
  }
}
