// What a command has found: which rule, how serious, where, and what would be right.
import { type Document, type Location, locateField, locateLine } from './documents/document.js'

export type Severity = 'error' | 'warning' | 'note'

export interface Finding {
  /** The name of the rule that is broken: it is stable, so that it can be silenced and counted. */
  readonly rule: string
  readonly severity: Severity
  readonly message: string
  /** What would be right. */
  readonly hint?: string | undefined
  readonly at: Location
  /** The path of the field in its object; empty for the object itself. */
  readonly field: string
  /** The object, as `CronTab default/a`. */
  readonly object?: string | undefined
}

export type NewFinding = Omit<Finding, 'field'> & { readonly field?: string | undefined }

export const createFinding = (finding: NewFinding): Finding => ({ ...finding, field: finding.field ?? '' })

/** A finding about a field of a document. */
export function findingAt(
  document: Document,
  field: string,
  finding: Pick<Finding, 'rule' | 'severity' | 'message' | 'hint' | 'object'>,
): Finding {
  return { ...finding, field, at: locateField(document, field) }
}

/** A finding about a line of a document, counted from 1. */
export const findingAtLine = (
  document: Document,
  line: number,
  finding: Pick<Finding, 'rule' | 'severity' | 'message' | 'hint' | 'object'>,
): Finding => ({ ...finding, field: '', at: locateLine(document, line) })

const ORDER: Readonly<Record<Severity, number>> = { error: 0, warning: 1, note: 2 }

/** Whether some finding is at least as serious. */
export const hasAtLeast = (findings: readonly Finding[], severity: Severity): boolean =>
  findings.some(finding => ORDER[finding.severity] <= ORDER[severity])

/** By file and position. */
export const sortFindings = (findings: readonly Finding[]): readonly Finding[] =>
  findings.toSorted(
    ({ at: a }, { at: b }) =>
      (a.file < b.file ? -1 : a.file > b.file ? 1 : 0) || a.line - b.line || a.column - b.column,
  )
