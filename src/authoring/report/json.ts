// Findings for programs.
import type { Report } from './report.js'

export function printJsonReport({ command, version, findings, checked, details }: Report): string {
  const report = {
    command,
    version,
    checked,
    findings: findings.map(({ rule, severity, message, hint, at, field, object }) => ({
      rule,
      severity,
      message,
      ...(hint !== undefined && { hint }),
      file: at.file,
      line: at.line,
      column: at.column,
      ...(field !== '' && { field }),
      ...(object !== undefined && { object }),
    })),
    ...details,
  }
  return `${JSON.stringify(report, undefined, 2)}\n`
}
