// The difference of two specs as messages of kube-apiserver show it: a unified diff of the values as Go prints them.
import type { ValueObject } from '../../../../meta/values/value.js'
import { goStruct, withHostFields } from '../../../common/go-struct.js'

/** The differences of two values of a type, each with three lines around it; empty if there are none. */
export const diffSpecs = (typeName: string, old: ValueObject, spec: ValueObject): string =>
  unifiedDiff(printSpec(typeName, old), printSpec(typeName, spec))

export const diffPodSpecs = (old: ValueObject, spec: ValueObject): string =>
  diffSpecs('core/v1.PodSpec', withHostFields(old), withHostFields(spec))

const printSpec = (typeName: string, spec: ValueObject): string[] =>
  JSON.stringify(goStruct(typeName, spec), printInteger, 1).split('\n')

const printInteger = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value)

// ---- unified diff

const CONTEXT = 3

/** Comparing takes quadratic time: for longer specs the message has no diff. */
const MAX_LINES = 1500

interface Line {
  readonly mark: ' ' | '-' | '+'
  readonly text: string
}

function unifiedDiff(old: readonly string[], now: readonly string[]): string {
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  const max = Math.min(old.length, now.length) - start
  while (end < max && old[old.length - 1 - end] === now[now.length - 1 - end]) end++
  const changedOld = old.slice(start, old.length - end)
  const changedNow = now.slice(start, now.length - end)
  if (changedOld.length * changedNow.length > MAX_LINES ** 2) return ''
  const same = (texts: readonly string[]): Line[] => texts.map(text => ({ mark: ' ', text }))
  const lines = [...same(old.slice(0, start)), ...compare(changedOld, changedNow), ...same(old.slice(old.length - end))]
  return hunksOf(lines)
}

/** The lines of both, with a longest common subsequence. */
function compare(old: readonly string[], now: readonly string[]): Line[] {
  const width = now.length + 1
  const common = new Uint16Array((old.length + 1) * width)
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      const at = i * width + j
      common[at] = old[i] === now[j] ? common[at + width + 1]! + 1 : Math.max(common[at + width]!, common[at + 1]!)
    }
  }
  const lines: Line[] = []
  let i = 0
  let j = 0
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push({ mark: ' ', text: old[i]! })
      i++
      j++
    } else if (j === now.length || (i < old.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!)) {
      lines.push({ mark: '-', text: old[i++]! })
    } else lines.push({ mark: '+', text: now[j++]! })
  }
  return lines
}

function hunksOf(lines: readonly Line[]): string {
  const shown = new Set<number>()
  lines.forEach(({ mark }, i) => {
    if (mark !== ' ') for (let at = i - CONTEXT; at <= i + CONTEXT; at++) shown.add(at)
  })
  let text = ''
  let oldLine = 1
  let newLine = 1
  for (let i = 0; i < lines.length; ) {
    if (!shown.has(i)) {
      oldLine++
      newLine++
      i++
      continue
    }
    let next = i
    while (next < lines.length && shown.has(next)) next++
    const hunk = lines.slice(i, next)
    const oldCount = hunk.filter(line => line.mark !== '+').length
    const newCount = hunk.filter(line => line.mark !== '-').length
    text += `@@ -${range(oldLine, oldCount)} +${range(newLine, newCount)} @@\n`
    for (const { mark, text: line } of hunk) text += `${mark}${line}\n`
    oldLine += oldCount
    newLine += newCount
    i = next
  }
  return text
}

const range = (start: number, count: number): string =>
  count === 1 ? String(start) : `${count === 0 ? start - 1 : start},${count}`
