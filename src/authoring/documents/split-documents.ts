// Splits a YAML stream into documents at lines that begin with `---`, as kubectl does.

export interface Part {
  readonly bytes: Buffer
  /** Counted from 0. */
  readonly firstLine: number
}

const NEWLINE = 0x0a
const DASH = 0x2d

/** Parts that hold nothing but comments and blanks are left out. */
export function splitDocuments(bytes: Buffer): readonly Part[] {
  const parts: Part[] = []
  let begin = 0
  let firstLine = 0
  let line = 0
  const take = (end: number): void => {
    const part = bytes.subarray(begin, end)
    if (hasContent(part)) parts.push({ bytes: part, firstLine })
  }
  for (let at = 0; at < bytes.length; line++) {
    const newline = bytes.indexOf(NEWLINE, at)
    const next = newline === -1 ? bytes.length : newline + 1
    if (isSeparator(bytes, at, next)) {
      take(at)
      // The separator stays at the head of what follows: `--- {a: 1}` has content on its line.
      begin = at
      firstLine = line
    }
    at = next
  }
  take(bytes.length)
  return parts
}

function isSeparator(bytes: Buffer, at: number, end: number): boolean {
  if (bytes[at] !== DASH || bytes[at + 1] !== DASH || bytes[at + 2] !== DASH) return false
  const after = bytes[at + 3]
  return at + 3 >= end || after === NEWLINE || after === 0x0d || after === 0x20 || after === 0x09
}

function hasContent(part: Buffer): boolean {
  for (const line of part.toString('utf8').split('\n')) {
    const text = line.replace(/^---(?=\s|$)/, '').trim()
    if (text !== '' && text !== '...' && !text.startsWith('#')) return true
  }
  return false
}
