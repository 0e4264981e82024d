// The blocks of a text in PEM form, found exactly as Go finds them. A signer, which is a Go program, must not find another
// block in a text than the one that was checked here. The time grows with the length of the text, whatever is in it.

export interface PemBlock {
  readonly label: string
  /** Lines with a colon after the first one, as in `Proc-Type: 4,ENCRYPTED`. */
  readonly hasHeaders: boolean
  readonly content: Buffer
}

/** A block that is not well-formed is skipped. Takes bytes as a text of Latin-1, or any text of ASCII. */
export function pemBlocks(pem: string): PemBlock[] {
  const found: PemBlock[] = []
  for (let at = 0; at !== -1; ) {
    const { block, next } = readBlock(pem, at)
    if (block) found.push(block)
    at = next
  }
  return found
}

const BEGIN = '-----BEGIN '
const END = '\n-----END '
const DASHES = '-----'

interface Read {
  readonly block?: PemBlock
  /** Where to read on, -1 if there are no more blocks. */
  readonly next: number
}

/** The first line that ends a block after `from`, with the last beginning before it. */
function readBlock(pem: string, from: number): Read {
  const end = pem.indexOf(END, from)
  if (end === -1) return { next: -1 }
  const afterEnd = end + END.length
  const skipped: Read = { next: afterEnd }
  const begin = lastBegin(pem, from, end)
  if (begin === -1 || (begin > from && pem[begin - 1] !== '\n')) return skipped
  const first = lineAt(pem, begin + BEGIN.length)
  if (!first.text.endsWith(DASHES)) return skipped
  const label = first.text.slice(0, -DASHES.length)
  const body = afterHeaders(pem, first.next)
  if (body === -1) return { next: -1 }
  const hasHeaders = body > first.next
  if (hasHeaders && body > end) return body > afterEnd ? { next: -1 } : skipped
  const last = `${label}${DASHES}`
  if (!pem.startsWith(last, afterEnd)) return skipped
  const rest = lineAt(pem, afterEnd + last.length)
  if (rest.text !== '') return skipped
  const content = decode(pem.slice(body, Math.max(body, end)))
  return content ? { block: { label, hasHeaders, content }, next: rest.next } : skipped
}

/** Looks back no further than `from`, so that no part of the text is looked at for each end. */
function lastBegin(pem: string, from: number, end: number): number {
  const at = pem.slice(from, end).lastIndexOf(BEGIN)
  return at === -1 ? -1 : from + at
}

/** A line without the blanks at its end, and where the next one begins. */
function lineAt(pem: string, at: number): { readonly text: string; readonly next: number } {
  const newline = pem.indexOf('\n', at)
  const line = pem.slice(at, newline === -1 ? pem.length : newline)
  const next = newline === -1 ? pem.length : newline + 1
  return { text: withoutBlanks(newline !== -1 && line.endsWith('\r') ? line.slice(0, -1) : line), next }
}

function withoutBlanks(line: string): string {
  let end = line.length
  while (end > 0 && (line[end - 1] === ' ' || line[end - 1] === '\t')) end--
  return line.slice(0, end)
}

/** Where the first line without a colon begins; -1 if the text ends before. */
function afterHeaders(pem: string, from: number): number {
  let at = from
  while (at < pem.length) {
    const { text, next } = lineAt(pem, at)
    if (!text.includes(':')) return at
    at = next
  }
  return -1
}

/** Undefined if it is not base64 with all its padding. */
function decode(text: string): Buffer | undefined {
  const base64 = text.replace(/[\r\n \t]/g, '')
  return base64.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(base64) ? Buffer.from(base64, 'base64') : undefined
}
