// How well a typed text fits a name. 0: not at all.

export function scoreOf(typed: string, name: string): number {
  const text = typed.toLowerCase()
  const target = name.toLowerCase()
  if (text === '') return 1
  const at = target.indexOf(text)
  if (at === 0) return 100 + 50 * (text.length / target.length)
  if (at > 0) return (isWordStart(name, at) ? 70 : 50) + 20 * (text.length / target.length)
  // Starts of words first; where that leaves letters over, the first of each letter.
  return letters(text, name, target, true) || letters(text, name, target, false)
}

/** The letters in their order, with gaps; those at starts of words count more: `crd` finds CustomResourceDefinition. */
function letters(text: string, name: string, target: string, preferStarts: boolean): number {
  let score = 0
  let at = -1
  for (const letter of text) {
    // A start of a word further on is worth more than the next letter.
    let next = target.indexOf(letter, at + 1)
    if (next < 0) return 0
    if (preferStarts) next = nextStart(name, target, letter, next) ?? next
    score += isWordStart(name, next) ? 3 : next === at + 1 ? 2 : 0.2
    at = next
  }
  const share = score / (3 * text.length)
  // Letters spread at random over a long name are no match.
  return share < 0.4 ? 0 : 40 * share
}

function nextStart(name: string, target: string, letter: string, from: number): number | undefined {
  for (let i = from; i >= 0; i = target.indexOf(letter, i + 1)) if (isWordStart(name, i)) return i
  return undefined
}

const isWordStart = (name: string, at: number): boolean =>
  at === 0 || /[^a-z0-9]/i.test(name[at - 1]!) || (/[A-Z]/.test(name[at]!) && /[a-z0-9]/.test(name[at - 1]!))
