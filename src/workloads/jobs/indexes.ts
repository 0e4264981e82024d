// Sets of completion indexes, written as `0-2,5`.

export function parseIndexes(text: string | undefined, completions: number): Set<number> {
  const indexes = new Set<number>()
  for (const part of (text ?? '').split(',')) {
    const [first, last = first] = part.split('-')
    if (!first || !/^\d+$/.test(first) || !/^\d+$/.test(last ?? '')) continue
    for (let i = Number(first); i <= Math.min(Number(last), completions - 1); i++) indexes.add(i)
  }
  return indexes
}

export function printIndexes(indexes: ReadonlySet<number>): string {
  const sorted = [...indexes].toSorted((a, b) => a - b)
  const ranges: [number, number][] = []
  for (const index of sorted) {
    const last = ranges.at(-1)
    if (last && last[1] === index - 1) last[1] = index
    else ranges.push([index, index])
  }
  return ranges
    .map(([from, to]) => (from === to ? String(from) : to === from + 1 ? `${from},${to}` : `${from}-${to}`))
    .join(',')
}
