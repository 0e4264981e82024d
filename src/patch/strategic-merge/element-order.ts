// The order of a merged list. Items that the patch names keep the patch's order, all others that of the live list. Then
// the two sequences are merged: a live item goes before a patched one only if it was before it already. So new items
// come before those that the patch does not name.
import { type Value, WholeFloat } from '../../meta/values/value.js'

/** Equal for items that are the same: equal scalars of one type. */
export type Identity = unknown

export function identityOf(value: Value): Identity {
  return value instanceof WholeFloat ? Symbol.for(`float ${value.value}`) : value
}

/** Orders items by the order of the patch and that of the live list; `identify` gives their identities. */
export function putInOrder<T>(
  items: readonly T[],
  patchOrder: readonly Identity[],
  liveOrder: readonly Identity[],
  identify: (item: T) => Identity,
): T[] {
  const patchRanks = ranksOf(patchOrder)
  const liveRanks = ranksOf(liveOrder)
  const patched = items.filter(item => patchRanks.has(identify(item)))
  const others = items.filter(item => !patchRanks.has(identify(item)))
  return weave(
    sortByRank(others, item => liveRanks.get(identify(item))),
    sortByRank(patched, item => patchRanks.get(identify(item))),
    item => liveRanks.get(identify(item)),
  )
}

/** The first index of each. */
function ranksOf(order: readonly Identity[]): Map<Identity, number> {
  const ranks = new Map<Identity, number>()
  for (const [rank, identity] of order.entries()) if (!ranks.has(identity)) ranks.set(identity, rank)
  return ranks
}

function weave<T>(others: readonly T[], patched: readonly T[], rankOf: (item: T) => number | undefined): T[] {
  const woven: T[] = []
  let next = 0
  for (const item of patched) {
    const rank = rankOf(item)
    while (next < others.length && isBefore(rankOf(others[next]!), rank)) woven.push(others[next++]!)
    woven.push(item)
  }
  return [...woven, ...others.slice(next)]
}

const isBefore = (rank: number | undefined, other: number | undefined): boolean =>
  rank !== undefined && other !== undefined && rank < other

function sortByRank<T>(items: readonly T[], rankOf: (item: T) => number | undefined): T[] {
  const ranked = items.map(item => ({ item, rank: rankOf(item) }))
  if (ranked.every(({ rank }) => rank !== undefined)) ranked.sort((a, b) => a.rank! - b.rank!)
  else sortWithUnknown(ranked)
  return ranked.map(({ item }) => item)
}

/** kube-apiserver's insertion sort moves an item without a rank, and its neighbour, every time. */
function sortWithUnknown(ranked: { rank: number | undefined }[]): void {
  const passes = (item: number | undefined, before: number | undefined): boolean =>
    item === undefined || before === undefined || item < before
  const sorted = Math.min(ranked.length, MAX_INSERTION_SORTED)
  for (let end = 1; end < sorted; end++) {
    for (let at = end; at > 0 && passes(ranked[at]!.rank, ranked[at - 1]!.rank); at--) {
      ;[ranked[at], ranked[at - 1]] = [ranked[at - 1]!, ranked[at]!]
    }
  }
}

/** Beyond this length kube-apiserver uses another sort, whose order is arbitrary; here the rest keeps its order. */
const MAX_INSERTION_SORTED = 20
