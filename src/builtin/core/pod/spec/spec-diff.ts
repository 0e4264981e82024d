// The difference of two specs as messages of kube-apiserver show it: a unified diff of the values as Go prints them.
import type { ValueObject } from '../../../../meta/values/value.js'
import { goStruct, withHostFields } from '../../../common/go-struct.js'
import { equalRuns } from './equal-lines.js'

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

interface Line {
  readonly mark: ' ' | '-' | '+'
  readonly text: string
}

/** Empty if the texts are so long that comparing them takes too much time. */
function unifiedDiff(old: readonly string[], now: readonly string[]): string {
  const runs = equalRuns(old, now)
  if (runs === undefined) return ''
  const lines: Line[] = []
  const add = (mark: Line['mark'], texts: readonly string[]): void => {
    for (const text of texts) lines.push({ mark, text })
  }
  let oldAt = 0
  let nowAt = 0
  for (const run of [...runs, { old: old.length, now: now.length, count: 0 }]) {
    add('-', old.slice(oldAt, run.old))
    add('+', now.slice(nowAt, run.now))
    add(' ', old.slice(run.old, run.old + run.count))
    oldAt = run.old + run.count
    nowAt = run.now + run.count
  }
  return hunksOf(lines)
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
