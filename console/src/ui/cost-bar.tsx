/** A cost against its limit, on a scale of square roots: a hundredth of the limit can still be seen. */
export function CostBar({
  cost,
  limit,
  label,
}: {
  readonly cost: number
  readonly limit: number
  readonly label: string
}) {
  const share = cost <= 0 ? 0 : Math.min(1, Math.sqrt(cost / limit))
  const tone = cost > limit ? 'bad' : cost > limit / 10 ? 'warn' : 'good'
  return (
    <div class={`cost-bar ${tone}`} role="img" aria-label={label} title={label}>
      <span style={{ width: `${Math.max(share * 100, cost > 0 ? 2 : 0)}%` }} />
    </div>
  )
}

/** `12,345`, or `4.2 million` where digits say nothing more. */
export const printCost = (cost: number | undefined): string => {
  if (cost === undefined) return 'no bound'
  if (cost >= 2 ** 63) return 'no bound'
  if (cost >= 1e9) return `${(cost / 1e9).toPrecision(3)} billion`
  return cost >= 1e6 ? `${(cost / 1e6).toPrecision(3)} million` : cost.toLocaleString('en-US')
}
