// Work that should stop when its result is no longer wanted. A request is one (`request/request.ts`); lower rooms see no
// more of it than this.

export interface Cancellation {
  /** Aborted with the error that the work is to end with. Created when it is first read. */
  readonly signal: AbortSignal
  /** The same without a signal: undefined while the result is still wanted. */
  readonly aborted: Error | undefined
}

/** Called before each step that has an effect, and before each retry. */
export function throwIfAborted({ aborted }: Cancellation): void {
  if (aborted) throw aborted
}
