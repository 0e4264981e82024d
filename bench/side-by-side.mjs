// Comparing rates fairly on a machine that is never quiet: the contenders take turns, and the medians are compared.

/** `contenders` maps names to functions that do a round of work and answer how many operations that was. */
export async function sideBySide(contenders, { rounds = 7, warmups = 1 } = {}) {
  const names = Object.keys(contenders)
  const rates = Object.fromEntries(names.map(name => [name, []]))
  // Rounds that do not count warm up caches and the compiler.
  for (let round = 1 - warmups; round <= rounds; round++) {
    for (const name of round % 2 ? names : names.toReversed()) {
      const begin = process.hrtime.bigint()
      const operations = await contenders[name](round)
      const seconds = Number(process.hrtime.bigint() - begin) / 1e9
      if (round > 0) rates[name].push(operations / seconds)
    }
  }
  return Object.fromEntries(names.map(name => [name, median(rates[name])]))
}

export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[sorted.length >> 1]
}

/** Runs `operation(i)` for i below `count`, so many at a time. */
export async function concurrently(writers, count, operation) {
  let next = 0
  const writer = async () => {
    while (next < count) await operation(next++)
  }
  await Promise.all(Array.from({ length: writers }, writer))
  return count
}

const rows = []

/** Adds a line to the table: what was measured, ours, what it is compared with, the ratio, and the goal if there is one. */
export function report(what, ours, other, ratio, goal = '—', met) {
  rows.push([what, ours, other, ratio, goal, met === undefined ? '—' : met ? 'yes' : 'NO'])
  console.error(`${what}: ${ours} / ${other} → ${ratio} (goal ${goal}${met === false ? ', NOT met' : ''})`)
}

/** Prints the table as Markdown, as bench/README.md holds it. */
export function printTable() {
  console.log('| what | Binnacle | compared with | ratio or figure | goal | met |\n|---|---|---|---|---|---|')
  for (const row of rows) console.log(`| ${row.join(' | ')} |`)
}

export const perSecond = rate => (rate >= 1e6 ? `${(rate / 1e6).toFixed(2)} M/s` : `${Math.round(rate / 100) / 10} k/s`)
