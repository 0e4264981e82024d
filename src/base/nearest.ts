// The known word that is most like a misspelt one.

/** Undefined when none of the words is similar. */
export function nearest(word: string, words: Iterable<string>): string | undefined {
  let best: string | undefined
  // Every third letter may be wrong. With more, almost any word would be similar.
  let least = Math.max(2, Math.floor(word.length / 3)) + 1
  for (const candidate of words) {
    const distance = editDistance(word, candidate)
    if (distance < least) {
      least = distance
      best = candidate
    }
  }
  return best
}

/** How many letters have to be added, removed or replaced. */
export function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[to.length]!
}
