// A report: the findings of one run of a command, and what it looked at.
import type { Finding } from '../findings.js'

export interface Report {
  /** The command that has made it: `validate`. */
  readonly command: string
  readonly version: string
  readonly findings: readonly Finding[]
  /** What was looked at, as in `3 objects in 2 files`: the end of the text. */
  readonly checked: string
  /** The files that were looked at, also those without findings. */
  readonly files: readonly string[]
  /** Why each rule is there, by its name. */
  readonly rules?: ReadonlyMap<string, string> | undefined
  /** More that belongs into the JSON. */
  readonly details?: Readonly<Record<string, unknown>> | undefined
}

/** `2 errors and 1 warning in 3 objects`. */
export function summaryOf({ findings, checked }: Pick<Report, 'findings' | 'checked'>): string {
  const counts = (['error', 'warning', 'note'] as const).flatMap(severity => {
    const number = findings.filter(finding => finding.severity === severity).length
    return number === 0 ? [] : [counted(number, severity)]
  })
  return `${counts.length === 0 ? 'no findings' : joined(counts)} in ${checked}`
}

export const counted = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`

const joined = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
