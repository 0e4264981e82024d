// Which lines of two texts are the same, for a unified diff: the longest run of equal lines, then the longest ones before and
// after it, and so on (Ratcliff and Obershelp). Messages of kube-apiserver show diffs that were made like this.

/** Lines of the old text from `old` on are those of the new text from `now` on. */
export interface EqualRun {
  readonly old: number
  readonly now: number
  readonly count: number
}

/** From a text of this length on, a line that comes often starts no run; it only makes runs longer. */
const LONG_TEXT = 200

/** Pairs of lines that are looked at. A text of 1,500 lines needs far fewer. */
const MAX_PAIRS = 1_000_000

/** In the order of the texts; undefined if it takes too long to find them. */
export function equalRuns(old: readonly string[], now: readonly string[]): EqualRun[] | undefined {
  const places = placesOf(now)
  const runs: EqualRun[] = []
  const open: Area[] = [{ oldStart: 0, oldEnd: old.length, nowStart: 0, nowEnd: now.length }]
  const budget = { pairs: MAX_PAIRS }
  for (let area = open.pop(); area; area = open.pop()) {
    const run = longestRun(old, now, places, area, budget)
    if (budget.pairs < 0) return undefined
    if (run.count === 0) continue
    runs.push(run)
    const { oldStart, oldEnd, nowStart, nowEnd } = area
    open.push({ oldStart, oldEnd: run.old, nowStart, nowEnd: run.now })
    open.push({ oldStart: run.old + run.count, oldEnd, nowStart: run.now + run.count, nowEnd })
  }
  return runs.toSorted((a, b) => a.old - b.old)
}

interface Area {
  readonly oldStart: number
  readonly oldEnd: number
  readonly nowStart: number
  readonly nowEnd: number
}

/** Where each line stands, but for those that come too often. */
function placesOf(lines: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>()
  for (const [i, line] of lines.entries()) {
    const known = places.get(line)
    if (known) known.push(i)
    else places.set(line, [i])
  }
  if (lines.length < LONG_TEXT) return places
  const most = Math.floor(lines.length / 100) + 1
  for (const [line, at] of places) if (at.length > most) places.delete(line)
  return places
}

/** Of several runs of one length the first in the old text, then the first in the new one. */
function longestRun(
  old: readonly string[],
  now: readonly string[],
  places: ReadonlyMap<string, readonly number[]>,
  { oldStart, oldEnd, nowStart, nowEnd }: Area,
  budget: { pairs: number },
): EqualRun {
  let best: EqualRun = { old: oldStart, now: nowStart, count: 0 }
  if (oldStart === oldEnd || nowStart === nowEnd) return best
  /** The lengths of the runs that end with the line before, by their end in the new text. */
  let lengths = new Map<number, number>()
  for (let i = oldStart; i < oldEnd; i++) {
    const next = new Map<number, number>()
    const at = places.get(old[i]!) ?? []
    budget.pairs -= at.length + 1
    if (budget.pairs < 0) return best
    for (const j of at) {
      if (j < nowStart) continue
      if (j >= nowEnd) break
      const count = (lengths.get(j - 1) ?? 0) + 1
      next.set(j, count)
      if (count > best.count) best = { old: i - count + 1, now: j - count + 1, count }
    }
    lengths = next
  }
  let { old: i, now: j, count } = best
  while (i > oldStart && j > nowStart && old[i - 1] === now[j - 1]) {
    i--
    j--
    count++
  }
  while (i + count < oldEnd && j + count < nowEnd && old[i + count] === now[j + count]) count++
  return { old: i, now: j, count }
}
