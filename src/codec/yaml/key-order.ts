// The order of keys in YAML output: natural, so that `a2` comes before `a10`, and letters after other characters.

const LETTER = /^\p{L}$/u
const DIGIT = /^\p{Nd}$/u

export function compareYamlKeys(a: string, b: string): number {
  if (a === b) return 0
  const x = Array.from(a)
  const y = Array.from(b)
  for (let i = 0; i < x.length && i < y.length; i++) {
    const [p, q] = [x[i]!, y[i]!]
    if (p === q) continue
    const [pLetter, qLetter] = [LETTER.test(p), LETTER.test(q)]
    if (pLetter && qLetter) return order(p, q)
    if (pLetter || qLetter) return qLetter ? -1 : 1
    return compareNumbers(x, y, i) || order(p, q)
  }
  return x.length - y.length
}

const order = (p: string, q: string): number => p.codePointAt(0)! - q.codePointAt(0)!

/** Compares the numbers that begin there, then their number of digits; 0 if both are equal. */
function compareNumbers(x: string[], y: string[], i: number): number {
  let start = 0n
  if (x[i] === '0' || y[i] === '0') {
    // A 0 inside a number counts; a leading one does not.
    for (let j = i - 1; j >= 0 && DIGIT.test(x[j]!); j--) {
      if (x[j] !== '0') {
        start = 1n
        break
      }
    }
  }
  const [p, q] = [readNumber(x, i, start), readNumber(y, i, start)]
  if (p.value !== q.value) return p.value < q.value ? -1 : 1
  return p.end - q.end
}

function readNumber(characters: string[], from: number, start: bigint): { value: bigint; end: number } {
  let value = start
  let end = from
  for (; end < characters.length && DIGIT.test(characters[end]!); end++) {
    value = BigInt.asIntN(64, value * 10n + BigInt(characters[end]!.codePointAt(0)! - 0x30))
  }
  return { value, end }
}
