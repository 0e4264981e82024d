// The blocks of a text in PEM form, read as Go does: a line that ends no block of its label makes the block before it void.
// The time grows with the length of the text, whatever is in it: a pattern that looked for the end of each block would read
// to the end of the text for every line that only begins one.

export interface PemText {
  readonly label: string
  /** The lines between the first and the last one. */
  readonly body: string
  /** With these two. */
  readonly whole: string
}

const MARK = /^-----(?:BEGIN ([^\r\n-]+)-----[ \t]*\r?\n|END ([^\r\n-]+)-----)/gm

export function pemTexts(pem: string): PemText[] {
  const found: PemText[] = []
  let open: { readonly label: string; readonly at: number; readonly from: number } | undefined
  for (const { 0: line, 1: begun, 2: ended, index } of pem.matchAll(MARK)) {
    const after = index + line.length
    if (begun !== undefined) {
      open = { label: begun, at: index, from: after }
      continue
    }
    if (open && open.label === ended) {
      found.push({ label: open.label, body: pem.slice(open.from, index), whole: pem.slice(open.at, after) })
    }
    open = undefined
  }
  return found
}
