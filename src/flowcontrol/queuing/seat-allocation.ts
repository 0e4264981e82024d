// Shares out the seats of the server among levels that lend and borrow. Each level gets the same fraction of its target,
// but not less than its lower bound and not more than its upper bound.

export interface SeatClaim {
  readonly target: number
  readonly lower: number
  readonly upper: number
}

export interface SeatAllocation {
  readonly seats: readonly number[]
  /** The fraction of its target that each level gets that no bound holds. */
  readonly fairFraction: number
}

/** Smaller targets count as this one, so that a level without requests takes part, too. */
const MIN_TARGET = 0.001
const EPSILON = 1e-7

/** Undefined if the bounds cannot add up to the sum. */
export function allocateSeats(total: number, claims: readonly SeatClaim[]): SeatAllocation | undefined {
  const items = claims.map(({ target, lower, upper }) => {
    const wanted = Math.max(target, MIN_TARGET)
    return { target: wanted, lower, upper, from: lower / wanted, to: upper / wanted }
  })
  const sumAt = (fraction: number): number =>
    items.reduce((sum, item) => sum + clamp(fraction * item.target, item.lower, item.upper), 0)
  const lowest = items.reduce((sum, { lower }) => sum + lower, 0)
  const highest = items.reduce((sum, { upper }) => sum + upper, 0)
  if (lowest - total > EPSILON || total - highest > EPSILON) return undefined
  if (total === 0) return { seats: items.map(() => 0), fairFraction: 0 }
  const fairFraction = solve()
  return {
    seats: items.map(({ target, lower, upper }) => clamp(fairFraction * target, lower, upper)),
    fairFraction,
  }

  /** Between two neighbouring bounds the sum is linear in the fraction. */
  function solve(): number {
    const bounds = items.flatMap(({ from, to }) => [from, to]).toSorted((a, b) => a - b)
    if (total - lowest < EPSILON) return bounds[0] ?? 0
    if (highest - total < EPSILON) return bounds.at(-1) ?? 0
    const next = bounds.findIndex(bound => sumAt(bound) >= total)
    const [below, above] = [bounds[next - 1] ?? 0, bounds[next]!]
    const [sumBelow, sumAbove] = [sumAt(below), sumAt(above)]
    return sumAbove === sumBelow ? above : below + ((above - below) * (total - sumBelow)) / (sumAbove - sumBelow)
  }
}

const clamp = (value: number, lower: number, upper: number): number => Math.max(lower, Math.min(upper, value))
