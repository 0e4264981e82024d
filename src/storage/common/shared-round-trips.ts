/**
 * One round trip at a time answers all callers from before it began. A caller during a round trip gets the next one,
 * because what the running one finds may be too old for it.
 */
export function shareRoundTrips<T>(roundTrip: () => Promise<T>): () => Promise<T> {
  let current: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | undefined
  const begin = (): Promise<T> => {
    const begun = roundTrip()
    current = begun
    next = undefined
    return begun
  }
  return () => (next ??= current.then(begin, begin))
}
