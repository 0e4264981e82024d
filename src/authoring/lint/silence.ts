// Findings that an author has silenced: by a comment on the line or on the line before it, or by an annotation, for
// definitions that are generated and have no comments.
//
//   size: {type: integer} # binnacle-ignore: integer-format
//   binnacle.dev/lint-ignore: integer-format, spec.versions[0].schema…properties.size:missing-description

import { type Document, lineOf } from '../documents/document.js'
import type { Finding } from '../findings.js'

export function isSilenced({ rule, field, at }: Finding, document: Document, annotation: string): boolean {
  const entries = listOf(annotation)
  if (
    entries.some(
      entry => entry === rule || (entry.endsWith(`:${rule}`) && covers(entry.slice(0, -rule.length - 1), field)),
    )
  ) {
    return true
  }
  const line = at.line - document.firstLine
  return [at.text, line > 1 ? lineOf(document.bytes, line - 1) : ''].some((text, i) => {
    const [, before = '', rules = ''] = /^(.*?)#\s*binnacle-ignore:\s*(.*)$/.exec(text) ?? []
    // A comment behind a field of the line before is about that field.
    return (i === 0 || before.trim() === '') && listOf(rules).includes(rule)
  })
}

const listOf = (text: string): readonly string[] =>
  text
    .split(',')
    .map(each => each.trim())
    .filter(Boolean)

/** A path silences itself and all below it. `*` stands for one step. */
function covers(pattern: string, field: string): boolean {
  const steps = pattern.split('.')
  const given = field.split('.')
  return steps.length <= given.length && steps.every((step, i) => step === '*' || step === given[i])
}
