// Steps that undo a start, run in reverse order.

export interface CleanupStack {
  push(undo: () => void | Promise<void>): void
  /** Undoes everything, the latest first; only once. Rejects with the first failure, after trying the rest. */
  unwind(): Promise<void>
}

export function createCleanupStack(): CleanupStack {
  const steps: (() => void | Promise<void>)[] = []
  let unwinding: Promise<void> | undefined
  const unwind = async (): Promise<void> => {
    const failures: unknown[] = []
    for (let step = steps.pop(); step; step = steps.pop()) {
      try {
        await step()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
  return {
    push: undo => void steps.push(undo),
    unwind() {
      unwinding ??= unwind()
      return unwinding
    },
  }
}
